// A server under measurement: one connection in the Redis protocol or in memcached's text protocol, and what the kernel knows of
// its process.
//
// Commands are collected, sent as one write, and their replies taken in order. An error reply ends the program, but for a write
// that was refused for lack of memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/socket.h"

namespace mayfly::bench {

enum class Reply : uint8_t { kHit, kMiss, kStored, kNotStored, kNew, kDone, kRefused };

class Peer {
 public:
  // `address` is PORT:PID:PROTOCOL, the protocol redis or memcached.
  explicit Peer(const std::string& address);

  void Get(std::string_view key);                                          // kHit or kMiss
  void Set(std::string_view key, std::string_view value, int64_t ttl_ms);  // kStored
  void Add(std::string_view key, std::string_view value, int64_t ttl_ms);  // kStored or kNotStored
  // kDone, or kNew if there was no such key: its TTL is for SetNewCounter then.
  void Incr(std::string_view key);
  void SetNewCounter(std::string_view key, int64_t ttl_ms);  // kDone
  void Delete(std::string_view key);                         // kDone

  void Send();
  Reply Take();

  uint64_t commands() const { return commands_; }
  // The number of keys as the server counts them, in a round trip of its own.
  int64_t CountKeys();
  int64_t ResidentBytes() const;
  // Processor time of all its threads.
  int64_t CpuNs() const;

 private:
  std::string_view TakeLine();
  void Skip(size_t bytes);
  Reply OfLine(std::string_view line);
  void Store(std::string_view verb, std::string_view key, std::string_view value, int64_t ttl_ms);

  int pid_ = 0;
  bool redis_ = true;
  Socket socket_;
  std::string output_;
  std::string input_;
  size_t taken_ = 0;  // bytes of the input that are done with
  uint64_t commands_ = 0;
};

}  // namespace mayfly::bench
