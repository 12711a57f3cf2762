#include "mixes/alive.h"

#include <algorithm>

namespace mayfly::bench {

void Alive::AdvanceTo(int64_t now_ms) {
  now_ms_ = std::max(now_ms_, now_ms);
  while (!deadlines_.empty() && deadlines_.top().first <= now_ms_) {
    const auto [deadline_ms, key] = deadlines_.top();
    deadlines_.pop();
    if (keys_[key].deadline_ms == deadline_ms) Remove(key);
  }
}

void Alive::Set(uint32_t key, int64_t deadline_ms) {
  State& state = At(key);
  if (state.deadline_ms == 0) {
    ++count_;
    bytes_ += payload_(key);
  }
  if (state.deadline_ms == deadline_ms) return;
  state.deadline_ms = deadline_ms;
  deadlines_.emplace(deadline_ms, key);
}

void Alive::Remove(uint32_t key) {
  if (!Has(key)) return;
  keys_[key].deadline_ms = 0;
  --count_;
  bytes_ -= payload_(key);
}

std::vector<Alive::Deadline> Alive::InOrderOfUse() const {
  std::vector<Deadline> alive;
  for (uint32_t key = 0; key < keys_.size(); ++key) {
    if (keys_[key].deadline_ms != 0) alive.push_back({key, keys_[key].deadline_ms});
  }
  std::sort(alive.begin(), alive.end(),
            [this](const Deadline& a, const Deadline& b) { return keys_[a.key].used < keys_[b.key].used; });
  return alive;
}

}  // namespace mayfly::bench
