// Which keys are alive: the exact answer that servers are compared with. Time is milliseconds of the stream, and only rises.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace mayfly::bench {

class Alive {
 public:
  // `payload` gives the bytes of a key and its value.
  explicit Alive(std::function<size_t(uint32_t key)> payload) : payload_(std::move(payload)) {}

  // Deadlines up to now have passed.
  void AdvanceTo(int64_t now_ms);
  int64_t now_ms() const { return now_ms_; }

  bool Has(uint32_t key) const { return key < keys_.size() && keys_[key].deadline_ms != 0; }
  // REQUIRES: deadline_ms lies after now.
  void Set(uint32_t key, int64_t deadline_ms);
  void Remove(uint32_t key);
  // A request for the key, alive or not, at its place in the order of all uses.
  void Use(uint32_t key) { At(key).used = ++uses_; }

  uint64_t count() const { return count_; }
  uint64_t bytes() const { return bytes_; }  // of keys and values

  struct Deadline {
    uint32_t key;
    int64_t deadline_ms;
  };
  // All that is alive, the key that was used last at the end.
  std::vector<Deadline> InOrderOfUse() const;

 private:
  struct State {
    int64_t deadline_ms = 0;  // 0: not alive
    uint64_t used = 0;
  };
  State& At(uint32_t key) {
    if (key >= keys_.size()) keys_.resize(key + 1 + key / 2);
    return keys_[key];
  }

  std::function<size_t(uint32_t)> payload_;
  std::vector<State> keys_;
  // The earliest first. An element is out of date if the key has another deadline by now.
  std::priority_queue<std::pair<int64_t, uint32_t>, std::vector<std::pair<int64_t, uint32_t>>, std::greater<>>
      deadlines_;
  int64_t now_ms_ = 0;
  uint64_t uses_ = 0;
  uint64_t count_ = 0;
  uint64_t bytes_ = 0;
};

}  // namespace mayfly::bench
