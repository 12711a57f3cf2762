// The part of Keyspace for keys with a window after their deadline, and for their stale values. It gives a value its
// window, and moves the value to cache/gone/stale_values.h when the key has expired.
//
// A key is there or its value is stale, never both: creating the key drops the stale value. The store of stale values
// is made when the first one comes. In time nothing may fail: if there is no memory for it, the value is freed.
#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <new>
#include <utility>

#include "cache/gone/stale_values.h"
#include "cache/keyspace/keyspace.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

Expiry EndOfWindow(const Entry& entry) noexcept {
  constexpr uint64_t kLatest = std::numeric_limits<int64_t>::max();
  const Expiry deadline = entry.deadline();
  const uint64_t left = kLatest - std::min(deadline.deadline_ms, kLatest);
  return {deadline.kind, deadline.deadline_ms + std::min(entry.stale_ms(), left)};
}

}  // namespace

// ---- keys with a window

Entry* Keyspace::PutOnTerms(const Key& key, Entry* existing, StringValue&& value, Expiry expiry,
                            EntryTerms terms, Now now, const Event& event, TagHold tags) {
  const Expiry wanted = expiry;
  expiry = Obeying(key.text, wanted, now);
  FitSlide(key.text, terms, wanted, expiry, now);
  Entry* const entry = Place(key, existing, std::move(value), expiry, terms, std::move(tags), now);
  Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated, event, key.text, entry);
  return entry;
}

Entry* Keyspace::Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
                       TagHold tags, Now now) {
  Entry::Shape shape = ShapeFor(key, value.stored_bytes(), expiry);
  const bool on_terms = shape.expires && terms.any();
  shape.extra.times |= on_terms;
  shape.extra.tags = tags.size();
  if (existing != nullptr) TellBefore(*existing);
  Entry* const entry = existing == nullptr
                           ? Create(key, shape, std::move(value), expiry, now)
                           : OverwriteAs(key, *existing, shape, std::move(value), expiry, now);
  if (on_terms) entry->times().terms = terms;
  if (!tags.empty()) tags_.Link(*entry, std::move(tags));
  return entry;
}

// ---- stale values

void Keyspace::Retire(const Key& key, Entry& entry, Now now) {
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.NoteGone(id_, key.hash, MissReason::kExpired);
  Tell(ChangeReason::kExpired, events::kExpired, entry.key(), &entry);
  if (!KeepStale(key.hash, entry, now)) return Free(entry);
  QuotaOf(entry).bytes -= BytesOf(entry);
  if (entry.encoding() == Encoding::kBlock) parts_.big_keys.Forget(id_, key.hash);
}

bool Keyspace::KeepStale(uint64_t hash, Entry& entry, Now now) noexcept {
  const Expiry end = EndOfWindow(entry);
  if (end.Reached(now)) return false;
  if (stale_ == nullptr) {
    stale_.reset(new (std::nothrow) StaleValues(parts_.heap, parts_.hasher, parts_.DrawTableOrder(),
                                                parts_.rearm, id_, now));
    if (stale_ == nullptr) return false;
  }
  if (!stale_->Add(entry, hash, MemoryOf(entry), end, now)) return false;
  ++QuotaOf(entry).stale;
  parts_.with_stale.Add(id_);
  if (entry.tags() != 0) tags_.Retire(entry);
  return true;
}

const Entry* Keyspace::FindStale(const Key& key, Now now) noexcept {
  if (stale_ == nullptr) [[likely]]
    return nullptr;
  Entry* const entry = stale_->Find(key.text, key.hash);
  if (entry == nullptr) return nullptr;
  if (entry->deadline().Reached(now) || Invalidated(*entry) || Doomed(*entry))
    return FreeStale(key.hash, *entry), nullptr;
  if (parts_.tracking != AccessTracking::kNone) stale_->Touch(*entry, now);
  return entry;
}

void Keyspace::DropStaleOf(const Key& key) noexcept {
  if (Entry* const entry = stale_->Find(key.text, key.hash)) FreeStale(key.hash, *entry);
}

const Entry* Keyspace::ColdestStale() const noexcept {
  return stale_ != nullptr ? stale_->Coldest() : nullptr;
}

void Keyspace::EvictStale() noexcept {
  Entry& entry = *stale_->Coldest();
  FreeStale(parts_.hasher(entry.key()), entry);
  ++parts_.expiry_stats.evicted_stale;
}

void Keyspace::FreeStale(uint64_t hash, Entry& entry) noexcept {
  stale_->Remove(entry, hash, MemoryOf(entry));
  --QuotaOf(entry).stale;
  if (stale_->size() == 0) parts_.with_stale.Remove(id_);
  FreeTaken(entry);
}

// Not by DropValue, which would also forget the size of a key that was created meanwhile.
void Keyspace::FreeTaken(Entry& entry) noexcept {
  assert(entry.encoding() != Encoding::kRich);
  if (entry.encoding() == Encoding::kBlock) static_cast<void>(SharedBytes::Adopt(entry.pointer()));
  FreeMemory(entry);
}

size_t Keyspace::stale_values() const noexcept { return stale_ != nullptr ? stale_->size() : 0; }
uint64_t Keyspace::stale_bytes() const noexcept { return stale_ != nullptr ? stale_->bytes() : 0; }

bool Keyspace::AdvanceStale(Now now, size_t* budget) {
  return stale_->Advance(now, budget, [&](Entry& entry) { FreeStale(parts_.hasher(entry.key()), entry); });
}

bool Keyspace::FreeSomeStale(size_t budget) noexcept {
  if (!stale_->DrainSome(budget, [this](Entry& entry) { FreeTaken(entry); })) return false;
  stale_.reset();
  return true;
}

bool Keyspace::ValidateStale(size_t* links) const {
  if (parts_.with_stale.Has(id_) != (enlisted_ && stale_values() != 0)) return !enlisted_;
  if (stale_ == nullptr) return true;
  bool sound = stale_->Validate();
  uint64_t bytes = 0;
  stale_->ForEach([&](const Entry& entry) {
    bytes += MemoryOf(entry);
    *links += entry.tags();
    sound = sound && LookUp(entry.key(), parts_.hasher(entry.key())) == nullptr;
  });
  return sound && bytes == stale_->entry_bytes();
}

}  // namespace mayfly
