// Requests as caches see them: mostly reads that hit, keys with and without a TTL, values of 3 bytes to 2 KB.
// The same requests in each run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace mayfly::training {

class Traffic {
 public:
  // Keys are numbered; about as many as `keys` are in use at a time.
  explicit Traffic(uint64_t keys) : keys_(keys) {}

  // Appends a request that sets key `number`, with a TTL or without one.
  void AppendSet(std::string& out, uint64_t number);
  // Appends a request of any kind.
  void AppendAny(std::string& out);

 private:
  void AppendWrite(std::string& out);
  void AppendOther(std::string& out);
  void AppendRare(std::string& out);
  void AppendScript(std::string& out);
  void AppendNewer(std::string& out);
  uint64_t Pick(uint64_t below) { return random_() % below; }
  // Low numbers are asked for more often than high ones.
  std::string AnyKey();
  std::string AnyCounter() { return "counter:" + std::to_string(Pick(100)); }
  std::string AnyFlags() { return "flags:" + std::to_string(Pick(100)); }
  std::string AnyOffset() { return std::to_string(Pick(2048)); }
  std::string AnyValue();
  std::string AnySeconds() { return std::to_string(1 + Pick(3600)); }
  std::string AnyMilliseconds() { return std::to_string(1 + Pick(30'000)); }

  const uint64_t keys_;
  std::mt19937_64 random_{11};
};

}  // namespace mayfly::training
