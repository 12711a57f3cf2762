#include "hit_ratio/offline.h"

#include <limits>
#include <queue>
#include <utility>

namespace mayfly::bench {
namespace {

constexpr uint32_t kNobody = std::numeric_limits<uint32_t>::max();

// A list of keys, named by their numbers, newest first.
class KeyList {
 public:
  explicit KeyList(uint32_t keys) : newer_(keys, kNobody), older_(keys, kNobody), held_(keys, false) {}

  bool Holds(uint32_t key) const { return held_[key]; }
  uint32_t size() const { return size_; }
  uint32_t oldest() const { return oldest_; }
  // The next key towards the newest one, or kNobody.
  uint32_t Newer(uint32_t key) const { return newer_[key]; }

  void Push(uint32_t key) {
    newer_[key] = kNobody;
    older_[key] = newest_;
    (newest_ == kNobody ? oldest_ : newer_[newest_]) = key;
    newest_ = key;
    held_[key] = true;
    ++size_;
  }
  void Remove(uint32_t key) {
    (newer_[key] == kNobody ? newest_ : older_[newer_[key]]) = older_[key];
    (older_[key] == kNobody ? oldest_ : newer_[older_[key]]) = newer_[key];
    held_[key] = false;
    --size_;
  }

 private:
  std::vector<uint32_t> newer_;
  std::vector<uint32_t> older_;
  std::vector<bool> held_;
  uint32_t newest_ = kNobody;
  uint32_t oldest_ = kNobody;
  uint32_t size_ = 0;
};

class Lru final : public Cache {
 public:
  Lru(uint32_t keys, uint32_t capacity) : list_(keys), capacity_(capacity) {}

  void Run(std::span<const Step> steps, std::vector<bool>& hits) override {
    hits.clear();
    for (const Step& step : steps) {
      const bool hit = list_.Holds(step.key);
      hits.push_back(hit);
      if (hit) list_.Remove(step.key);
      if (!hit && !step.store) continue;
      if (list_.size() == capacity_) list_.Remove(list_.oldest());
      list_.Push(step.key);
    }
  }

 private:
  KeyList list_;
  uint32_t capacity_;
};

class Sieve final : public Cache {
 public:
  Sieve(uint32_t keys, uint32_t capacity) : list_(keys), visited_(keys, false), capacity_(capacity) {}

  void Run(std::span<const Step> steps, std::vector<bool>& hits) override {
    hits.clear();
    for (const Step& step : steps) {
      const bool hit = list_.Holds(step.key);
      hits.push_back(hit);
      if (hit) {
        visited_[step.key] = true;
      } else if (step.store) {
        if (list_.size() == capacity_) EvictOne();
        visited_[step.key] = false;
        list_.Push(step.key);
      }
    }
  }

 private:
  void EvictOne() {
    uint32_t at = hand_ == kNobody ? list_.oldest() : hand_;
    while (visited_[at]) {
      visited_[at] = false;
      at = list_.Newer(at) == kNobody ? list_.oldest() : list_.Newer(at);
    }
    hand_ = list_.Newer(at);
    list_.Remove(at);
  }

  KeyList list_;
  std::vector<bool> visited_;
  uint32_t capacity_;
  uint32_t hand_ = kNobody;
};

}  // namespace

std::unique_ptr<Cache> MakeLru(uint32_t keys, uint32_t capacity) {
  return std::make_unique<Lru>(keys, capacity);
}

std::unique_ptr<Cache> MakeSieve(uint32_t keys, uint32_t capacity) {
  return std::make_unique<Sieve>(keys, capacity);
}

Count Belady(const Trace& trace, uint64_t warm_up, uint32_t capacity) {
  const std::vector<uint32_t>& requests = trace.requests;
  const auto end = static_cast<uint32_t>(requests.size());
  std::vector<uint32_t> next_use(end);
  std::vector<uint32_t> seen_at(trace.keys, end);
  for (uint32_t i = end; i-- > 0;) next_use[i] = std::exchange(seen_at[requests[i]], i);
  // The farthest next use first. An element is out of date if its key was used or evicted since.
  std::priority_queue<std::pair<uint32_t, uint32_t>> by_next_use;
  std::vector<uint32_t> held_until(trace.keys, 0);  // the next use of a key in the cache; 0: not in it
  uint32_t held = 0;
  Count count;
  for (uint32_t i = 0; i < end; ++i) {
    const uint32_t key = requests[i];
    const bool hit = held_until[key] != 0;
    if (i >= warm_up) ++(hit ? count.hits : count.misses);
    if (!hit && held == capacity) {
      while (held_until[by_next_use.top().second] != by_next_use.top().first) by_next_use.pop();
      held_until[by_next_use.top().second] = 0;
      by_next_use.pop();
    } else if (!hit) {
      ++held;
    }
    held_until[key] = next_use[i];
    by_next_use.emplace(next_use[i], key);
  }
  return count;
}

}  // namespace mayfly::bench
