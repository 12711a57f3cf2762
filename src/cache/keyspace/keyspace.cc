#include "cache/keyspace/keyspace.h"

#include <algorithm>
#include <cassert>
#include <iterator>
#include <limits>
#include <new>
#include <utility>

#include "cache/gone/stale_values.h"
#include "cache/keyspace/reaper.h"
#include "cache/keyspace/tasks.h"
#include "cache/table/hash_table_resize.h"
#include "cache/time/expiry_stats.h"

namespace mayfly {

template class HashTable<EntryTablePolicy>;

Keyspace::Keyspace(KeyspaceParts& parts, uint8_t id, unsigned database, Now now)
    : parts_(parts),
      base_(parts.heap.base()),
      id_(id),
      database_(database),
      table_(EntryTablePolicy(parts.heap, parts.hasher), parts.DrawTableOrder()),
      tags_(parts.heap, parts.hasher, parts.DrawTableOrder(), parts.doomed),
      owners_(*this, parts, id),
      memory_(parts, tags_, id),
      lifetimes_(parts, id, now),
      stale_(parts, owners_, tags_, memory_, id),
      tasks_(std::make_unique<Tasks>(*this)),
      reaper_(std::make_unique<Reaper>(*this, *tasks_)) {}

Keyspace::~Keyspace() {
  while (!FreeSome(std::numeric_limits<size_t>::max())) {
  }
}

void Keyspace::Enlist() noexcept {
  assert(!enlisted_);
  enlisted_ = true;
  owners_.Enter();
  memory_.Enter();
  parts_.keys += size();
  parts_.rearm.who.Add(id_);
}

void Keyspace::Delist() noexcept {
  assert(enlisted_);
  enlisted_ = false;
  parts_.keys -= size();
  owners_.Leave();
  memory_.Leave();
  parts_.with_stale.Remove(id_);
}

// ---- lookup

const Entry* Keyspace::LookAt(const Key& key, Now now) const noexcept {
  const Entry* const entry = LookUp(key.text, key.hash);
  return entry != nullptr && !Absent(*entry, now) ? entry : nullptr;
}

Entry* Keyspace::Random(std::mt19937_64& random, Now now) {
  constexpr int kTries = 100;  // many expired entries may wait for the wheel
  for (int i = 0; i < kTries; ++i) {
    const HeapRef ref = table_.Random(random);
    if (!ref) return nullptr;
    if (!Absent(*At(ref), now)) return At(ref);
  }
  for (const List list : Quota::kLists) {
    const Quota* const quota = owners_.With(list);
    Entry* const entry = quota != nullptr ? quota->Coldest(list) : nullptr;
    if (entry != nullptr && !Absent(*entry, now)) return entry;
  }
  return nullptr;
}

void Keyspace::CountHit(Entry& entry, Now now) noexcept {
  entry.set_stamp(LfuHit(entry.stamp(), now.mono_ms, parts_.lfu));
}

void Keyspace::TouchWalked(Entry& entry, Now now) noexcept {
  TellBefore(entry);
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  owners_.Of(entry).MoveWalked(entry);
}

// An entry that no policy evicts stays where it is in its list: the order of use says nothing there.
void Keyspace::TouchExtra(Entry& entry, Now now) noexcept {
  Slide(entry, now);
  if (entry.evictable()) return TouchPlain(entry, now);
  if (parts_.access_effect == AccessEffect::kNone) return;
  parts_.access_effect == AccessEffect::kFrequency ? CountHit(entry, now)
                                                   : entry.set_stamp(Entry::StampOf(now.mono_ms));
}

void Keyspace::Slide(Entry& entry, Now now) noexcept {
  if (parts_.expired_keys != ExpiredKeys::kRemoved) return;  // the master decides
  if (parts_.access_effect == AccessEffect::kNone || entry.ready()) return;
  const Expiry deadline = Lifetimes::Slid(entry, now);
  if (deadline.kind == Expiry::Kind::kNever) return;
  TellBefore(entry);
  lifetimes_.deadlines().SetTimes(entry, deadline, OwnTimeOf(entry), now);
  Tell(ChangeReason::kSlid, events::kSlid, entry.key(), &entry);
}

// ---- put

Entry* Keyspace::NewEntry(const Key& key, const Entry::Shape& shape, Expiry expiry) {
  Entry* const entry = memory_.New(key, shape, expiry);
  entry->set_flags(entry->flags() | marks_.phase());
  return entry;
}

Entry* Keyspace::Create(const Key& key, const Entry::Shape& shape, StringValue&& value, Expiry expiry,
                        Now now) {
  const uint8_t owner = owners_.ForNew(key.text);
  Entry* entry = NewEntry(key, shape, expiry);
  entry->set_owner(owner);
  if (!table_.Insert(RefOf(*entry), key.hash)) {
    memory_.Delete(*entry);
    throw std::bad_alloc();
  }
  stale_.Drop(key);
  entry->set_encoding(value.encoding());
  value.StoreTo(entry->stored_data());
  FileNew(*entry, key.hash, now);
  memory_.NoteStored(*entry);
  return entry;
}

void Keyspace::FileNew(Entry& entry, uint64_t hash, Now now) noexcept {
  owners_.Grow(entry, EntryMemory::BytesOf(entry));
  entry.set_stamp(Entry::StampOf(now.mono_ms));
  if (parts_.departures.Came(id_, hash)) entry.set_young(true);
  File(entry, now);
}

Entry* Keyspace::PutTextAnew(Key key, Entry* existing, std::string_view text, Expiry expiry, Now now,
                             const Event& event) {
  return Put(key, existing, StringValue::Text(text), expiry, now, event);
}

Entry* Keyspace::PutAnew(const Key& key, Entry& existing, const Entry::Shape& shape, StringValue&& value,
                         Expiry expiry, Now now) {
  if (marks_.Has(existing)) {
    ReportBefore(existing);
    return OverwriteAs(key, existing, shape, std::move(value), expiry, now);
  }
  Entry* entry = NewEntry(key, shape, expiry);
  owners_.Grow(existing, 0 - EntryMemory::BytesOf(existing));
  if (existing.Has(EntryFlag::kTimedMembers)) lifetimes_.deadlines().Unfile(existing);  // looks at the value
  memory_.DropValue(existing);
  Replace(key, existing, *entry, now);
  entry->set_encoding(value.encoding());
  value.StoreTo(entry->stored_data());
  owners_.Grow(*entry, EntryMemory::BytesOf(*entry));
  Touch(*entry, now);
  memory_.NoteStored(*entry);
  return entry;
}

Entry* Keyspace::PutValue(const Key& key, Entry& existing, StringValue&& value, Now now, const Event& event) {
  const uint32_t stamp = existing.stamp();
  const EntryTerms terms = existing.terms();
  // An unreported change is no change: PFCOUNT stores its count, and is a read.
  Expiry kept = event.name.empty() ? existing.deadline() : lifetimes_.Kept(key.text, existing, now);
  kept.stage = Expiry::Stage::kKept;
  Entry* entry = !existing.Has(EntryFlag::kExtra) ? Put(key, &existing, std::move(value), kept, now, event)
                                                  : PutOnTerms(key, &existing, std::move(value), kept, terms,
                                                               now, event, tags_.HoldThoseOf(existing));
  if (parts_.access_effect == AccessEffect::kFrequency) entry->set_stamp(stamp);
  return entry;
}

Entry* Keyspace::PutOnTerms(const Key& key, Entry* existing, StringValue&& value, Expiry expiry,
                            EntryTerms terms, Now now, const Event& event, TagHold tags) {
  const Expiry wanted = expiry;
  const bool is_kept = wanted.stage == Expiry::Stage::kKept;
  const bool ready = is_kept && existing != nullptr && existing->ready();
  expiry = lifetimes_.Obeying(key.text, wanted, now);
  lifetimes_.FitSlide(key.text, terms, wanted, expiry, now);
  FitTask(key.text, !is_kept, expiry, tags);
  Entry* const entry = Place(key, existing, std::move(value), expiry, terms, std::move(tags), now);
  StayReady(*entry, ready, now);
  Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated, event, key.text, entry);
  return entry;
}

Entry* Keyspace::Place(const Key& key, Entry* existing, StringValue&& value, Expiry expiry, EntryTerms terms,
                       TagHold tags, Now now) {
  Entry::Shape shape = ShapeFor(key, value.stored_bytes(), expiry);
  const bool on_terms = shape.expires && terms.any();
  shape.extra.times |= on_terms;
  shape.extra.tags = tags.size();
  shape.extra.task = tags.task();
  if (existing != nullptr) TellBefore(*existing);
  Entry* const entry = existing == nullptr
                           ? Create(key, shape, std::move(value), expiry, now)
                           : OverwriteAs(key, *existing, shape, std::move(value), expiry, now);
  if (on_terms) entry->times().terms = terms;
  if (!tags.empty()) tags_.Link(*entry, std::move(tags));
  return entry;
}

// Far from the path of a SET. While Place runs, `value` still owns the value, and frees the value if memory runs out.
Entry* Keyspace::PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry,
                         Now now, const Event& event, EntryTerms terms, TagHold tags) {
  assert(value->Size() != 0);
  RichValue* const pointer = value.get();
  const Expiry wanted = expiry;
  expiry = lifetimes_.Obeying(key.text, wanted, now);
  lifetimes_.FitSlide(key.text, terms, wanted, expiry, now);
  FitTask(key.text, wanted.stage != Expiry::Stage::kKept, expiry, tags);
  Entry* entry = PlaceRich(key, existing, pointer, expiry, terms, std::move(tags), now);
  static_cast<void>(value.release());
  Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated, event, key.text, entry);
  return entry;
}

// The entry has room for its own time from the start.
Entry* Keyspace::PlaceRich(const Key& key, Entry* existing, RichValue* value, Expiry expiry, EntryTerms terms,
                           TagHold tags, Now now) {
  StringValue pointer = StringValue::Rich(value);
  const Expiry own = value->NextDeadline();
  Entry::Shape shape = ShapeFor(key, pointer.stored_bytes(), expiry);
  shape.timed = own.kind != Expiry::Kind::kNever;
  const bool on_terms = shape.expires && terms.any();
  shape.extra = {
      .times = Deadlines::NeedExtra(expiry, own) || on_terms, .tags = tags.size(), .task = tags.task()};
  if (existing != nullptr) TellBefore(*existing);
  Entry* entry = existing == nullptr ? Create(key, shape, std::move(pointer), expiry, now)
                                     : PutAnew(key, *existing, shape, std::move(pointer), expiry, now);
  if (shape.timed) lifetimes_.deadlines().SetTimes(*entry, expiry, own, now);
  if (on_terms) entry->times().terms = terms;
  if (!tags.empty()) tags_.Link(*entry, std::move(tags));
  return entry;
}

void Keyspace::FitTask(std::string_view key, bool asked, Expiry expiry, TagHold& tags) {
  if (tags.task() || lifetimes_.ruled()) [[unlikely]]
    tasks_->Fit(key, asked, expiry, tags);
}

Entry* Keyspace::PutCopy(const Key& key, Entry* existing, const Entry& source, Now now) {
  const Expiry expiry = source.deadline().Moved();
  TagHold tags = tags_.HoldThoseOf(source);
  Entry* entry = source.encoding() == Encoding::kRich
                     ? PutRich(key, existing, source.rich()->Clone(), expiry, now, events::kCopyTo,
                               source.terms(), std::move(tags))
                     : PutOnTerms(key, existing, StringValue::CopyOf(source), expiry, source.terms(), now,
                                  events::kCopyTo, std::move(tags));
  entry->set_stamp(Entry::StampOf(now.mono_ms));
  return entry;
}

// Move takes the new place first, so that nothing has changed if memory runs out. Until the old entry is freed, both entries
// refer to the same value.
void Keyspace::Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing,
                    Now now) {
  assert(&to != this || key.text != new_key.text);
  const Expiry wanted = entry.deadline().Moved();
  Expiry expiry = to.lifetimes_.Obeying(new_key.text, wanted, now);
  EntryTerms terms = entry.terms();
  to.lifetimes_.FitSlide(new_key.text, terms, wanted, expiry, now);
  TagHold tags = to.tags_.HoldThoseOf(entry);
  to.FitTask(new_key.text, wanted.stage != Expiry::Stage::kKept, expiry, tags);
  TellBefore(entry);
  const bool ready = entry.ready();
  const bool rich = entry.encoding() == Encoding::kRich;
  RichValue* const value = rich ? entry.rich() : nullptr;
  Entry* moved =
      rich ? to.PlaceRich(new_key, existing, value, expiry, terms, std::move(tags), now)
           : to.Place(new_key, existing, StringValue::CopyOf(entry), expiry, terms, std::move(tags), now);
  moved->set_stamp(entry.stamp());
  parts_.quotas.moved().Add(moved->owner());  // the entry may be the cold end
  TakeOut(key, entry);
  parts_.departures.Went(id_, key.hash, MissReason::kDeleted);
  const bool renamed = &to == this;
  Tell(ChangeReason::kRenamed, renamed ? events::kRenameFrom : events::kMoveFrom, entry.key(), &entry);
  to.Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated,
          renamed ? events::kRenameTo : events::kMoveTo, new_key.text, moved);
  owners_.Of(entry).bytes -= EntryMemory::BytesOf(entry);
  if (rich)
    memory_.ForgetSize(key.hash);
  else
    memory_.DropValue(entry);
  memory_.Delete(entry);
  to.StayReady(*moved, ready, now);
}

void Keyspace::StayReady(Entry& entry, bool was_ready, Now now) noexcept {
  if (was_ready && entry.task() && !entry.ready()) tasks_->MakeReady(entry, now);
}

// ---- containers

void Keyspace::Replace(const Key& key, Entry& old, Entry& fresh, Now now) {
  constexpr unsigned kOfTheShape = Entry::kOfTheRoom | Entry::Bit(EntryFlag::kWallDeadline);
  fresh.set_flags(static_cast<uint8_t>((old.flags() & ~kOfTheShape) | (fresh.flags() & kOfTheShape)));
  fresh.set_stamp(old.stamp());
  fresh.set_owner(old.owner());
  fresh.set_young(old.young());
  parts_.void_guesses.Note(RefOf(old));
  [[maybe_unused]] const bool replaced = table_.Replace(RefOf(old), RefOf(fresh), key.hash);
  assert(replaced);
  // SIEVE and LFU keep the order of insertion.
  if (!parts_.moves_on_access() && Quota::ListOf(old) == Quota::ListOf(fresh)) {
    owners_.Of(old).Replace(old, fresh);
    lifetimes_.deadlines().Unfile(old);
    if (fresh.expires()) lifetimes_.deadlines().File(fresh, now);
  } else {
    Unfile(old);
    File(fresh, now);
  }
  memory_.Delete(old);
}

void Keyspace::TakeOut(const Key& key, Entry& entry) noexcept {
  parts_.void_guesses.Note(RefOf(entry));
  [[maybe_unused]] const bool erased = table_.EraseRef(RefOf(entry), key.hash);
  assert(erased);
  Unfile(entry);
}

void Keyspace::File(Entry& entry, Now now) noexcept {
  owners_.Push(entry);
  if (entry.expires()) lifetimes_.deadlines().File(entry, now);
}

void Keyspace::Unfile(Entry& entry) noexcept {
  owners_.Remove(entry);
  lifetimes_.deadlines().Unfile(entry);
}

void Keyspace::Free(Entry& entry) noexcept {
  owners_.Of(entry).bytes -= EntryMemory::BytesOf(entry);
  memory_.DeleteWhole(entry);
}

// ---- reports

void Keyspace::Report(ChangeReason reason, const Event& event, std::string_view key, Entry* entry) {
  const Change change{.reason = reason,
                      .event = event,
                      .keyspace = *this,
                      .database = database_,
                      .key = key,
                      .entry = entry,
                      .client = event.by_client ? parts_.client : 0};
  if (entry != nullptr && !entry->Has(EntryFlag::kListened) && !event.name.empty()) [[likely]]
    return parts_.changes.Tell(change, /*listened=*/false);
  ReportListened(change, entry);
}

[[gnu::noinline]] void Keyspace::ReportListened(const Change& change, Entry* entry) {
  if (change.event.name.empty()) return parts_.changes.TellOfUnnamed(change);
  parts_.changes.Tell(change, /*listened=*/true);
  // A listener that observes entries for a client does not hear of slides and unseen changes.
  if (entry != nullptr && change.reason != ChangeReason::kSlid && !change.event.unseen)
    entry->Clear(EntryFlag::kListened);
}

void Keyspace::ReportBefore(Entry& entry) noexcept {
  parts_.changes.TellBefore(*this, entry);
  Marks::Remove(entry);
}

void Keyspace::MarkAll() noexcept {
#ifndef NDEBUG
  table_.ForEach([&](HeapRef ref) { assert(!marks_.Has(*At(ref))); });
#endif
  marks_.MarkAll();
  owners_.NoteMarks();
}

void Keyspace::FollowWallStep(Now now) noexcept {
  lifetimes_.deadlines().FollowWallStep(now);
  stale_.FollowWallStep(now);
}

// ---- check

bool Keyspace::Validate() const {
  const Deadlines& deadlines = lifetimes_.deadlines();
  if (!table_.Validate() || !deadlines.Validate()) return false;
  size_t filed = 0;
  size_t wall = 0;
  size_t with_timed_members = 0;
  size_t with_timed_fields = 0;
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
    with_timed_fields += timed_members && entry.rich()->type == ValueType::kHash;
    with_two_times += Deadlines::Filed(entry) && entry.has_two_times();
    sound = sound && table_.Find(entry.key(), parts_.hasher(entry.key())) == ref &&
            deadlines.ValidateEntry(entry, own) && entry.Has(EntryFlag::kTimedMembers) == timed_members;
  });
  owners_.ForEach([&](const Quota& quota) { sound = sound && ValidateQuota(quota); });
  sound = sound && owners_.Validate();
  return sound && ValidateStale(&links) && tags_.Validate(links) &&
         owners_.CountOf(kLasting) + owners_.CountOf(Quota::kSpared) + expiring() == size() &&
         filed == deadlines.size() && wall == deadlines.on_wall_clock() &&
         with_timed_members == deadlines.with_timed_members() &&
         with_timed_fields == deadlines.with_timed_fields() && with_two_times == deadlines.with_two_times();
}

bool Keyspace::ValidateQuota(const Quota& quota) const {
  size_t counts[std::size(Quota::kLists)] = {};
  size_t young[std::size(Quota::kLists)] = {};
  uint64_t bytes = 0;
  table_.ForEach([&](HeapRef ref) {
    const Entry& entry = *At(ref);
    if (entry.owner() != quota.owner()) return;
    ++counts[Quota::ListOf(entry)];
    young[Quota::ListOf(entry)] += entry.young() ? 1 : 0;
    bytes += EntryMemory::BytesOf(entry);
  });
  return bytes == quota.bytes &&
         std::all_of(std::begin(Quota::kLists), std::end(Quota::kLists), [&](List list) {
           return counts[list] == quota.CountOf(list) && young[list] == quota.YoungIn(list);
         });
}

bool Keyspace::ValidateStale(size_t* links) const {
  const StaleValues* const values = stale_.values();
  if (parts_.with_stale.Has(id_) != (enlisted_ && stale_.size() != 0)) return !enlisted_;
  if (values == nullptr) return true;
  bool sound = values->Validate();
  uint64_t bytes = 0;
  values->ForEach([&](const Entry& entry) {
    bytes += EntryMemory::Of(entry);
    *links += entry.tags();
    sound = sound && LookUp(entry.key(), parts_.hasher(entry.key())) == nullptr;
  });
  return sound && bytes == values->entry_bytes();
}

}  // namespace mayfly
