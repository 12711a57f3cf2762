// The part of Keyspace for the shares of namespaces: creation and flush (cache/owners/namespaces.h).
//
// NSFLUSH dooms a share: its entries are absent from then on (Keyspace::Absent), and are freed in slices, without a
// report for each; the namespace gets a new share with its next key. A doomed share keeps its id until its last entry
// and its last stale value are freed.
#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "cache/gone/stale_values.h"
#include "cache/keyspace/keyspace.h"

namespace mayfly {

uint8_t Keyspace::OwnerByPrefix(std::string_view key) {
  Namespace* const space = parts_.namespaces.Of(key);
  if (space == nullptr) return id_;
  Quota* share = space->ShareIn(*this);
  if (share == nullptr) share = &AddShare(*space);
  return share->owner();
}

Quota& Keyspace::AddShare(Namespace& space) {
  assert(enlisted_);
  space.ReserveShare();
  std::optional<uint8_t> owner = parts_.quotas.Unused(parts_.first_share);
  if (!owner && parts_.TakeBackShare()) owner = parts_.quotas.Unused(parts_.first_share);
  if (!owner) throw OwnersExhausted();
  others_.push_back(std::make_unique<Quota>(*this, *owner, base_, parts_.quotas.moved()));
  Quota& share = *others_.back();
  space.AddShare(share);
  parts_.quotas.Enter(share);
  return share;
}

// First one that is empty; if there is none, one that waits to be freed is freed now.
bool KeyspaceParts::TakeBackShare() {
  Quota* empty = nullptr;
  Quota* to_free = nullptr;
  quotas.ForEach([&](Quota& quota) {
    if (quota.owner() < first_share || pinned.Has(quota.owner())) return;
    if (quota.doomed)
      to_free = &quota;
    else if (quota.size() == 0 && quota.stale == 0)
      empty = &quota;
  });
  if (empty != nullptr) return empty->home().DropShare(*empty), true;
  if (to_free == nullptr) return false;
  for (size_t budget = std::numeric_limits<size_t>::max(); to_free->home().FreeDoomed(&budget);) {
  }
  return true;
}

void Keyspace::DropShare(Quota& share) noexcept {
  assert(share.size() == 0 && share.stale == 0);
  if (share.space != nullptr) share.space->ForgetShare(share);
  if (share.doomed) {
    --parts_.doomed;
    --parts_.shares_to_free;
  }
  parts_.quotas.Leave(share);
  std::erase_if(others_, [&](const auto& other) { return other.get() == &share; });
}

void Keyspace::LeaveShares() noexcept {
  for (const auto& other : others_) {
    parts_.quotas.Leave(*other);
    if (other->space != nullptr) std::exchange(other->space, nullptr)->ForgetShare(*other);
    if (other->doomed) --parts_.shares_to_free;
  }
  doomed_keys_ = 0;  // they wait to be freed like the others now
}

size_t Keyspace::Doom(Quota& share) noexcept {
  assert(enlisted_ && &share.home() == this && !share.doomed);
  const size_t keys = share.size();
  if (keys == 0 && share.stale == 0) return 0;
  std::exchange(share.space, nullptr)->ForgetShare(share);
  share.doomed = true;
  share.promised = 0;
  ++parts_.doomed;
  ++parts_.shares_to_free;
  doomed_keys_ += keys;
  parts_.keys -= keys;
  parts_.quotas.moved().Add(share.owner());
  return keys;
}

const Quota* Keyspace::ShareOf(const Entry& entry) const noexcept {
  if (entry.owner() == id_) return nullptr;
  if (enlisted_) return &QuotaOf(entry);
  const auto found = std::find_if(others_.begin(), others_.end(),
                                  [&](const auto& other) { return other->owner() == entry.owner(); });
  return found != others_.end() ? found->get() : nullptr;
}

bool Keyspace::InDoomedShare(const Entry& entry) const noexcept {
  const Quota* const share = ShareOf(entry);
  return share != nullptr && share->doomed;
}

void Keyspace::RemoveDoomed(const Key& key, Entry& entry) noexcept {
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.NoteGone(id_, key.hash, MissReason::kDeleted);
  Free(entry);
}

bool Keyspace::FreeDoomed(size_t* budget) noexcept {
  for (size_t i = others_.size(); i-- > 0 && *budget != 0;) {
    Quota& share = *others_[i];
    if (!share.doomed) continue;
    for (; *budget != 0 && share.size() != 0; --*budget) {
      Entry* entry = share.Coldest(kLasting);
      if (entry == nullptr) entry = share.Coldest(kExpiring);
      RemoveDoomed(KeyOf(entry->key()), *entry);
    }
    while (*budget != 0 && share.stale != 0) FreeDoomedStale(budget);
    if (share.size() == 0 && share.stale == 0) DropShare(share);
  }
  return std::any_of(others_.begin(), others_.end(), [](const auto& other) { return other->doomed; });
}

// Stale values are in no list of their owner, so all of them are passed.
void Keyspace::FreeDoomedStale(size_t* budget) noexcept {
  constexpr size_t kMost = 64;  // what does not fit is met again
  constexpr size_t kCostOfPage = 10;
  std::array<Entry*, kMost> found;
  size_t count = 0;
  stale_cursor_ = stale_->Scan(stale_cursor_, [&](Entry& entry) {
    if (count < kMost && InDoomedShare(entry)) found[count++] = &entry;
  });
  for (size_t i = 0; i < count; ++i) FreeStale(parts_.hasher(found[i]->key()), *found[i]);
  *budget -= std::min(*budget, count + kCostOfPage);
}

void Keyspace::MarkAll() noexcept {
  assert(!AnyMarked());
  phase_ ^= static_cast<uint8_t>(EntryFlag::kPhase);
  for (const auto& other : others_) other->gone_before_marks = other->doomed;
}

bool Keyspace::GoneBeforeMarks(const Entry& entry) const noexcept {
  const Quota* const share = ShareOf(entry);
  return share != nullptr && share->gone_before_marks;
}

void Keyspace::CountHitOf(const Entry& entry) const noexcept {
  if (Namespace* const space = QuotaOf(entry).space) ++space->stats.hits;
}

bool Keyspace::ValidateShares() const {
  bool sound = true;
  size_t doomed = 0;
  for (const auto& other : others_) {
    sound = sound && ValidateQuota(*other) && &other->home() == this &&
            other->doomed == (other->space == nullptr);
    if (other->space != nullptr) sound = sound && other->space->ShareIn(*this) == other.get();
    doomed += other->doomed ? other->size() : 0;
  }
  return sound && doomed == doomed_keys_;
}

}  // namespace mayfly
