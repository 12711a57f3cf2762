// The part of Keyspace for edits: an existing value changes in place, and its entry is relocated only for another size or
// shape.
#include <cassert>
#include <cstring>
#include <utility>

#include "cache/keyspace/keyspace.h"
#include "cache/keyspace/tasks.h"

namespace mayfly {

// ---- deadlines

Entry* Keyspace::GiveDeadline(const Key& key, Entry& existing, Now now) {
  const Expiry expiry = lifetimes_.ForLasting(key.text, now);
  if (expiry.kind == Expiry::Kind::kNever) return &existing;
  TellBefore(existing);
  Entry* const entry = Redate(key, existing, expiry, {}, {}, now);
  Tell(ChangeReason::kExpiryChanged, events::kUnreported, entry->key(),
       entry);  // the edit may change nothing
  return entry;
}

Entry* Keyspace::SetExpiry(const Key& key, Entry& existing, Expiry wanted, Now now, EntryTerms terms,
                           std::string_view task) {
  Expiry expiry = lifetimes_.Obeying(key.text, wanted, now);
  if (terms.stale_ms == 0) terms.stale_ms = existing.stale_ms();
  lifetimes_.FitSlide(key.text, terms, wanted, expiry, now);
  TellBefore(existing);
  Entry* const entry = Redate(key, existing, expiry, terms, task, now);
  TouchFound(*entry, now);
  const bool lasts = expiry.kind == Expiry::Kind::kNever;
  Tell(ChangeReason::kExpiryChanged, lasts ? events::kPersist : events::kExpire, key.text, entry);
  return entry;
}

Entry* Keyspace::Redate(const Key& key, Entry& existing, Expiry expiry, EntryTerms terms,
                        std::string_view task, Now now) {
  Entry* entry = &existing;
  TagHold tags;
  const bool may_retag = existing.task() || !task.empty() || lifetimes_.ruled();
  if (may_retag) {
    tags = tags_.HoldThoseOf(existing);
    if (!task.empty()) tags = tags_.Hold({&task, 1}, std::move(tags));
    FitTask(key.text, true, expiry, tags);
  }
  if (existing.ready()) tasks_->MakeUnready(existing, now);
  const Expiry own = OwnTimeOf(existing);
  Entry::Shape shape = ShapeFor(key, existing.stored().size(), expiry);
  if (!shape.expires) terms = {};
  shape.timed = own.kind != Expiry::Kind::kNever;
  // A command may have made room for an own time before setting it (RoomForOwnTime).
  const bool has_room = existing.timed() && !existing.expires();
  shape.extra.times = Deadlines::NeedExtra(expiry, own) || terms.any() || (shape.expires && has_room);
  shape.extra.tags = may_retag ? tags.size() : existing.tags();
  shape.extra.task = tags.task();
  const bool retag = may_retag && !tags_.HasThese(existing, tags);
  if (retag || !existing.HasParts(shape)) {
    entry = Relocate(key, existing, shape, expiry, own, now, retag ? &tags : nullptr);
  } else if (shape.timed) {
    lifetimes_.deadlines().SetTimes(existing, expiry, own, now);
  } else if (shape.expires) {
    lifetimes_.deadlines().Move(existing, expiry, now);
  }
  if (shape.extra.times && shape.expires) entry->times().terms = terms;
  return entry;
}

Entry* Keyspace::RoomForOwnTime(const Key& key, Entry& existing, Now now) {
  Entry::Shape shape = existing.shape();
  shape.timed = true;
  shape.extra.times |= shape.expires;  // own time and deadline may differ
  if (existing.HasParts(shape)) return &existing;
  TellBefore(existing);
  return Relocate(key, existing, shape, existing.deadline(), OwnTimeOf(existing), now);
}

Entry* Keyspace::Relocate(const Key& key, Entry& existing, const Entry::Shape& shape, Expiry deadline,
                          Expiry own, Now now, TagHold* tags) {
  Entry* entry = NewEntry(key, shape, deadline);
  if (shape.extra.times && shape.expires) entry->times().terms = existing.terms();
  if (shape.extra.task) entry->extra()->ready = existing.ready();
  if (tags == nullptr && shape.extra.tags != 0) tags_.Hand(existing, *entry);
  if (tags != nullptr && !tags->empty()) tags_.Link(*entry, std::move(*tags));
  owners_.Of(existing).bytes -= EntryMemory::BytesOf(existing);
  const std::string_view value = existing.stored();
  if (!value.empty()) std::memcpy(entry->stored_data(), value.data(), value.size());
  entry->set_encoding(existing.encoding());
  Replace(key, existing, *entry, now);
  owners_.Grow(*entry, EntryMemory::BytesOf(*entry));
  if (own.kind != Expiry::Kind::kNever) lifetimes_.deadlines().SetTimes(*entry, deadline, own, now);
  return entry;
}

// ---- values

char* Keyspace::OwnBlock(Entry& entry, size_t size) {
  uint64_t grown = 0;
  char* const bytes = memory_.OwnBlock(entry, size, &grown);
  owners_.Grow(entry, grown);
  return bytes;
}

Entry* Keyspace::FinishEdit(const Key& key, Entry& entry, bool emptied, Now now, const Event& event) {
  if (!emptied) {
    assert(entry.timed() || entry.rich()->NextDeadline().kind == Expiry::Kind::kNever);
    if (entry.timed()) FileAnew(entry, now);
    Tell(ChangeReason::kValueChanged, event, entry.key(), &entry);
    return &entry;
  }
  RemoveEmptied(key, entry, event);
  return nullptr;
}

void Keyspace::FileAnew(Entry& entry, Now now) noexcept {
  lifetimes_.deadlines().SetTimes(entry, entry.deadline(), OwnTimeOf(entry), now);
}

Entry* Keyspace::AddTags(const Key& key, Entry& existing, std::span<const std::string_view> names, Now now) {
  TagHold tags = tags_.Hold(names, tags_.HoldThoseOf(existing));
  if (tags.size() == existing.tags()) return &existing;
  TellBefore(existing);
  Entry::Shape shape = existing.shape();
  shape.extra.tags = tags.size();
  Entry* const entry = Relocate(key, existing, shape, existing.deadline(), OwnTimeOf(existing), now, &tags);
  Tell(ChangeReason::kExpiryChanged, events::kUnreported, entry->key(), entry);
  return entry;
}

}  // namespace mayfly
