#include "server/cluster/slot_counts.h"

namespace mayfly {
namespace {

constexpr uint32_t kCountedReasons =
    ChangeHub::Bit(ChangeReason::kCreated) | ChangeHub::Bit(ChangeReason::kDeleted) |
    ChangeHub::Bit(ChangeReason::kExpired) | ChangeHub::Bit(ChangeReason::kEvicted) |
    ChangeHub::Bit(ChangeReason::kInvalidated) | ChangeHub::Bit(ChangeReason::kFlushed) |
    ChangeHub::Bit(ChangeReason::kRenamed) | ChangeHub::Bit(ChangeReason::kNamespaceFlushed);

}  // namespace

SlotCounts::SlotCounts(ChangeHub& changes, Databases& databases) : changes_(changes), databases_(databases) {
  changes_.Listen(*this, kCountedReasons);
}

SlotCounts::~SlotCounts() { changes_.Unlisten(*this); }

void SlotCounts::OnChange(const Change& change) {
  if (change.database != 0) return;
  switch (change.reason) {
    case ChangeReason::kFlushed:
      keys_.fill(0);
      stale_ = false;
      return;
    case ChangeReason::kInvalidated:
    case ChangeReason::kNamespaceFlushed:
      stale_ = true;
      return;
    case ChangeReason::kCreated:
      ++keys_[SlotOf(change.key)];
      return;
    default:
      if (change.entry != nullptr) --keys_[SlotOf(change.key)];
  }
}

uint32_t SlotCounts::KeysIn(uint16_t slot, Now now) {
  if (stale_) {
    keys_.fill(0);
    size_t counted = 0;
    databases_.At(0).ForEach(now, [&](const Entry& entry) { ++keys_[SlotOf(entry.key())], ++counted; });
    // Absent keys that are not freed yet were not counted, and their end will be reported: the counts stay out of date until
    // then.
    stale_ = counted != databases_.At(0).size();
  }
  return keys_[slot];
}

}  // namespace mayfly
