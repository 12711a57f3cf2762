// The number of keys in each slot of a cluster, for CLUSTER COUNTKEYSINSLOT.
//
// A listener at the change point counts keys as they come and go, at the cost of a checksum of each name. Only a daemon in a
// cluster has the counts. A removal of many keys at once (NSFLUSH, INVALIDATE) puts the counts out of date, and the next
// KeysIn counts anew, with a walk of all keys. Due keys that are not freed yet count. 64 KB. Loop thread only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/bits/key_slot.h"
#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class SlotCounts final : public ChangeListener {
 public:
  // Both arguments must outlive this. A cluster has database 0 alone.
  SlotCounts(ChangeHub& changes, Databases& databases);
  ~SlotCounts() override;
  SlotCounts(const SlotCounts&) = delete;
  SlotCounts& operator=(const SlotCounts&) = delete;

  // REQUIRES: slot < kSlots.
  uint32_t KeysIn(uint16_t slot, Now now);
  // Calls fn(std::string_view) for at most `most` keys of the slot. The walk ends when all of the slot's keys are found:
  // O(all keys) at worst.
  template <typename Fn>
  void ForEachKey(uint16_t slot, uint64_t most, Now now, Fn&& fn) {
    uint64_t left = std::min<uint64_t>(most, KeysIn(slot, now));
    for (uint64_t cursor = 0; left != 0;) {
      cursor = databases_.At(0).Scan(cursor, now, [&](const Entry& entry) {
        if (left == 0 || SlotOf(entry.key()) != slot) return;
        --left;
        fn(entry.key());
      });
      if (cursor == 0) return;
    }
  }

  void OnChange(const Change& change) override;

 private:
  ChangeHub& changes_;
  Databases& databases_;
  std::array<uint32_t, kSlots> keys_{};
  bool stale_ = false;
};

}  // namespace mayfly
