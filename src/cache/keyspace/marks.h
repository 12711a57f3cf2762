// Which entries are marked: those that a walk through the keys as they were at one time has still to see
// (cache/snapshot_walk.h). An entry that is marked is shown to listeners before it changes (ChangeListener::BeforeChange).
//
// A mark is a bit of the entry whose meaning changes whenever all are marked, so marking them takes one step. New entries
// are made with the bit that says unmarked.
#pragma once

#include <cstdint>

#include "cache/entry/entry.h"

namespace mayfly {

class Marks {
 public:
  bool Has(const Entry& entry) const noexcept {
    return ((entry.flags() ^ phase_) & static_cast<uint8_t>(EntryFlag::kPhase)) != 0;
  }
  // REQUIRES: it is marked.
  static void Remove(Entry& entry) noexcept {
    entry.set_flags(entry.flags() ^ static_cast<uint8_t>(EntryFlag::kPhase));
  }
  // Marks all. REQUIRES: none is marked.
  void MarkAll() noexcept { phase_ ^= static_cast<uint8_t>(EntryFlag::kPhase); }
  // The flag of an entry that is not marked: EntryFlag::kPhase or 0.
  uint8_t phase() const noexcept { return phase_; }

 private:
  uint8_t phase_ = 0;
};

}  // namespace mayfly
