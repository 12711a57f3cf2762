// S3-FIFO with one list and a main queue of SIEVE (cache/evict/s3fifo_evictor.h), plainly: a vector of keys, newest last,
// in which both hands are found by the marks on the keys.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

namespace mayfly {

class S3FifoModel {
 public:
  S3FifoModel(size_t capacity, size_t young_part) : capacity_(capacity), young_part_(young_part) {}

  bool Has(const std::string& key) const { return PlaceOf(key) < keys_.size(); }
  void Hit(const std::string& key) { keys_[PlaceOf(key)].visited = true; }
  void Remove(const std::string& key) { RemoveAt(PlaceOf(key)); }

  // The victims, in order. `returns`: its ghost is remembered.
  std::vector<std::string> Insert(const std::string& key, bool returns) {
    keys_.push_back({key, false, !returns});
    std::vector<std::string> victims;
    while (keys_.size() > capacity_) {
      const bool by_hand = !GateFinds();
      const size_t at = by_hand ? HandFinds() : gate_;
      victims.push_back(keys_[at].key);
      RemoveAt(at);
      if (by_hand && hand_ + 1 >= keys_.size()) hand_ = 0;
    }
    return victims;
  }

 private:
  struct Item {
    std::string key;
    bool visited;
    bool young;
  };

  size_t PlaceOf(const std::string& key) const {
    const auto is_it = [&](const Item& item) { return item.key == key; };
    return static_cast<size_t>(std::find_if(keys_.begin(), keys_.end(), is_it) - keys_.begin());
  }
  void RemoveAt(size_t at) {
    keys_.erase(keys_.begin() + static_cast<std::ptrdiff_t>(at));
    if (at < hand_) --hand_;
    if (hand_ >= keys_.size()) hand_ = 0;
  }
  size_t Young() const {
    return static_cast<size_t>(
        std::count_if(keys_.begin(), keys_.end(), [](const Item& i) { return i.young; }));
  }
  // Each finds a victim, which is never the newest key.
  bool GateFinds() {
    const size_t keep = std::max<size_t>(keys_.size() / young_part_, 1);
    for (size_t at = 0; at + 1 < keys_.size() && Young() > keep; ++at) {
      Item& item = keys_[at];
      if (!item.young) continue;
      if (!item.visited) {
        gate_ = at;
        return true;
      }
      item.young = item.visited = false;
    }
    return false;
  }
  size_t HandFinds() {
    const bool passes_young = keys_.size() - Young() > 1;
    for (;; ++hand_) {
      if (hand_ + 1 >= keys_.size()) hand_ = 0;
      Item& item = keys_[hand_];
      if (passes_young && item.young) continue;
      if (!item.visited) return hand_;
      item.visited = false;
    }
  }

  size_t capacity_;
  size_t young_part_;
  std::vector<Item> keys_;
  size_t gate_ = 0;
  size_t hand_ = 0;
};

}  // namespace mayfly
