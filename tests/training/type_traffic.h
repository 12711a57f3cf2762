// Requests to hashes, sets, sorted sets, lists and streams, small ones and large ones. The same in each run.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace mayfly::training {

class TypeTraffic {
 public:
  // Appends a request of any kind.
  void AppendAny(std::string& out);

 private:
  void AppendHash(std::string& out);
  void AppendSet(std::string& out);
  void AppendSortedSet(std::string& out);
  void AppendList(std::string& out);
  void AppendOther(std::string& out);
  uint64_t Pick(uint64_t below) { return random_() % below; }
  // Every fourth request is for one of a few large values; the others are for small ones.
  std::string KeyOf(const std::string& type);
  std::string Member() { return "member:" + std::to_string(Pick(large_ ? 5000 : 30)); }
  std::string Number(uint64_t below) { return std::to_string(Pick(below)); }

  bool large_ = false;  // the last key
  std::mt19937_64 random_{13};
};

}  // namespace mayfly::training
