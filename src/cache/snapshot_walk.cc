#include "cache/snapshot_walk.h"

#include <algorithm>
#include <cassert>

namespace mayfly {

SnapshotWalk::SnapshotWalk(Databases& databases, SnapshotVisitor& visitor, Now now)
    : databases_(databases), visitor_(&visitor), start_(now), dooms_(databases.dooms()) {
  parts_.reserve(databases.count());
  for (unsigned i = 0; i < databases.count(); ++i) parts_.push_back({&databases.At(i), i});
  databases.changes().Listen(*this, {.reasons = ChangeHub::Bit(ChangeReason::kFlushed), .before = true});
  databases.MarkAll();
}

SnapshotWalk::~SnapshotWalk() {
  Abandon();
  while (!Step(SIZE_MAX)) {
  }
  databases_.changes().Unlisten(*this);
}

bool SnapshotWalk::Step(size_t budget) {
  constexpr size_t kEntriesPerPage = 10;
  size_t spent = 0;
  while (!parts_.empty() && spent < budget) {
    const Part part = parts_.back();
    cursor_ = part.keyspace->ScanMarked(cursor_, [&](const Entry& entry) {
      ++spent;
      Visit(part, entry);
    });
    spent += kEntriesPerPage;
    if (cursor_ != 0) continue;
    parts_.pop_back();
    if (part.keyspace->held()) part.keyspace->Release();
  }
  return parts_.empty();
}

void SnapshotWalk::OnChange(const Change& change) {
  assert(change.reason == ChangeReason::kFlushed);
  const auto walked_later = [&](const Part& part) { return part.keyspace == &change.keyspace; };
  if (std::any_of(parts_.begin(), parts_.end(), walked_later)) change.keyspace.Hold();
}

// A finished keyspace, or a keyspace newer than the walk, has no marked entries.
void SnapshotWalk::BeforeChange(Keyspace& keyspace, const Entry& entry) noexcept {
  const auto part =
      std::find_if(parts_.begin(), parts_.end(), [&](const Part& p) { return p.keyspace == &keyspace; });
  assert(part != parts_.end());
  Visit(*part, entry);
}

void SnapshotWalk::Visit(const Part& part, const Entry& entry) noexcept {
  if (visitor_ == nullptr || HasExpired(entry, start_)) return;
  if (part.keyspace->tags().DoomedBefore(entry, dooms_ + 1) || part.keyspace->owners().GoneBeforeMarks(entry))
    return;
  visitor_->Visit(part.index, entry);
}

}  // namespace mayfly
