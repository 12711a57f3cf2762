#include "cache/keyspace/owners.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <optional>
#include <utility>

#include "cache/keyspace/keyspace.h"
#include "cache/keyspace/reaper.h"

namespace mayfly {

Owners::Owners(Keyspace& home, KeyspaceParts& parts, uint8_t id) noexcept
    : home_(home), parts_(parts), own_(home, id, parts.heap.base(), parts.quotas.moved()) {}

Owners::~Owners() {
  for (const auto& share : shares_) parts_.doomed -= share->doomed ? 1 : 0;
}

void Owners::Enter() noexcept {
  assert(!entered_ && shares_.empty());
  entered_ = true;
  parts_.quotas.Enter(own_);
}

void Owners::Leave() noexcept {
  assert(entered_);
  entered_ = false;
  parts_.quotas.Leave(own_);
  for (const auto& share : shares_) {
    parts_.quotas.Leave(*share);
    if (share->space != nullptr) std::exchange(share->space, nullptr)->ForgetShare(*share);
    if (share->doomed) --parts_.shares_to_free;
  }
  doomed_keys_ = 0;  // these keys wait to be freed like all others now
}

// ---- figures

uint64_t Owners::bytes() const noexcept {
  uint64_t bytes = 0;
  ForEach([&](const Quota& quota) { bytes += quota.bytes; });
  return bytes;
}

size_t Owners::CountOf(List list) const noexcept {
  size_t count = 0;
  ForEach([&](const Quota& quota) { count += quota.doomed ? 0 : quota.CountOf(list); });
  return count;
}

Quota* Owners::With(List list, const EvictionPool& pool) const noexcept {
  Quota& own = parts_.quotas.WithId(own_.owner());
  if (pool.Has(own) && own.CountOf(list) != 0) return &own;
  for (const auto& share : shares_) {
    if (pool.Has(*share) && share->CountOf(list) != 0) return share.get();
  }
  return nullptr;
}

void Owners::CountHitOf(const Entry& entry) const noexcept {
  if (Namespace* const space = Of(entry).space) ++space->stats.hits;
}

// ---- shares

uint8_t Owners::ByPrefix(std::string_view key) {
  Namespace* const space = parts_.namespaces.Of(key);
  if (space == nullptr) return own_.owner();
  if (const Quota* const share = space->ShareIn(home_)) return share->owner();
  try {
    return AddShare(*space).owner();
  } catch (const OwnersExhausted&) {
    if (!parts_.follows_master) throw;
    return own_.owner();
  }
}

Quota& Owners::AddShare(Namespace& space) {
  assert(entered_);
  space.ReserveShare();
  if (shares_by_id_ == nullptr) shares_by_id_ = std::make_unique<std::array<Quota*, IdSet::kIds>>();
  std::optional<uint8_t> owner = parts_.quotas.Unused(parts_.first_share);
  if (!owner && parts_.TakeBackShare()) owner = parts_.quotas.Unused(parts_.first_share);
  if (!owner) throw OwnersExhausted();
  shares_.push_back(std::make_unique<Quota>(home_, *owner, parts_.heap.base(), parts_.quotas.moved()));
  Quota& share = *shares_.back();
  (*shares_by_id_)[*owner] = &share;
  space.AddShare(share);
  parts_.quotas.Enter(share);
  return share;
}

// Takes back an empty share first; if there is none, frees a doomed share now.
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
  if (empty != nullptr) return empty->home().owners().Drop(*empty), true;
  if (to_free == nullptr) return false;
  for (size_t budget = std::numeric_limits<size_t>::max(); to_free->home().reaper().FreeDoomed(&budget);) {
  }
  return true;
}

void Owners::Drop(Quota& share) noexcept {
  assert(share.size() == 0 && share.stale == 0);
  if (share.space != nullptr) share.space->ForgetShare(share);
  if (share.doomed) {
    --parts_.doomed;
    --parts_.shares_to_free;
  }
  parts_.quotas.Leave(share);
  (*shares_by_id_)[share.owner()] = nullptr;
  std::erase_if(shares_, [&](const auto& other) { return other.get() == &share; });
}

size_t Owners::Doom(Quota& share) noexcept {
  assert(entered_ && &share.home() == &home_ && !share.doomed);
  const size_t keys = share.size();
  if (keys == 0 && share.stale == 0) return 0;
  std::exchange(share.space, nullptr)->ForgetShare(share);
  share.doomed = true;
  share.doom = ++parts_.dooms;
  share.promised = 0;
  ++parts_.doomed;
  ++parts_.shares_to_free;
  doomed_keys_ += keys;
  parts_.keys -= keys;
  parts_.quotas.moved().Add(share.owner());
  return keys;
}

Quota* Owners::NextDoomed() noexcept {
  Quota* oldest = nullptr;
  for (size_t i = shares_.size(); i-- > 0;) {
    Quota& share = *shares_[i];
    if (!share.doomed) continue;
    if (share.size() == 0 && share.stale == 0)
      Drop(share);
    else if (oldest == nullptr || share.doom < oldest->doom)
      oldest = &share;
  }
  return oldest;
}

uint64_t Owners::OldestDoom() const noexcept {
  uint64_t oldest = UINT64_MAX;
  if (doomed_keys_ == 0) return oldest;
  for (const auto& share : shares_) {
    if (share->doomed && share->size() != 0) oldest = std::min(oldest, share->doom);
  }
  return oldest;
}

const Quota* Owners::ShareOf(const Entry& entry) const noexcept {
  if (entry.owner() == own_.owner()) return nullptr;
  if (entered_) return &Of(entry);
  return ShareWithId(entry.owner());
}

bool Owners::InDoomedShare(const Entry& entry) const noexcept {
  const Quota* const share = ShareOf(entry);
  return share != nullptr && share->doomed;
}

void Owners::NoteMarks() noexcept {
  for (const auto& share : shares_) share->gone_before_marks = share->doomed;
}

bool Owners::GoneBeforeMarks(const Entry& entry) const noexcept {
  const Quota* const share = ShareOf(entry);
  return share != nullptr && share->gone_before_marks;
}

bool Owners::Validate() const noexcept {
  bool sound = own_.Validate();
  size_t doomed = 0;
  for (const auto& share : shares_) {
    sound =
        sound && share->Validate() && &share->home() == &home_ && share->doomed == (share->space == nullptr);
    if (share->space != nullptr) sound = sound && share->space->ShareIn(home_) == share.get();
    sound = sound && ShareWithId(share->owner()) == share.get();
    doomed += share->doomed ? share->size() : 0;
  }
  size_t by_id = 0;
  if (shares_by_id_ != nullptr)
    by_id = static_cast<size_t>(
        std::ranges::count_if(*shares_by_id_, [](const Quota* share) { return share != nullptr; }));
  return sound && doomed == doomed_keys_ && by_id == shares_.size();
}

}  // namespace mayfly
