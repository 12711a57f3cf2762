// The marks on entries: a point-in-time walk has still to see the marked entries (cache/snapshot_walk.h). Listeners see a
// marked entry before the entry changes (ChangeListener::BeforeChange).
//
// A mark is a bit of the entry. MarkAll changes the meaning of the bit, so marking all entries takes one step. New entries
// are made unmarked.
#pragma once

#include <cstdint>

#include "cache/entry/entry.h"

namespace mayfly {

class Marks {
 public:
  bool Has(const Entry& entry) const noexcept {
    return ((entry.flags() ^ phase_) & static_cast<uint8_t>(EntryFlag::kPhase)) != 0;
  }
  // REQUIRES: the entry is marked.
  static void Remove(Entry& entry) noexcept {
    entry.set_flags(entry.flags() ^ static_cast<uint8_t>(EntryFlag::kPhase));
  }
  // Marks all entries. REQUIRES: no entry is marked.
  void MarkAll() noexcept { phase_ ^= static_cast<uint8_t>(EntryFlag::kPhase); }
  // The flag of an unmarked entry: EntryFlag::kPhase or 0.
  uint8_t phase() const noexcept { return phase_; }

 private:
  uint8_t phase_ = 0;
};

}  // namespace mayfly
