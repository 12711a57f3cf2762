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

}  // namespace mayfly
