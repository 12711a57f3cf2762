// The number of keys in each slot of a cluster, for CLUSTER COUNTKEYSINSLOT.
//
// A listener at the change point counts keys as they come and go, at the cost of a checksum of each name. Only a daemon in a
// cluster has the counts. Keys that are due, invalidated or flushed with their namespace count until they are freed. 64 KB. Loop
// thread only.
#pragma once

#include <array>
#include <cstdint>

#include "base/bits/key_slot.h"
#include "cache/changes/change.h"

namespace mayfly {

class SlotCounts final : public ChangeListener {
 public:
  // Borrows `changes`. A cluster has database 0 alone.
  explicit SlotCounts(ChangeHub& changes);
  ~SlotCounts() override;
  SlotCounts(const SlotCounts&) = delete;
  SlotCounts& operator=(const SlotCounts&) = delete;

  // REQUIRES: slot < kSlots.
  uint32_t KeysIn(uint16_t slot) const noexcept { return keys_[slot]; }

  void OnChange(const Change& change) override;

 private:
  ChangeHub& changes_;
  std::array<uint32_t, kSlots> keys_{};
};

}  // namespace mayfly
