#include "cache/keyspace/adopter.h"

#include <cassert>
#include <utility>

#include "cache/gone/miss_reason.h"
#include "cache/keyspace/keyspace.h"
#include "cache/keyspace/tasks.h"

namespace mayfly {

void Adopter::Expect(size_t keys) noexcept { keyspace_.table_.Expect(keys); }

void Adopter::Prefetch(std::string_view key) const noexcept {
  keyspace_.table_.PrefetchRoom(keyspace_.HashOf(key));
}

Entry* Adopter::Put(const Key& key, StringValue&& text, std::unique_ptr<RichValue> rich, const Adoption& as,
                    Now now) {
  TagHold tags;
  if (!as.tags.empty()) tags = keyspace_.tags_.Hold(as.tags);
  if (as.expiry.kind == Expiry::Kind::kNever) keyspace_.tags_.ForgetTask(tags);
  RichValue* const value = rich.get();
  Entry* const entry =
      value != nullptr
          ? keyspace_.PlaceRich(key, nullptr, value, as.expiry, as.terms, std::move(tags), now)
          : keyspace_.Place(key, nullptr, std::move(text), as.expiry, as.terms, std::move(tags), now);
  static_cast<void>(rich.release());
  entry->set_stamp(as.stamp);
  keyspace_.owners_.Of(*entry).MoveToColdest(*entry);
  keyspace_.parts_.quotas.moved().Add(entry->owner());
  if (entry->task() && entry->deadline().Reached(now)) keyspace_.tasks().MakeReady(*entry, now);
  keyspace_.Tell(ChangeReason::kCreated, events::kLoaded, key.text, entry);
  return entry;
}

bool Adopter::PutStale(const Key& key, StringValue&& text, const Adoption& as, Now now) {
  TagHold tags;
  if (!as.tags.empty()) tags = keyspace_.tags_.Hold(as.tags);
  keyspace_.tags_.ForgetTask(tags);
  Entry::Shape shape = Keyspace::ShapeFor(key, text.stored_bytes(), as.expiry);
  shape.extra = {.times = true, .tags = tags.size()};
  const uint8_t owner = keyspace_.owners_.ForNew(key.text);
  Entry* const entry = keyspace_.NewEntry(key, shape, as.expiry);
  entry->set_owner(owner);
  entry->set_encoding(text.encoding());
  text.StoreTo(entry->stored_data());
  entry->times().terms = as.terms;
  if (!tags.empty()) keyspace_.tags_.Link(*entry, std::move(tags));
  if (keyspace_.stale_.Keep(key.hash, *entry, now)) return true;
  keyspace_.memory_.DeleteStale(*entry);
  return false;
}

void Adopter::GiveWay(const Key& key, Entry& entry) {
  keyspace_.parts_.changes.CountByClient();  // for the save points
  keyspace_.TellBefore(entry);
  keyspace_.TakeOut(key, entry);
  keyspace_.parts_.departures.Went(keyspace_.id_, key.hash, MissReason::kDeleted);
  keyspace_.Tell(ChangeReason::kDeleted, events::kLoaded, entry.key(), &entry);
  keyspace_.Free(entry);
}

void Adopter::SetLastUse(Entry& entry, uint32_t stamp, Now now) noexcept {
  assert(!keyspace_.marks_.Has(entry));
  entry.set_stamp(stamp);
  if (!keyspace_.parts_.moves_on_access()) return;
  keyspace_.owners_.Of(entry).MoveByUse(entry, now.mono_ms);
  keyspace_.parts_.quotas.moved().Add(entry.owner());
}

void Adopter::MoveToColdest(Entry& entry) noexcept {
  keyspace_.TellBefore(entry);
  keyspace_.owners_.Of(entry).MoveToColdest(entry);
  keyspace_.parts_.quotas.moved().Add(entry.owner());
}

}  // namespace mayfly
