#include "server/watch/watched_keys.h"

#include <cassert>

#include "base/memory/heap.h"
#include "cache/keyspace/databases.h"
#include "server/clients/name_bytes.h"
#include "server/clients/transaction.h"
#include "server/figures/stats.h"

namespace mayfly {
namespace {

bool Removes(ChangeReason reason) noexcept {
  return reason == ChangeReason::kDeleted || reason == ChangeReason::kExpired ||
         reason == ChangeReason::kEvicted || reason == ChangeReason::kInvalidated;
}

// True if a member of the entry's value has reached a deadline, dropped or not.
bool HasDueMember(const Entry& entry, Now now) noexcept {
  return entry.timed() && entry.encoding() == Encoding::kRich && entry.rich()->NextDeadline().Reached(now);
}

constexpr uint64_t kWatchBytes = MallocSizeClass(2 * sizeof(void*) + sizeof(KeyWatch));  // in its list

}  // namespace

// A listener without reasons costs nothing. The constructor takes the place among the listeners: Follow takes no memory.
WatchedKeys::WatchedKeys(ChangeHub& changes, Clock& clock, Stats& stats, const Hasher& hasher)
    : changes_(changes), clock_(clock), name_bytes_(stats.name_bytes), keys_(0, KeyPlaceHash(hasher)) {
  changes_.Listen(*this, Interest{});
}

WatchedKeys::~WatchedKeys() { changes_.Unlisten(*this); }

void WatchedKeys::Watch(Session& session, unsigned db, std::string_view key, bool exists) {
  const auto found = keys_.find({db, key});
  KeyWatch* const others = found != keys_.end() ? found->second->first : nullptr;
  for (const KeyWatch* watch = others; watch != nullptr; watch = watch->next) {
    if (watch->session == &session) return;
  }
  std::list<KeyWatch> added(1);
  KeyWatch& watch = added.front();
  watch = {.key = found != keys_.end() ? found->second.get() : &Add(db, key),
           .session = &session,
           .existed = exists,
           .next = others};
  if (others != nullptr) others->prev = &watch;
  watch.key->first = &watch;
  std::list<KeyWatch>& watches = session.transaction->watches;
  if (watches.empty()) ++clients_;
  watches.splice(watches.end(), added);
  name_bytes_ += kWatchBytes;
  session.transaction->watched_bytes += kWatchBytes + BytesOf(*watch.key);
  if (!exists) ++absent_;
  Follow();
}

void WatchedKeys::Forget(Session& session) noexcept {
  if (session.transaction == nullptr || session.transaction->watches.empty()) return;
  std::list<KeyWatch>& watches = session.transaction->watches;
  for (KeyWatch& watch : watches) Unlink(watch);
  watches.clear();
  session.transaction->watched_bytes = 0;
  --clients_;
  Follow();
}

void WatchedKeys::Unlink(KeyWatch& watch) noexcept {
  WatchedKey& key = *watch.key;
  (watch.prev != nullptr ? watch.prev->next : key.first) = watch.next;
  if (watch.next != nullptr) watch.next->prev = watch.prev;
  if (!watch.existed) --absent_;
  name_bytes_ -= kWatchBytes;
  if (key.first != nullptr) return;
  name_bytes_ -= BytesOf(key);
  keys_.erase(keys_.find({key.db, key.name}));
}

bool WatchedKeys::Changed(const Session& session, Databases& databases, Now now) const noexcept {
  const Transaction& transaction = *session.transaction;
  if (transaction.changed) return true;
  for (const KeyWatch& watch : transaction.watches) {
    if (!watch.existed) continue;
    Keyspace& keyspace = databases.At(watch.key->db);
    const Entry* const entry = keyspace.Peek(keyspace.KeyOf(watch.key->name), now);
    if (entry == nullptr || HasDueMember(*entry, now)) return true;
  }
  return false;
}

uint64_t WatchedKeys::BytesOf(const WatchedKey& key) noexcept {
  return MallocSizeClass(sizeof(WatchedKey)) + NodeBytes<Keys>() + TextBytes(key.name);
}

WatchedKey& WatchedKeys::Add(unsigned db, std::string_view name) {
  auto key = std::make_unique<WatchedKey>();
  key->db = db;
  key->name = name;
  WatchedKey& stored = *key;
  const uint64_t buckets_before = BucketBytes(keys_);
  keys_.emplace(KeyPlace{db, stored.name}, std::move(key));
  name_bytes_ += BytesOf(stored) + BucketBytes(keys_) - buckets_before;
  return stored;
}

void WatchedKeys::Follow() noexcept {
  uint32_t reasons = 0;
  if (!keys_.empty()) reasons = ChangeHub::kAllReasons;
  if (absent_ == 0) reasons &= ~ChangeHub::Bit(ChangeReason::kCreated);
  if (reasons == reasons_) return;
  reasons_ = reasons;
  changes_.Listen(*this, {.reasons = reasons, .listened_only = true});
}

void WatchedKeys::Mark(const WatchedKey& key, bool if_absent_before) noexcept {
  for (const KeyWatch* watch = key.first; watch != nullptr; watch = watch->next) {
    if (watch->existed || if_absent_before) watch->session->transaction->changed = true;
  }
}

void WatchedKeys::MarkAllOf(const Change& change) noexcept {
  const bool swapped = change.reason == ChangeReason::kSwapped;
  const bool of_namespace = change.reason == ChangeReason::kNamespaceFlushed;
  const Now now = clock_.Read();
  for (const auto& [place, key] : keys_) {
    if (place.db != change.database || !place.name.starts_with(change.key)) continue;
    const bool holds = (swapped || of_namespace) && change.keyspace.Holds(place.name, now);
    if (of_namespace && holds) continue;  // a key outside of the namespace
    Mark(*key, /*if_absent_before=*/holds);
  }
}

void WatchedKeys::OnChange(const Change& change) noexcept {
  if (change.event.name.empty()) return MarkAllOf(change);
  if (change.entry == nullptr || change.event.unseen) return;
  const auto found = keys_.find({change.database, change.key});
  if (found == keys_.end()) return;
  Mark(*found->second, /*if_absent_before=*/!Removes(change.reason));
}

}  // namespace mayfly
