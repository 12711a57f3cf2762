#include "cache/owners/quota.h"

namespace mayfly {

HandWalk<Entry*> Quota::Gate(List list, size_t most, size_t keep) noexcept {
  assert(keep != 0 && young_[list] > keep);
  Lru& lru = lists_[list];
  HeapRef at = lru.gate() ? lru.gate() : lru.coldest();
  size_t looked = 0;
  for (; looked < most && young_[list] > keep && !(at == lru.hottest()); at = lru.Hotter(at)) {
    ++looked;
    Entry& entry = *At(at);
    if (!entry.young()) continue;
    if (!entry.Has(EntryFlag::kVisited)) {
      lru.set_gate(at);
      return {&entry, looked};
    }
    entry.Clear(EntryFlag::kVisited);
    entry.set_young(false);
    --young_[list];
  }
  // Young entries behind the gate exist only after a change of policy.
  const bool passed_some = at == lru.hottest() && young_[list] > keep;
  lru.set_gate(passed_some ? HeapRef{} : at);
  return {nullptr, looked};
}

void Quota::MoveByUse(Entry& entry, uint64_t now_mono_ms) noexcept {
  Lru& lru = lists_[ListOf(entry)];
  const HeapRef self = base_.RefOf(&entry);
  const uint64_t idle_ms = Entry::IdleMs(entry.stamp(), now_mono_ms);
  const auto idle_of = [&](HeapRef ref) { return Entry::IdleMs(At(ref)->stamp(), now_mono_ms); };
  HeapRef hotter{};  // the last one of those that were used later
  HeapRef at = lru.hottest();
  size_t left = kLooks;
  for (; at && left != 0 && (at == self || idle_of(at) < idle_ms); --left, at = At(at)->colder()) {
    if (!(at == self)) hotter = at;
  }
  if (!at) return lru.MoveToColdest(self);
  if (left != 0) {
    if (hotter) return lru.MoveBehind(self, hotter);
    if (!(lru.hottest() == self)) lru.Remove(self), lru.PushHottest(self);
    return;
  }
  HeapRef colder = lru.coldest();
  for (left = kLooks; left != 0 && (colder == self || idle_of(colder) >= idle_ms); --left)
    colder = lru.Hotter(colder);
  if (left != 0) return lru.MoveBehind(self, colder);
  if (colder == self) colder = lru.Hotter(colder);
  const bool near_hot_end = idle_ms - idle_of(hotter) <= idle_of(colder) - idle_ms;
  lru.MoveBehind(self, near_hot_end ? hotter : colder);
}

}  // namespace mayfly
