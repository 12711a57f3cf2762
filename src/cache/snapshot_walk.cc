#include "cache/snapshot_walk.h"

#include <algorithm>
#include <cassert>
#include <limits>

#include "base/prefetch.h"
#include "cache/gone/stale_values.h"
#include "cache/time/lifetime.h"

namespace mayfly {

SnapshotWalk::SnapshotWalk(Databases& databases, SnapshotVisitor& visitor, Now now)
    : databases_(databases), visitor_(&visitor), start_(now), dooms_(databases.dooms()) {
  parts_.reserve(databases.count());
  for (unsigned i = 0; i < databases.count(); ++i) {
    Keyspace& keyspace = databases.At(i);
    part_of_id_[keyspace.id()] = static_cast<uint8_t>(i);
    parts_.push_back({&keyspace, i, 0});
    keyspace.owners().ForEach([&](const Quota& quota) {
      for (const Quota::List list : Quota::kLists) AddLine(parts_.size() - 1, quota, list);
    });
  }
  databases.changes().Listen(*this, {.reasons = ChangeHub::Bit(ChangeReason::kFlushed), .before = true});
  databases.StartWalk();
  for (const Line& line : lines_) {
    parts_[line.part].keyspace->owners().Find(line.owner)->StartWalk(line.list);
    ++parts_[line.part].lines;
  }
  std::make_heap(lines_.begin(), lines_.end(), IsColder);
}

SnapshotWalk::~SnapshotWalk() {
  Abandon();
  while (!Step(std::numeric_limits<size_t>::max())) {
  }
  databases_.EndWalk();
  databases_.changes().Unlisten(*this);
}

bool SnapshotWalk::IsColder(const Line& a, const Line& b) noexcept { return a.idle_ms > b.idle_ms; }

void SnapshotWalk::AddLine(size_t part, const Quota& quota, Quota::List list) {
  if (const Entry* const hottest = quota.Hottest(list))
    lines_.push_back({IdleOf(*hottest), part, quota.owner(), list});
}

// Null also if the owner is gone with its last entry, or its id has a new owner.
Entry* SnapshotWalk::NextOf(const Line& line) const noexcept {
  Quota* const quota = parts_[line.part].keyspace->owners().Find(line.owner);
  return quota != nullptr ? quota->Walker(line.list) : nullptr;
}

// A line whose next entry has gone or was used meanwhile has another next entry, which is colder: the line is looked at again
// when its turn comes.
bool SnapshotWalk::Step(size_t budget) {
  while (!lines_.empty() && budget != 0 && (visitor_ == nullptr || !visitor_->WantsPause())) {
    std::pop_heap(lines_.begin(), lines_.end(), IsColder);
    Line& line = lines_.back();
    const Part& part = parts_[line.part];
    Entry* entry = NextOf(line);
    if (entry == nullptr) {
      End(line);
      continue;
    }
    if (IdleOf(*entry) <= line.idle_ms) {
      --budget;
      Quota& quota = *part.keyspace->owners().Find(line.owner);
      quota.StepWalk(line.list);
      if (part.keyspace->marks().Has(*entry)) {
        Visit(part, *entry);
        Marks::Remove(*entry);
      }
      entry = quota.Walker(line.list);
      if (entry == nullptr) {
        End(line);
        continue;
      }
      if (entry->colder()) PrefetchToRead(part.keyspace->At(entry->colder()));
    }
    line.idle_ms = std::max(line.idle_ms, IdleOf(*entry));
    std::push_heap(lines_.begin(), lines_.end(), IsColder);
  }
  return lines_.empty() && StepStale(budget);
}

bool SnapshotWalk::IsThere(const Part& part) const noexcept {
  for (unsigned i = 0; i < databases_.count(); ++i) {
    if (&databases_.At(i) == part.keyspace) return true;
  }
  return false;
}

// Also without a visitor: no mark may be left. A keyspace that is newer than the walk has no marks.
bool SnapshotWalk::StepStale(size_t budget) {
  constexpr size_t kCostOfPage = 10;
  while (stale_part_ < parts_.size()) {
    if (budget == 0 || (visitor_ != nullptr && visitor_->WantsPause())) return false;
    const Part& part = parts_[stale_part_];
    const StaleValues* const values = IsThere(part) ? part.keyspace->stale().values() : nullptr;
    if (values != nullptr) {
      stale_cursor_ = values->Scan(stale_cursor_, [&](Entry& entry) { VisitStale(part, entry); });
      budget -= std::min(budget, kCostOfPage);
    }
    if (values == nullptr || stale_cursor_ == 0) {
      stale_cursor_ = 0;
      ++stale_part_;
    }
  }
  return true;
}

// A stale value is filed by the end of its window. Keys that have expired after the first moment were visited as keys.
void SnapshotWalk::VisitStale(const Part& part, Entry& entry) noexcept {
  if (!part.keyspace->marks().Has(entry)) return;
  Marks::Remove(entry);
  if (visitor_ == nullptr || part.keyspace->Absent(entry, start_)) return;
  const Expiry end = entry.deadline();
  const Expiry deadline{end.kind, end.deadline_ms - std::min(end.deadline_ms, entry.stale_ms())};
  visitor_->VisitStale(part.index, *part.keyspace, entry, deadline);
}

// REQUIRES: `line` is the last of lines_.
void SnapshotWalk::End(const Line& line) noexcept {
  Part& part = parts_[line.part];
  if (--part.lines == 0 && part.keyspace->held()) part.keyspace->Release();
  lines_.pop_back();
}

void SnapshotWalk::OnChange(const Change& change) {
  assert(change.reason == ChangeReason::kFlushed);
  const auto is_walked = [&](const Part& part) {
    return part.lines != 0 && part.keyspace == &change.keyspace;
  };
  if (std::any_of(parts_.begin(), parts_.end(), is_walked)) change.keyspace.Hold();
}

// A keyspace newer than the walk has no marked entries.
void SnapshotWalk::BeforeChange(Keyspace& keyspace, const Entry& entry) noexcept {
  const Part* const part = PartOf(keyspace);
  assert(part != nullptr);
  early_ = true;
  Visit(*part, entry);
  early_ = false;
}

const SnapshotWalk::Part* SnapshotWalk::PartOf(const Keyspace& keyspace) const noexcept {
  const Part& part = parts_[part_of_id_[keyspace.id()]];
  return part.keyspace == &keyspace ? &part : nullptr;
}

void SnapshotWalk::Visit(const Part& part, const Entry& entry) noexcept {
  if (visitor_ == nullptr) return;
  if (part.keyspace->tags().DoomedBefore(entry, dooms_ + 1) || part.keyspace->owners().GoneBeforeMarks(entry))
    return;
  if (HasExpired(entry, start_)) {
    const bool stale =
        entry.stale_ms() != 0 && entry.deadline().Reached(start_) && !EndOfWindow(entry).Reached(start_);
    if (stale) visitor_->VisitStale(part.index, *part.keyspace, entry, entry.deadline());
    return;
  }
  visitor_->Visit(part.index, *part.keyspace, entry);
}

}  // namespace mayfly
