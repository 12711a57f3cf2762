// SIEVE as in its paper: room is made before the new key is added.
#pragma once

#include <iterator>
#include <list>
#include <optional>
#include <string>
#include <unordered_map>

namespace mayfly {

class SieveModel {
 public:
  explicit SieveModel(size_t capacity) : capacity_(capacity) {}

  bool Has(const std::string& key) const { return places_.count(key) != 0; }
  size_t size() const { return queue_.size(); }
  void Hit(const std::string& key) { places_.at(key)->visited = true; }

  // The victim, if there was one.
  std::optional<std::string> Insert(const std::string& key) {
    std::optional<std::string> victim;
    if (queue_.size() == capacity_) victim = EvictOne();
    queue_.push_front({key, false});
    places_[key] = queue_.begin();
    return victim;
  }

  void Remove(const std::string& key) {
    const auto at = places_.at(key);
    if (hand_ == at) hand_ = Before(at);
    queue_.erase(at);
    places_.erase(key);
  }

  std::string EvictOne() {
    if (hand_ == queue_.end()) hand_ = std::prev(queue_.end());
    while (hand_->visited) {
      hand_->visited = false;
      hand_ = hand_ == queue_.begin() ? std::prev(queue_.end()) : std::prev(hand_);
    }
    std::string victim = hand_->key;
    Remove(victim);
    return victim;
  }

 private:
  struct Item {
    std::string key;
    bool visited;
  };
  using Place = std::list<Item>::iterator;

  // The next one towards the front; end() means "begin at the back".
  Place Before(Place at) { return at == queue_.begin() ? queue_.end() : std::prev(at); }

  size_t capacity_;
  std::list<Item> queue_;  // newest first
  Place hand_ = queue_.end();
  std::unordered_map<std::string, Place> places_;
};

}  // namespace mayfly
