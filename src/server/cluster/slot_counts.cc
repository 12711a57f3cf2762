#include "server/cluster/slot_counts.h"

namespace mayfly {
namespace {

constexpr uint32_t kCountedReasons =
    ChangeHub::Bit(ChangeReason::kCreated) | ChangeHub::Bit(ChangeReason::kDeleted) |
    ChangeHub::Bit(ChangeReason::kExpired) | ChangeHub::Bit(ChangeReason::kEvicted) |
    ChangeHub::Bit(ChangeReason::kInvalidated) | ChangeHub::Bit(ChangeReason::kFlushed) |
    ChangeHub::Bit(ChangeReason::kRenamed) | ChangeHub::Bit(ChangeReason::kFreed);

}  // namespace

// Some keys come or go without a name for it: SMOVE to a new set, and the keys of a flushed namespace.
SlotCounts::SlotCounts(ChangeHub& changes) : changes_(changes) {
  changes_.Listen(*this, {.reasons = kCountedReasons, .unnamed = true});
}

SlotCounts::~SlotCounts() { changes_.Unlisten(*this); }

void SlotCounts::OnChange(const Change& change) {
  if (change.database != 0) return;
  switch (change.reason) {
    case ChangeReason::kFlushed:
      return keys_.fill(0);
    case ChangeReason::kCreated:
      ++keys_[SlotOf(change.key)];
      return;
    default:
      if (change.entry != nullptr) --keys_[SlotOf(change.key)];
  }
}

}  // namespace mayfly
