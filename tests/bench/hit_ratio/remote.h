// A cache behind a port: a server that speaks the Redis protocol, or memcached's text protocol.
//
// Has one blocking connection; each Run is one write. Keys are those of client/requests.h. An error reply
// ends the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/socket.h"
#include "hit_ratio/replay.h"

namespace mayfly::bench {

class RemoteCache final : public Cache {
 public:
  enum class Protocol : uint8_t { kRedis, kMemcached };

  RemoteCache(int port, Protocol protocol, size_t value_bytes)
      : socket_(port), protocol_(protocol), value_(value_bytes, 'v') {}

  void Run(std::span<const Step> steps, std::vector<bool>& hits) override;

  // The number of keys. REQUIRES: kRedis, as for the next three.
  int64_t CountKeys();
  uint64_t UsedMemory();
  void SetMaxMemory(uint64_t bytes);
  void ResetStatistics();

 private:
  void Append(const Step& step);
  // Sends a CONFIG command whose reply is to be OK.
  void Configure(const std::string& command);
  // Takes one reply off the input, after reading more if needed. True if it is a value.
  bool TakeReply();
  std::string_view TakeLine();
  void Skip(size_t bytes);
  void ReadMore();

  Socket socket_;
  Protocol protocol_;
  std::string value_;
  std::string output_;
  std::string input_;
  size_t taken_ = 0;  // bytes of the input that are done with
};

}  // namespace mayfly::bench
