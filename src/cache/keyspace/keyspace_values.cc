// The part of Keyspace for values outside their entries: texts in blocks of their own, and rich values. The values are
// put, changed, moved and freed here.
#include <cassert>
#include <memory>
#include <utility>

#include "cache/keyspace/keyspace.h"

namespace mayfly {

// Far from the way of a SET. While Place runs, `value` still owns the value: if there is no memory, it is freed
// here.
Entry* Keyspace::PutRich(const Key& key, Entry* existing, std::unique_ptr<RichValue> value, Expiry expiry,
                         Now now, const Event& event, EntryTerms terms, TagHold tags) {
  assert(value->Size() != 0);
  RichValue* const pointer = value.get();
  const Expiry wanted = expiry;
  expiry = Obeying(key.text, wanted, now);
  FitSlide(key.text, terms, wanted, expiry, now);
  Entry* entry = PlaceRich(key, existing, pointer, expiry, terms, std::move(tags), now);
  static_cast<void>(value.release());
  Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated, event, key.text, entry);
  return entry;
}

// The entry has room for the time of its nearest member from the start.
Entry* Keyspace::PlaceRich(const Key& key, Entry* existing, RichValue* value, Expiry expiry, EntryTerms terms,
                           TagHold tags, Now now) {
  StringValue pointer = StringValue::Rich(value);
  const Expiry own = value->NextDeadline();
  Entry::Shape shape = ShapeFor(key, pointer.stored_bytes(), expiry);
  shape.timed = own.kind != Expiry::Kind::kNever;
  const bool on_terms = shape.expires && terms.any();
  shape.extra = {.times = Deadlines::NeedExtra(expiry, own) || on_terms, .tags = tags.size()};
  if (existing != nullptr) TellBefore(*existing);
  Entry* entry = existing == nullptr ? Create(key, shape, std::move(pointer), expiry, now)
                                     : PutAnew(key, *existing, shape, std::move(pointer), expiry, now);
  if (shape.timed) deadlines_.SetTimes(*entry, expiry, own, now);
  if (on_terms) entry->times().terms = terms;
  if (!tags.empty()) tags_.Link(*entry, std::move(tags));
  return entry;
}

Entry* Keyspace::FinishEdit(const Key& key, Entry& entry, bool emptied, Now now, const Event& event) {
  if (!emptied) {
    assert(entry.timed() || entry.rich()->NextDeadline().kind == Expiry::Kind::kNever);
    if (entry.timed()) FileMembers(entry, now);
    Tell(ChangeReason::kValueChanged, event, entry.key(), &entry);
    return &entry;
  }
  RemoveEmptied(key, entry, event);
  return nullptr;
}

void Keyspace::RemoveEmptied(const Key& key, Entry& entry, const Event& event) {
  TakeOut(key, entry);
  const bool expired = events::IsOfExpiredMembers(event);
  parts_.NoteGone(id_, key.hash, expired ? MissReason::kExpired : MissReason::kDeleted);
  Tell(ChangeReason::kDeleted, {event.name, events::kDel.name}, entry.key(), &entry);
  Free(entry);
}

Entry* Keyspace::PutCopy(const Key& key, Entry* existing, const Entry& source, Now now) {
  const Expiry expiry = ExpiryOf(source).Moved();
  TagHold tags = tags_.HoldThoseOf(source);
  Entry* entry = source.encoding() == Encoding::kRich
                     ? PutRich(key, existing, source.rich()->Clone(), expiry, now, events::kCopyTo,
                               source.terms(), std::move(tags))
                     : PutOnTerms(key, existing, StringValue::CopyOf(source), expiry, source.terms(), now,
                                  events::kCopyTo, std::move(tags));
  entry->set_stamp(Entry::StampOf(now.mono_ms));
  return entry;
}

// The new place is taken first, so that nothing has changed if memory runs out. Until the old entry is freed,
// both refer to the same value.
void Keyspace::Move(const Key& key, Entry& entry, Keyspace& to, const Key& new_key, Entry* existing,
                    Now now) {
  assert(&to != this || key.text != new_key.text);
  const Expiry wanted = ExpiryOf(entry).Moved();
  Expiry expiry = to.Obeying(new_key.text, wanted, now);
  EntryTerms terms = entry.terms();
  to.FitSlide(new_key.text, terms, wanted, expiry, now);
  TagHold tags = to.tags_.HoldThoseOf(entry);
  TellBefore(entry);
  const bool rich = entry.encoding() == Encoding::kRich;
  RichValue* const value = rich ? entry.rich() : nullptr;
  Entry* moved =
      rich ? to.PlaceRich(new_key, existing, value, expiry, terms, std::move(tags), now)
           : to.Place(new_key, existing, StringValue::CopyOf(entry), expiry, terms, std::move(tags), now);
  moved->set_stamp(entry.stamp());
  parts_.quotas.moved().Add(moved->owner());  // it may be the cold end
  TakeOut(key, entry);
  parts_.NoteGone(id_, key.hash, MissReason::kDeleted);
  const bool renamed = &to == this;
  Tell(ChangeReason::kRenamed, renamed ? events::kRenameFrom : events::kMoveFrom, entry.key(), &entry);
  to.Tell(existing != nullptr ? ChangeReason::kValueChanged : ChangeReason::kCreated,
          renamed ? events::kRenameTo : events::kMoveTo, new_key.text, moved);
  QuotaOf(entry).bytes -= BytesOf(entry);
  if (rich)
    parts_.big_keys.Forget(id_, key.hash);
  else
    DropValue(entry);
  FreeMemory(entry);
}

size_t Keyspace::OutsideBytes(const Entry& entry) noexcept {
  switch (entry.encoding()) {
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kInteger:
      return 0;
    case Encoding::kBlock:
      return entry.block().size();
    case Encoding::kRich:
      return entry.rich()->Bytes();
  }
  return 0;
}

[[gnu::noinline]] void Keyspace::ExchangeOutside(Entry& entry, Encoding encoding,
                                                 size_t outside_bytes) noexcept {
  const uint64_t before = MemoryOutside(entry.encoding(), OutsideBytes(entry));
  DropValue(entry);
  Grow(entry, MemoryOutside(encoding, outside_bytes) - before);
  NoteSize(entry, 0, outside_bytes);
}

// The keys of a keyspace that is not enlisted any more were forgotten together.
void Keyspace::DropOutside(Entry& entry) noexcept {
  if (BigKeys::Passes(OutsideBytes(entry), 0) && enlisted_) parts_.big_keys.Forget(id_, HashOf(entry.key()));
  if (entry.encoding() == Encoding::kBlock)
    static_cast<void>(SharedBytes::Adopt(entry.pointer()));
  else
    parts_.buried.Bury(std::unique_ptr<RichValue>(entry.rich()));
}

[[gnu::noinline]] void Keyspace::NoteSize(const Entry& entry, uint64_t before, uint64_t after) noexcept {
  if (!BigKeys::Passes(before, after)) return;
  parts_.big_keys.Note(id_, HashOf(entry.key()), entry.key(), after);
}

}  // namespace mayfly
