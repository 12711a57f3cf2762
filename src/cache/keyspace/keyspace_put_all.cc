// The part of Keyspace that puts several keys in one step, all of them or none.
//
// If every value fits into its key's present room, PutAll allocates nothing and cannot fail. Otherwise PutAll makes an entry
// for each key beside the existing entries. The entries of new keys enter the table: the last step that may need memory.
// Only then do all entries take their places. For the second value of a repeated key, the entry of the first value is the
// existing entry.
#include <algorithm>
#include <new>
#include <utility>

#include "cache/keyspace/keyspace.h"

namespace mayfly {

void Keyspace::PutAll(std::span<KeyPut> puts, bool keep_expiry, Expiry expiry, Now now, const Event& event) {
  struct Unpin {
    ~Unpin() { pinned = {}; }
    IdSet& pinned;
  } const unpin{parts_.pinned};
  bool all_fit = !lifetimes_.ruled();  // by the rules, a key may become a task
  for (KeyPut& put : puts) {
    put.entry = Peek(put.key, now);
    put.expiry = lifetimes_.Obeying(
        put.key.text, keep_expiry && put.entry != nullptr ? put.entry->deadline() : expiry, now);
    all_fit = all_fit && put.entry != nullptr && !put.entry->Has(EntryFlag::kExtra) &&
              put.entry->Fits(ShapeFor(put.key, put.value.stored_bytes(), put.expiry));
  }
  if (all_fit) {
    for (KeyPut& put : puts) Put(put.key, put.entry, std::move(put.value), put.expiry, now, event);
    return;
  }
  size_t made = 0;
  try {
    for (KeyPut& put : puts) {
      put.entry = Make(put, keep_expiry ? put.entry : nullptr);
      ++made;
    }
    for (KeyPut& put : puts) {
      if (LookUp(put.key.text, put.key.hash) != nullptr) continue;
      if (!table_.Insert(RefOf(*put.entry), put.key.hash)) throw std::bad_alloc();
      put.inserted = true;
    }
  } catch (...) {
    for (KeyPut& put : puts.first(made)) Discard(put);
    throw;
  }
  // No listener hears of a change before all new entries of the table are in all containers.
  for (KeyPut& put : puts) {
    if (!put.inserted) continue;
    stale_.Drop(put.key);
    FileNew(*put.entry, put.key.hash, now);
  }
  for (KeyPut& put : puts) Install(put, now, event);
}

Entry* Keyspace::Make(KeyPut& put, const Entry* kept) {
  Entry::Shape shape = ShapeFor(put.key, put.value.stored_bytes(), put.expiry);
  const EntryTerms terms = kept != nullptr ? kept->terms() : EntryTerms{};
  TagHold ruled;  // stays empty if a kept entry hands on its tags
  if (kept == nullptr) FitTask(put.key.text, true, put.expiry, ruled);
  shape.extra = {.times = shape.extra.times || terms.any(),
                 .tags = kept != nullptr ? kept->tags() : ruled.size(),
                 .task = kept != nullptr ? kept->task() : ruled.task()};
  const uint8_t owner =
      put.entry == nullptr ? owners_.ForNew(put.key.text) : id_;  // Install keeps an existing entry's owner
  parts_.pinned.Add(owner);
  Entry* entry = NewEntry(put.key, shape, put.expiry);
  entry->set_owner(owner);
  if (terms.any()) entry->times().terms = terms;
  entry->set_encoding(put.value.encoding());
  put.value.StoreTo(entry->stored_data());
  if (!ruled.empty()) tags_.Link(*entry, std::move(ruled));
  return entry;
}

void Keyspace::Install(KeyPut& put, Now now, const Event& event) {
  Entry& entry = *put.entry;
  if (!put.inserted) {
    Entry& old = *LookUp(put.key.text, put.key.hash);
    TellBefore(old);
    owners_.Grow(old, EntryMemory::BytesOf(entry) - EntryMemory::BytesOf(old));
    if (old.Has(EntryFlag::kTimedMembers)) lifetimes_.deadlines().Unfile(old);  // looks at the value
    memory_.DropValue(old);
    const bool is_kept = entry.tags() != 0 && !entry.extra()->tags()[0].tag;
    const bool ready = is_kept && old.ready();
    if (is_kept) tags_.Hand(old, entry);
    Replace(put.key, old, entry, now);
    Touch(entry, now);
    StayReady(entry, ready, now);
  }
  memory_.NoteStored(entry);
  Tell(put.inserted ? ChangeReason::kCreated : ChangeReason::kValueChanged, event, put.key.text, &entry);
}

void Keyspace::Discard(KeyPut& put) noexcept {
  Entry& entry = *put.entry;
  if (put.inserted) table_.EraseRef(RefOf(entry), put.key.hash);
  memory_.DeleteWhole(entry);
  if (const Entry* const kept = LookUp(put.key.text, put.key.hash))
    memory_.NoteStored(*kept);  // DropValue forgot the old value
}

}  // namespace mayfly
