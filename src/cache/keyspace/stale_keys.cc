#include "cache/keyspace/stale_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <new>

#include "cache/gone/stale_values.h"
#include "cache/time/expiry_stats.h"
#include "cache/time/lifetime.h"

namespace mayfly {

StaleKeys::StaleKeys(KeyspaceParts& parts, Owners& owners, Tags& tags, EntryMemory& memory,
                     uint8_t id) noexcept
    : parts_(parts), owners_(owners), tags_(tags), memory_(memory), id_(id) {}

StaleKeys::~StaleKeys() = default;

size_t StaleKeys::size() const noexcept { return values_ != nullptr ? values_->size() : 0; }
uint64_t StaleKeys::bytes() const noexcept { return values_ != nullptr ? values_->bytes() : 0; }

bool StaleKeys::Keep(uint64_t hash, Entry& entry, Now now) noexcept {
  const Expiry end = EndOfWindow(entry);
  if (end.Reached(now) || parts_.follows_master) return false;
  if (values_ == nullptr) {
    values_.reset(new (std::nothrow) StaleValues(parts_.heap, parts_.hasher, parts_.DrawTableOrder(),
                                                 parts_.rearm, id_, now));
    if (values_ == nullptr) return false;
  }
  if (!values_->Add(entry, hash, EntryMemory::Of(entry), end, now)) return false;
  ++owners_.Of(entry).stale;
  parts_.with_stale.Add(id_);
  if (entry.tags() != 0) tags_.Retire(entry);
  return true;
}

const Entry* StaleKeys::Find(const Key& key, Now now) noexcept {
  if (values_ == nullptr) [[likely]]
    return nullptr;
  Entry* const entry = values_->Find(key.text, key.hash);
  if (entry == nullptr) return nullptr;
  const bool invalidated = parts_.doomed != 0 && tags_.IsDoomed(*entry);
  if (entry->deadline().Reached(now) || invalidated || owners_.Doomed(*entry))
    return Free(key.hash, *entry), nullptr;
  if (parts_.access_effect != AccessEffect::kNone) values_->Touch(*entry, now);
  return entry;
}

void StaleKeys::DropOf(const Key& key) noexcept {
  if (Entry* const entry = values_->Find(key.text, key.hash)) Free(key.hash, *entry);
}

const Entry* StaleKeys::Coldest() const noexcept { return values_ != nullptr ? values_->Coldest() : nullptr; }

void StaleKeys::DropColdest() noexcept {
  Entry& entry = *values_->Coldest();
  Free(parts_.hasher(entry.key()), entry);
}

void StaleKeys::Evict() noexcept {
  DropColdest();
  ++parts_.expiry_stats.evicted_stale;
}

void StaleKeys::Free(uint64_t hash, Entry& entry) noexcept {
  values_->Remove(entry, hash, EntryMemory::Of(entry));
  --owners_.Of(entry).stale;
  if (values_->size() == 0) parts_.with_stale.Remove(id_);
  memory_.DeleteStale(entry);
}

// Stale values are in no list of their owner, so the scan passes all of them.
void StaleKeys::FreeDoomed(size_t* budget) noexcept {
  constexpr size_t kMost = 64;  // a later scan meets the rest
  constexpr size_t kCostOfPage = 10;
  std::array<Entry*, kMost> found;
  size_t count = 0;
  cursor_ = values_->Scan(cursor_, [&](Entry& entry) {
    if (count < kMost && owners_.Doomed(entry)) found[count++] = &entry;
  });
  for (size_t i = 0; i < count; ++i) Free(parts_.hasher(found[i]->key()), *found[i]);
  *budget -= std::min(*budget, count + kCostOfPage);
}

bool StaleKeys::Advance(Now now, size_t* budget) {
  if (values_ == nullptr) return false;
  return values_->Advance(now, budget, [&](Entry& entry) { Free(parts_.hasher(entry.key()), entry); });
}

uint64_t StaleKeys::NextWakeMs(Now now) const noexcept {
  return values_ != nullptr ? values_->NextWakeMs(now) : UINT64_MAX;
}

void StaleKeys::FollowWallStep(Now now) noexcept {
  if (values_ != nullptr) values_->FollowWallStep(now);
}

bool StaleKeys::DrainSome(size_t budget) noexcept {
  if (values_ == nullptr) return true;
  if (!values_->DrainSome(budget, [this](Entry& entry) { memory_.DeleteStale(entry); })) return false;
  values_.reset();
  return true;
}

}  // namespace mayfly
