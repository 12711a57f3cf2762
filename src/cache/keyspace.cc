#include "cache/keyspace.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <new>
#include <utility>

namespace mayfly {
namespace {

uint64_t WallMs(Now now) noexcept { return static_cast<uint64_t>(std::max<int64_t>(now.wall_ms, 0)); }

uint64_t NowOn(Expiry::Kind kind, Now now) noexcept {
  return kind == Expiry::Kind::kWall ? WallMs(now) : now.mono_ms;
}

const Event& EventOfRemoval(ChangeReason reason) noexcept {
  if (reason == ChangeReason::kExpired) return events::kExpired;
  return reason == ChangeReason::kEvicted ? events::kEvicted : events::kDel;
}

}  // namespace

Keyspace::Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now)
    : parts_(parts),
      base_(parts.heap.base()),
      id_(id),
      phase_(0),
      database_(database),
      table_(EntryTablePolicy(parts.heap, parts.hasher)),
      lists_{Lru(EntryLruHooks(base_)), Lru(EntryLruHooks(base_))},
      mono_wheel_(EntryWheelHooks(base_), now.mono_ms),
      wall_wheel_(EntryWheelHooks(base_), WallMs(now)) {}

Keyspace::~Keyspace() {
  while (!FreeSome(std::numeric_limits<size_t>::max())) {
  }
}

// ---- lookup

int64_t Keyspace::TtlMs(const Entry& entry, Now now) noexcept {
  assert(entry.expires());
  const Expiry expiry = ExpiryOf(entry);
  return static_cast<int64_t>(expiry.deadline_ms - NowOn(expiry.kind, now));
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
    if (!Expired(*At(ref), now)) return At(ref);
  }
  Entry* live = nullptr;
  for (Entry* entry : {Coldest(kLasting), Coldest(kExpiring)}) {
    if (live == nullptr && entry != nullptr && !Expired(*entry, now)) live = entry;
  }
  return live;
}

void Keyspace::CountHit(Entry& entry, Now now) noexcept {
  entry.set_stamp(LfuHit(entry.stamp(), now.mono_ms, parts_.lfu));
}

// ---- changes

Entry* Keyspace::Allocate(const Key& key, const Entry::Shape& shape, Expiry expiry) {
  std::unique_ptr<EntryExtra> extra;
  if (shape.extra) extra = std::make_unique<EntryExtra>();
  void* memory = parts_.heap.Allocate(shape.Total());
  if (memory == nullptr) throw std::bad_alloc();
  Entry* entry = Entry::Format(memory, shape, key.text);
  entry->set_owner(id_);
  entry->set_flags(entry->flags() | phase_);
  if (shape.extra) entry->set_extra(extra.release());
  if (shape.expires) {
    if (expiry.kind == Expiry::Kind::kWall) entry->Set(EntryFlag::kWallDeadline);
    entry->set_deadline_ms(expiry.deadline_ms);
    entry->set_filed(wheel::kUnfiled);
  }
  return entry;
}

Entry* Keyspace::Create(const Key& key, StringValue&& value, Expiry expiry, Now now) {
  const Entry::Shape shape = ShapeFor(key, value.stored_bytes(), expiry);
  Entry* entry = Allocate(key, shape, expiry);
  if (!table_.Insert(RefOf(*entry), key.hash)) {
    FreeMemory(*entry);
    throw std::bad_alloc();
  }
  entry->set_encoding(value.encoding());
  bytes_ += value.outside_bytes() + Heap::SizeClass(shape.Total());
  value.StoreTo(entry->stored_data());
  entry->set_stamp(Entry::StampOf(now.mono_ms));
  File(*entry, now);
  return entry;
}

Entry* Keyspace::PutTextAnew(const Key& key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                             const Event& event) {
  return Put(key, existing, StringValue::Text(text), expiry, now, event);
}

Entry* Keyspace::Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, Now now) {
  if (existing == nullptr) return Create(key, std::move(value), expiry, now);
  return Overwrite(key, *existing, std::move(value), expiry, now);
}

// For a wall clock that was set back, or an entry that changes wheels.
void Keyspace::RefileByWall(Entry& entry, Expiry expiry, Now now) {
  const bool wall = expiry.kind == Expiry::Kind::kWall;
  if (wall) FollowWallStepBack(now);
  if (wall == entry.Has(EntryFlag::kWallDeadline)) return MoveInWheel(entry, expiry);
  WheelOf(entry).Remove(RefOf(entry));
  wall ? entry.Set(EntryFlag::kWallDeadline) : entry.Clear(EntryFlag::kWallDeadline);
  entry.set_deadline_ms(expiry.deadline_ms);
  FileInWheel(entry, now);
}

Entry* Keyspace::PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                         Expiry expiry, Now now) {
  if (Marked(existing)) {
    ReportBefore(existing);
    return Overwrite(key, existing, std::move(value), expiry, now);
  }
  Entry* entry = Allocate(key, shape, expiry);
  bytes_ += value.outside_bytes() + Heap::SizeClass(shape.Total()) - BytesOf(existing);
  DropValue(existing);
  Replace(key, existing, *entry, now);
  entry->set_encoding(value.encoding());
  value.StoreTo(entry->stored_data());
  Touch(*entry, now);
  return entry;
}

Entry* Keyspace::PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event) {
  const uint32_t stamp = existing.stamp();
  Entry* entry = Put(key, &existing, std::move(value), ExpiryOf(existing), now, event);
  if (parts_.tracking == AccessTracking::kFrequency) entry->set_stamp(stamp);
  return entry;
}

Entry* Keyspace::SetExpiry(const Key& key, Entry& existing, Expiry expiry, Now now) {
  Entry* entry = &existing;
  TellBefore(existing);
  const Entry::Shape shape = ShapeFor(key, existing.stored().size(), expiry);
  if (shape.expires == existing.expires() && shape.extra == existing.Has(EntryFlag::kExtra)) {
    if (shape.expires) Refile(existing, expiry, now);
  } else {
    entry = Allocate(key, shape, expiry);
    bytes_ -= BytesOf(existing);
    const std::string_view value = existing.stored();
    if (!value.empty()) std::memcpy(entry->stored_data(), value.data(), value.size());
    entry->set_encoding(existing.encoding());
    Replace(key, existing, *entry, now);
    bytes_ += BytesOf(*entry);
  }
  TouchFound(*entry, now);
  const bool lasts = expiry.kind == Expiry::Kind::kNever;
  Tell(ChangeReason::kExpiryChanged, lasts ? events::kPersist : events::kExpire, key.text, entry);
  return entry;
}

void Keyspace::Replace(const Key& key, Entry& old, Entry& fresh, Now now) {
  constexpr auto kOfTheShape = static_cast<uint8_t>(EntryFlag::kExpires) |
                               static_cast<uint8_t>(EntryFlag::kWallDeadline) |
                               static_cast<uint8_t>(EntryFlag::kExtra);
  fresh.set_flags(static_cast<uint8_t>((old.flags() & ~kOfTheShape) | (fresh.flags() & kOfTheShape)));
  fresh.set_stamp(old.stamp());
  parts_.stale_guesses.Note(RefOf(old));
  [[maybe_unused]] const bool replaced = table_.Replace(RefOf(old), RefOf(fresh), key.hash);
  assert(replaced);
  // SIEVE and LFU keep the order of insertion.
  if (parts_.tracking != AccessTracking::kRecency && ListOf(old) == ListOf(fresh)) {
    lists_[ListOf(old)].Replace(RefOf(old), RefOf(fresh));
    UnfileFromWheel(old);
    FileInTime(fresh, now);
  } else {
    Unfile(old);
    File(fresh, now);
  }
  FreeMemory(old);
}

void Keyspace::TakeOut(const Key& key, Entry& entry) noexcept {
  parts_.stale_guesses.Note(RefOf(entry));
  [[maybe_unused]] const bool erased = table_.EraseRef(RefOf(entry), key.hash);
  assert(erased);
  Unfile(entry);
}

void Keyspace::Remove(const Key& key, Entry& entry, ChangeReason reason) {
  TellBefore(entry);
  TakeOut(key, entry);
  Tell(reason, EventOfRemoval(reason), entry.key(), &entry);
  Free(entry);
}

bool Keyspace::Delete(const Key& key, Now now) {
  Entry* entry = Peek(key, now);
  if (entry == nullptr) {
    Tell(ChangeReason::kDeleted, events::kDel, key.text, nullptr);
    return false;
  }
  Remove(key, *entry, ChangeReason::kDeleted);
  return true;
}

void Keyspace::Report(ChangeReason reason, const Event& event, std::string_view key, const Entry* entry) {
  const bool observed = entry == nullptr || entry->Has(EntryFlag::kObserved);
  if (event.name.empty() || (!observed && !parts_.changes.WantsUnobserved(reason))) return;
  const bool by_itself = reason == ChangeReason::kExpired || reason == ChangeReason::kEvicted;
  parts_.changes.Tell({.reason = reason,
                       .event = event,
                       .keyspace = *this,
                       .database = database_,
                       .key = key,
                       .entry = entry,
                       .client = by_itself ? 0 : parts_.client},
                      observed);
}

void Keyspace::ReportBefore(Entry& entry) noexcept {
  parts_.changes.TellBefore(*this, entry);
  Unmark(entry);
}

// ---- lists and wheels

void Keyspace::File(Entry& entry, Now now) {
  lists_[ListOf(entry)].PushHottest(RefOf(entry));
  FileInTime(entry, now);
}

void Keyspace::FileInTime(Entry& entry, Now now) noexcept {
  if (!entry.expires()) return;
  if (entry.Has(EntryFlag::kWallDeadline)) FollowWallStepBack(now);
  FileInWheel(entry, now);
}

void Keyspace::FileInWheel(Entry& entry, Now now) noexcept {
  Wheel& wheel = WheelOf(entry);
  // An empty wheel is not advanced: it stands where its last entry left it.
  if (wheel.size() == 0) {
    const uint64_t to = entry.Has(EntryFlag::kWallDeadline) ? WallMs(now) : now.mono_ms;
    static_cast<void>(wheel.Advance(to, {}, 0));
  }
  if (wheel.Insert(RefOf(entry))) parts_.rearm = true;
}

void Keyspace::Unfile(Entry& entry) noexcept {
  lists_[ListOf(entry)].Remove(RefOf(entry));
  UnfileFromWheel(entry);
}

void Keyspace::UnfileFromWheel(Entry& entry) noexcept {
  // An entry that the wheel has just handed back is no longer in it.
  if (entry.expires() && WheelOf(entry).Contains(RefOf(entry))) WheelOf(entry).Remove(RefOf(entry));
}

void Keyspace::FollowWallStepBack(Now now) noexcept {
  if (WallMs(now) < wall_wheel_.elapsed()) {
    wall_wheel_.Rewind(WallMs(now));
    parts_.rearm = true;
  }
}

// ---- memory

size_t Keyspace::BytesOf(const Entry& entry) noexcept {
  const size_t outside = entry.encoding() < Encoding::kBlock ? 0 : OutsideBytes(entry);
  return Heap::SizeClass(entry.allocated_bytes()) + outside;
}

uint64_t Keyspace::MemoryOf(const Entry& entry) noexcept {
  uint64_t bytes = Heap::SizeClass(entry.allocated_bytes());
  if (entry.Has(EntryFlag::kExtra)) bytes += Heap::SizeClass(sizeof(EntryExtra));
  const size_t outside = OutsideBytes(entry);
  const bool block = entry.encoding() == Encoding::kBlock;
  return bytes + (block ? Heap::SizeClass(SharedBytes::kHeaderBytes + outside) : outside);
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
  bytes_ += block.size() - old;
  char* const bytes = block.data();
  StringValue::Block(std::move(block)).StoreTo(entry.stored_data());
  return bytes;
}

void Keyspace::FreeMemory(Entry& entry) noexcept {
  if (entry.Has(EntryFlag::kExtra)) delete entry.extra();
  parts_.heap.Free(&entry, entry.allocated_bytes());
}

void Keyspace::Free(Entry& entry) noexcept {
  bytes_ -= BytesOf(entry);
  DropValue(entry);
  FreeMemory(entry);
}

// ---- expiry

void Keyspace::CountExpired(const Entry& entry, uint64_t lag_ms, Now now) noexcept {
  ++parts_.expiry_stats.expired_keys;
  // A key that was set with a deadline in the past is not late: its last access is after its deadline.
  const uint64_t age_ms = Entry::IdleMs(entry.stamp(), now.mono_ms) + Entry::StampUnitMs(entry.stamp());
  if (lag_ms <= age_ms) parts_.expiry_stats.lag_us.Add(lag_ms * 1000);
}

void Keyspace::Expire(Entry& entry, Now now) {
  const Expiry expiry = ExpiryOf(entry);
  CountExpired(entry, NowOn(expiry.kind, now) - expiry.deadline_ms, now);
  Remove(KeyOf(entry.key()), entry, ChangeReason::kExpired);
}

bool Keyspace::AdvanceWheel(Wheel& wheel, uint64_t to, Now now, size_t* budget) {
  constexpr size_t kBatch = 64;
  std::array<HeapRef, kBatch> due;
  std::array<uint64_t, kBatch> hashes;
  for (;;) {
    const typename Wheel::Progress progress = wheel.Advance(to, due, *budget);
    // Two passes: the memory that a removal touches is prefetched before the first removal.
    for (size_t i = 0; i < progress.due; ++i) {
      const Entry& entry = *At(due[i]);
      hashes[i] = parts_.hasher(entry.key());
      table_.PrefetchGroup(hashes[i]);
      if (entry.colder()) PrefetchToWrite(At(entry.colder()));
      if (entry.hotter()) PrefetchToWrite(At(entry.hotter()));
    }
    for (size_t i = 0; i < progress.due; ++i) {
      Entry& entry = *At(due[i]);
      CountExpired(entry, to - entry.deadline_ms(), now);
      Remove({entry.key(), hashes[i]}, entry, ChangeReason::kExpired);
    }
    *budget -= progress.touched;
    if (!progress.more) return false;
    if (*budget == 0) return true;
  }
}

bool Keyspace::Advance(Now now, size_t* budget) {
  FollowWallStepBack(now);
  const auto advance = [&](Wheel& wheel, uint64_t to) {
    return wheel.size() != 0 && AdvanceWheel(wheel, to, now, budget);
  };
  // The wheels take turns at going first, or a backlog on one would use up every budget.
  wall_first_ = !wall_first_;
  bool more = wall_first_ && advance(wall_wheel_, WallMs(now));
  more |= advance(mono_wheel_, now.mono_ms);
  if (!wall_first_) more |= advance(wall_wheel_, WallMs(now));
  return more;
}

size_t Keyspace::Backlog(Now now, size_t most) const {
  size_t count = 0;
  const auto counted = [&](HeapRef) { return ++count < most; };
  if (count < most) mono_wheel_.ForEachUntil(now.mono_ms, counted);
  if (count < most) wall_wheel_.ForEachUntil(WallMs(now), counted);
  return count;
}

uint64_t Keyspace::NextWakeMs(Now now) const noexcept {
  // Call NextWake on an empty wheel too: its result is what its next Insert compares with.
  const auto from = [](const Wheel& wheel, uint64_t clock) {
    const uint64_t wake = wheel.NextWake();
    if (wake == Wheel::kNever) return Wheel::kNever;
    return wake <= clock ? 0 : wake - clock;
  };
  return std::min(from(mono_wheel_, now.mono_ms), from(wall_wheel_, WallMs(now)));
}

// ---- eviction

Entry* Keyspace::Coldest(List list) const noexcept {
  const HeapRef ref = lists_[list].coldest();
  return ref ? At(ref) : nullptr;
}

Entry* Keyspace::NearestDeadline(Now now) const noexcept {
  const HeapRef mono = mono_wheel_.Soonest();
  const HeapRef wall = wall_wheel_.Soonest();
  if (!mono || !wall) return mono ? At(mono) : wall ? At(wall) : nullptr;
  return TtlMs(*At(mono), now) <= TtlMs(*At(wall), now) ? At(mono) : At(wall);
}

Entry* Keyspace::RandomOf(List list, std::mt19937_64& random) const {
  constexpr int kTries = 64;  // if few of many keys are in `list`, return its coldest
  if (lists_[list].empty()) return nullptr;
  for (int i = 0; i < kTries; ++i) {
    Entry* entry = At(table_.Random(random));
    if (ListOf(*entry) == list) return entry;
  }
  return Coldest(list);
}

Entry* Keyspace::Sample(bool with_lasting, std::mt19937_64& random) noexcept {
  assert((with_lasting ? size() : expiring()) != 0 && parts_.tracking == AccessTracking::kFrequency);
  if (with_lasting) return At(table_.Random(random));
  constexpr int kTries = 8;
  for (int i = 0; i < kTries; ++i) {
    Entry* entry = At(table_.Random(random));
    if (entry->expires()) return entry;
  }
  // The hand belongs to SIEVE, so LFU may use it to walk the list.
  Lru& list = lists_[kExpiring];
  const HeapRef next = list.hand() ? list.hand() : list.coldest();
  list.set_hand(list.Hotter(next));
  return At(next);
}

void Keyspace::Evict(Entry& entry) {
  ++parts_.expiry_stats.evicted_keys;
  Remove(KeyOf(entry.key()), entry, ChangeReason::kEvicted);
}

// ---- end

bool Keyspace::FreeSome(size_t budget) noexcept {
  return table_.DrainSome(budget, [this](HeapRef ref) { Free(*At(ref)); });
}

bool Keyspace::Validate() const {
  if (!table_.Validate() || !lists_[kLasting].Validate() || !lists_[kExpiring].Validate()) return false;
  if (!mono_wheel_.Validate() || !wall_wheel_.Validate()) return false;
  size_t counts[2] = {0, 0};
  size_t wall = 0;
  uint64_t bytes = 0;
  bool sound = true;
  table_.ForEach([&](HeapRef ref) {
    const Entry& entry = *At(ref);
    ++counts[ListOf(entry)];
    wall += entry.expires() && entry.Has(EntryFlag::kWallDeadline);
    bytes += BytesOf(entry);
    sound = sound && entry.owner() == id_ && table_.Find(entry.key(), parts_.hasher(entry.key())) == ref;
  });
  return sound && bytes == bytes_ && counts[kLasting] == lists_[kLasting].size() &&
         counts[kExpiring] == lists_[kExpiring].size() && wall == wall_wheel_.size() &&
         counts[kExpiring] - wall == mono_wheel_.size();
}

}  // namespace mayfly
