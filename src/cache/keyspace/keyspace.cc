#include "cache/keyspace/keyspace.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <new>
#include <utility>

#include "cache/entry/rich_value.h"
#include "cache/gone/stale_values.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

const Event& EventOfRemoval(ChangeReason reason) noexcept {
  if (reason == ChangeReason::kExpired) return events::kExpired;
  return reason == ChangeReason::kEvicted ? events::kEvicted : events::kDel;
}

MissReason MissReasonOf(ChangeReason removal) noexcept {
  if (removal == ChangeReason::kExpired) return MissReason::kExpired;
  if (removal == ChangeReason::kEvicted) return MissReason::kEvicted;
  return removal == ChangeReason::kInvalidated ? MissReason::kInvalidated : MissReason::kDeleted;
}

}  // namespace

Keyspace::Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now)
    : parts_(parts),
      base_(parts.heap.base()),
      id_(id),
      phase_(0),
      database_(database),
      table_(EntryTablePolicy(parts.heap, parts.hasher), parts.DrawTableOrder()),
      own_(*this, id, base_, parts.quotas.moved()),
      deadlines_(base_, parts.rearm, id, now),
      tags_(parts.heap, parts.hasher, parts.DrawTableOrder(), parts.doomed) {}

Keyspace::~Keyspace() {
  while (!FreeSome(std::numeric_limits<size_t>::max())) {
  }
  for (const auto& other : others_) parts_.doomed -= other->doomed ? 1 : 0;
}

// ---- owners

void Keyspace::Enlist() noexcept {
  assert(!enlisted_);
  enlisted_ = true;
  assert(others_.empty());
  parts_.quotas.Enter(own_);
  parts_.keys += size();
  parts_.rearm.who.Add(id_);
}

void Keyspace::Delist() noexcept {
  assert(enlisted_);
  enlisted_ = false;
  parts_.quotas.Leave(own_);
  parts_.keys -= size();
  LeaveShares();
  parts_.with_stale.Remove(id_);
}

uint64_t Keyspace::bytes() const noexcept {
  uint64_t bytes = own_.bytes + table_.memory() + stale_bytes() + tags_.bytes();
  for (const auto& other : others_) bytes += other->bytes;
  return bytes;
}

Quota* Keyspace::QuotaWith(List list, const EvictionPool& pool) const noexcept {
  Quota& own = parts_.quotas.WithId(id_);
  if (pool.Has(own) && own.CountOf(list) != 0) return &own;
  for (const auto& other : others_) {
    if (pool.Has(*other) && other->CountOf(list) != 0) return other.get();
  }
  return nullptr;
}

// ---- lookup

int64_t Keyspace::TtlMs(const Entry& entry, Now now) noexcept {
  assert(entry.expires());
  const Expiry expiry = ExpiryOf(entry);
  return static_cast<int64_t>(expiry.deadline_ms - Deadlines::NowOn(expiry.kind, now));
}

int64_t Keyspace::UnixDeadlineMs(const Entry& entry, Now now) noexcept {
  assert(entry.expires());
  const Expiry expiry = ExpiryOf(entry);
  return expiry.kind == Expiry::Kind::kWall ? static_cast<int64_t>(expiry.deadline_ms)
                                            : now.WallOf(expiry.deadline_ms);
}

Entry* Keyspace::Random(std::mt19937_64& random, Now now) {
  constexpr int kTries = 100;  // many expired entries may wait for the wheel
  for (int i = 0; i < kTries; ++i) {
    const HeapRef ref = table_.Random(random);
    if (!ref) return nullptr;
    if (!Absent(*At(ref), now)) return At(ref);
  }
  for (const List list : {kLasting, kExpiring}) {
    const Quota* const quota = QuotaWith(list);
    Entry* const entry = quota != nullptr ? quota->Coldest(list) : nullptr;
    if (entry != nullptr && !Absent(*entry, now)) return entry;
  }
  return nullptr;
}

void Keyspace::CountHit(Entry& entry, Now now) noexcept {
  entry.set_stamp(LfuHit(entry.stamp(), now.mono_ms, parts_.lfu));
}

// ---- changes

Entry* Keyspace::Allocate(const Key& key, const Entry::Shape& shape, Expiry expiry) {
  EntryExtra* const extra = shape.extra.any() ? EntryExtra::New(shape.extra) : nullptr;
  void* memory = parts_.heap.Allocate(shape.Total());
  if (memory == nullptr) {
    EntryExtra::Delete(extra);
    throw std::bad_alloc();
  }
  Entry* entry = Entry::Format(memory, shape, key.text);
  entry->set_owner(id_);
  entry->set_flags(entry->flags() | phase_);
  if (extra != nullptr) entry->set_extra(extra);
  if (shape.expires) {
    if (expiry.kind == Expiry::Kind::kWall) entry->Set(EntryFlag::kWallDeadline);
    entry->set_deadline_ms(expiry.deadline_ms);
    entry->set_filed(wheel::kUnfiled);
  } else if (shape.timed) {
    entry->clear_wake();
    entry->set_filed(wheel::kUnfiled);
  }
  return entry;
}

Entry* Keyspace::Create(const Key& key, const Entry::Shape& shape, StringValue&& value, Expiry expiry,
                        Now now) {
  const uint8_t owner = OwnerOfNew(key.text);
  Entry* entry = Allocate(key, shape, expiry);
  entry->set_owner(owner);
  if (!table_.Insert(RefOf(*entry), key.hash)) {
    FreeMemory(*entry);
    throw std::bad_alloc();
  }
  parts_.shadow.Forget(id_, key.hash);
  DropStale(key);
  entry->set_encoding(value.encoding());
  const bool alone = value.encoding() < Encoding::kBlock && !shape.extra.any();
  value.StoreTo(entry->stored_data());
  Grow(*entry, alone ? Heap::SizeClass(shape.Total()) : BytesOf(*entry));
  entry->set_stamp(Entry::StampOf(now.mono_ms));
  if (parts_.BeginsYoung(id_, key.hash)) entry->set_young(true);
  File(*entry, now);
  NoteStored(*entry);
  return entry;
}

Entry* Keyspace::PutTextAnew(Key key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                             const Event& event) {
  return Put(key, existing, StringValue::Text(text), expiry, now, event);
}

Entry* Keyspace::PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                         Expiry expiry, Now now) {
  if (Marked(existing)) {
    ReportBefore(existing);
    return OverwriteAs(key, existing, shape, std::move(value), expiry, now);
  }
  Entry* entry = Allocate(key, shape, expiry);
  Grow(existing, 0 - BytesOf(existing));
  DropValue(existing);
  Replace(key, existing, *entry, now);
  entry->set_encoding(value.encoding());
  value.StoreTo(entry->stored_data());
  Grow(*entry, BytesOf(*entry));
  Touch(*entry, now);
  NoteStored(*entry);
  return entry;
}

Entry* Keyspace::PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event) {
  const uint32_t stamp = existing.stamp();
  const EntryTerms terms = existing.terms();
  // What is not reported is no change: PFCOUNT stores what it has counted, and is a read.
  Expiry kept = event.name.empty() ? ExpiryOf(existing) : KeptExpiry(key, existing, now);
  kept.standing = Expiry::Standing::kKept;
  Entry* entry = !existing.Has(EntryFlag::kExtra) ? Put(key, &existing, std::move(value), kept, now, event)
                                                  : PutOnTerms(key, &existing, std::move(value), kept, terms,
                                                               now, event, tags_.HoldThoseOf(existing));
  if (parts_.tracking == AccessTracking::kFrequency) entry->set_stamp(stamp);
  return entry;
}

Entry* Keyspace::Relocate(const Key& key, Entry& existing, const Entry::Shape& shape, Expiry deadline,
                          Expiry own, Now now) {
  Entry* entry = Allocate(key, shape, deadline);
  if (shape.extra.times && shape.expires) entry->times().terms = existing.terms();
  // With room for other tags it gets those by its caller.
  if (shape.extra.tags != 0 && existing.tags() == shape.extra.tags) tags_.Hand(existing, *entry);
  QuotaOf(existing).bytes -= BytesOf(existing);
  const std::string_view value = existing.stored();
  if (!value.empty()) std::memcpy(entry->stored_data(), value.data(), value.size());
  entry->set_encoding(existing.encoding());
  Replace(key, existing, *entry, now);
  Grow(*entry, BytesOf(*entry));
  if (own.kind != Expiry::Kind::kNever) deadlines_.SetTimes(*entry, deadline, own, now);
  return entry;
}

void Keyspace::Replace(const Key& key, Entry& old, Entry& fresh, Now now) {
  constexpr unsigned kOfTheShape = Entry::kOfTheRoom | Entry::Bit(EntryFlag::kWallDeadline);
  fresh.set_flags(static_cast<uint8_t>((old.flags() & ~kOfTheShape) | (fresh.flags() & kOfTheShape)));
  fresh.set_stamp(old.stamp());
  fresh.set_owner(old.owner());
  fresh.set_young(old.young());
  parts_.stale_guesses.Note(RefOf(old));
  [[maybe_unused]] const bool replaced = table_.Replace(RefOf(old), RefOf(fresh), key.hash);
  assert(replaced);
  // SIEVE and LFU keep the order of insertion.
  if (parts_.tracking != AccessTracking::kRecency && old.expires() == fresh.expires()) {
    QuotaOf(old).Replace(old, fresh);
    deadlines_.Unfile(old);
    if (fresh.expires()) deadlines_.File(fresh, now);
  } else {
    Unfile(old);
    File(fresh, now);
  }
  FreeMemory(old);
}

const Entry* Keyspace::LookAt(std::string_view text, Now now) const noexcept {
  const Entry* const entry = LookUp(text, HashOf(text));
  return entry != nullptr && !Absent(*entry, now) ? entry : nullptr;
}

void Keyspace::TakeOut(const Key& key, Entry& entry) noexcept {
  parts_.stale_guesses.Note(RefOf(entry));
  [[maybe_unused]] const bool erased = table_.EraseRef(RefOf(entry), key.hash);
  assert(erased);
  Unfile(entry);
}

void Keyspace::Remove(const Key& key, Entry& entry, ChangeReason reason) {
  parts_.PrefetchGone(id_, key.hash);
  TellBefore(entry);
  TakeOut(key, entry);
  parts_.NoteGone(id_, key.hash, MissReasonOf(reason));
  Tell(reason, EventOfRemoval(reason), entry.key(), &entry);
  Free(entry);
}

bool Keyspace::Delete(const Key& key, Now now) {
  Entry* entry = Peek(key, now);
  if (entry == nullptr) {
    parts_.shadow.Forget(id_, key.hash);
    DropStale(key);
    Tell(ChangeReason::kDeleted, events::kDel, key.text, nullptr);
    return false;
  }
  Remove(key, *entry, ChangeReason::kDeleted);
  return true;
}

void Keyspace::Report(ChangeReason reason, const Event& event, std::string_view key, Entry* entry) {
  if (event.name.empty()) return;
  const bool observed = entry == nullptr || entry->Has(EntryFlag::kObserved);
  const bool by_itself = reason == ChangeReason::kExpired || reason == ChangeReason::kEvicted ||
                         events::IsOfExpiredMembers(event);
  parts_.changes.Tell({.reason = reason,
                       .event = event,
                       .keyspace = *this,
                       .database = database_,
                       .key = key,
                       .entry = entry,
                       .client = by_itself ? 0 : parts_.client},
                      observed);
  if (observed && entry != nullptr) entry->Clear(EntryFlag::kObserved);
}

void Keyspace::ReportBefore(Entry& entry) noexcept {
  parts_.changes.TellBefore(*this, entry);
  Unmark(entry);
}

// ---- lists and deadlines

void Keyspace::File(Entry& entry, Now now) {
  ++parts_.keys;
  QuotaOf(entry).Push(entry);
  if (entry.expires()) deadlines_.File(entry, now);
}

void Keyspace::Unfile(Entry& entry) noexcept {
  Quota& quota = QuotaOf(entry);
  --(quota.doomed ? doomed_keys_ : parts_.keys);
  quota.Remove(entry);
  deadlines_.Unfile(entry);
}

// ---- memory

size_t Keyspace::BytesOf(const Entry& entry) noexcept {
  if (entry.encoding() >= Encoding::kBlock || entry.Has(EntryFlag::kExtra)) return MemoryOf(entry);
  return Heap::SizeClass(entry.allocated_bytes());
}

uint64_t Keyspace::MemoryOutside(Encoding encoding, size_t bytes) noexcept {
  return encoding == Encoding::kBlock ? Heap::SizeClass(SharedBytes::kHeaderBytes + bytes) : bytes;
}

uint64_t Keyspace::MemoryOf(const Entry& entry) noexcept {
  uint64_t bytes = Heap::SizeClass(entry.allocated_bytes());
  if (entry.Has(EntryFlag::kExtra)) bytes += Heap::SizeClass(entry.extra()->shape().Total());
  return bytes + MemoryOutside(entry.encoding(), OutsideBytes(entry));
}

char* Keyspace::OwnBlock(Entry& entry, size_t size) {
  SharedBytes block = SharedBytes::Adopt(entry.pointer());
  const size_t old = block.size();
  try {
    block.Own(size);
  } catch (...) {
    static_cast<void>(block.Release());  // the entry still owns its reference
    throw;
  }
  Grow(entry, MemoryOutside(Encoding::kBlock, block.size()) - MemoryOutside(Encoding::kBlock, old));
  NoteSize(entry, old, block.size());
  char* const bytes = block.data();
  StringValue::Block(std::move(block)).StoreTo(entry.stored_data());
  return bytes;
}

void Keyspace::FreeMemory(Entry& entry) noexcept {
  if (entry.Has(EntryFlag::kExtra)) FreeExtra(entry);
  parts_.heap.Free(&entry, entry.allocated_bytes());
}

void Keyspace::Free(Entry& entry) noexcept {
  QuotaOf(entry).bytes -= BytesOf(entry);
  DropValue(entry);
  FreeMemory(entry);
}

// ---- eviction

Entry* Keyspace::NearestDeadline(Now now) const noexcept {
  if (expiring() == 0) return nullptr;
  if (Entry* entry = deadlines_.Nearest(now); entry != nullptr && !Doomed(*entry)) return entry;
  // The nearest slots are full of entries with an own time, or of a doomed share. So a few of those with a TTL are compared.
  constexpr size_t kSamples = 16;
  Entry* nearest = nullptr;
  QuotaWith(kExpiring)->ForColdest(kExpiring, kSamples, [&](Entry& entry) {
    if (nearest == nullptr || TtlMs(entry, now) < TtlMs(*nearest, now)) nearest = &entry;
  });
  return nearest;
}

Entry* Keyspace::RandomOf(List list, std::mt19937_64& random) const {
  constexpr int kTries = 64;  // if few of many keys are in `list`, return its coldest
  const Quota* const quota = QuotaWith(list);
  if (quota == nullptr) return nullptr;
  for (int i = 0; i < kTries; ++i) {
    Entry* entry = At(table_.Random(random));
    if (Quota::ListOf(*entry) == list && !Doomed(*entry)) return entry;
  }
  return quota->Coldest(list);
}

Entry* Keyspace::RandomOf(const Quota& quota, List list, std::mt19937_64& random) const {
  constexpr int kTries = 64;
  if (quota.CountOf(list) == 0) return nullptr;
  for (int i = 0; i < kTries; ++i) {
    Entry* entry = At(table_.Random(random));
    if (Quota::ListOf(*entry) == list && entry->owner() == quota.owner()) return entry;
  }
  return quota.Coldest(list);
}

Entry* Keyspace::Sample(bool with_lasting, const EvictionPool& pool, std::mt19937_64& random) noexcept {
  assert(parts_.tracking == AccessTracking::kFrequency);
  Quota* quota = QuotaWith(kExpiring, pool);
  const List list = quota != nullptr ? kExpiring : kLasting;
  if (quota == nullptr && with_lasting) quota = QuotaWith(kLasting, pool);
  if (quota == nullptr) return nullptr;
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    Entry* entry = At(table_.Random(random));
    if ((with_lasting || entry->expires()) && pool.Has(QuotaOf(*entry))) return entry;
  }
  return quota->NextInTurn(list);
}

void Keyspace::Evict(Entry& entry, Now now) {
  if (Invalidated(entry)) return RemoveInvalidated(entry);
  ExpiryStats& stats = parts_.expiry_stats;
  ++stats.evicted_keys;
  stats.evicted_age_ms.Add(Entry::IdleMs(entry.stamp(), now.mono_ms));
  if (Namespace* const space = QuotaOf(entry).space) ++space->stats.evicted;
  const Key key = KeyOf(entry.key());
  if (parts_.ghosts.on()) [[unlikely]]
    parts_.ghosts.Add(KeyspaceParts::MarkOf(id_, key.hash));
  if (!parts_.shadow.on()) [[likely]]
    return Remove(key, entry, ChangeReason::kEvicted);
  const uint64_t bytes = MemoryOf(entry) + table_.memory() / table_.size();
  const Expiry deadline = ExpiryOf(entry);
  Remove(key, entry, ChangeReason::kEvicted);
  parts_.shadow.Add(id_, key.hash, bytes, deadline, now);
}

// ---- end

// Of a large keyspace, the last keys to go are remembered as deleted.
bool Keyspace::FreeSome(size_t budget) noexcept {
  if (stale_ != nullptr && !FreeSomeStale(budget)) return false;
  return table_.DrainSome(budget, [this](HeapRef ref) {
    Entry& entry = *At(ref);
    if (table_.size() < parts_.misses.capacity())
      parts_.NoteGone(id_, parts_.hasher(entry.key()), MissReason::kDeleted);
    own_.bytes -= BytesOf(entry);  // whoever its owner is: only the sum counts now
    DropValue(entry);
    FreeMemory(entry);
  });
}

bool Keyspace::AnyMarked() const noexcept {
  bool any = false;
  table_.ForEach([&](HeapRef ref) { any = any || Marked(*At(ref)); });
  return any;
}

bool Keyspace::Validate() const {
  if (!table_.Validate() || !deadlines_.Validate()) return false;
  size_t filed = 0;
  size_t wall = 0;
  size_t with_timed_members = 0;
  size_t with_two_times = 0;
  bool sound = true;
  size_t links = 0;
  table_.ForEach([&](HeapRef ref) {
    const Entry& entry = *At(ref);
    links += entry.tags();
    filed += Deadlines::Filed(entry);
    wall += Deadlines::Filed(entry) && entry.Has(EntryFlag::kWallDeadline);
    const Expiry own = OwnTimeOf(entry);
    const bool timed_members = entry.encoding() == Encoding::kRich && own.kind != Expiry::Kind::kNever;
    with_timed_members += timed_members;
    with_two_times += Deadlines::Filed(entry) && entry.has_two_times();
    sound = sound && table_.Find(entry.key(), parts_.hasher(entry.key())) == ref &&
            deadlines_.ValidateEntry(entry, own) && entry.Has(EntryFlag::kTimedMembers) == timed_members;
  });
  sound = sound && ValidateQuota(own_) && ValidateShares();
  return sound && ValidateStale(&links) && tags_.Validate(links) &&
         CountOf(kLasting) + CountOf(kExpiring) == size() && filed == deadlines_.size() &&
         wall == deadlines_.on_wall_clock() && with_timed_members == deadlines_.with_timed_members() &&
         with_two_times == deadlines_.with_two_times();
}

bool Keyspace::ValidateQuota(const Quota& quota) const {
  size_t counts[2] = {0, 0};
  size_t young[2] = {0, 0};
  uint64_t bytes = 0;
  table_.ForEach([&](HeapRef ref) {
    const Entry& entry = *At(ref);
    if (entry.owner() != quota.owner()) return;
    ++counts[Quota::ListOf(entry)];
    young[Quota::ListOf(entry)] += entry.young() ? 1 : 0;
    bytes += BytesOf(entry);
  });
  return quota.Validate() && bytes == quota.bytes && counts[kLasting] == quota.CountOf(kLasting) &&
         counts[kExpiring] == quota.CountOf(kExpiring) && young[kLasting] == quota.YoungIn(kLasting) &&
         young[kExpiring] == quota.YoungIn(kExpiring);
}

}  // namespace mayfly
