// The clients that watch a key (WATCH): an index by key, also of absent keys.
//
// It listens to the change point while somebody watches a key. A change of a watched key marks the transactions of
// all who watch it. An entry that is watched carries EntryFlag::kObserved, so that
// changes of other entries cost nothing; those who watch keys that did not exist must hear of all new keys.
//
// A key whose deadline has passed does not exist. That it is freed later is no change.
//
// Ownership: a KeyWatch belongs to the Transaction of its session; names of keys belong to this. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time/clock.h"
#include "cache/keyspace/change.h"
#include "server/clients/session.h"
#include "server/clients/transaction.h"
#include "server/waiting/key_place.h"

namespace mayfly {

class Databases;
struct Stats;

// A key that somebody watches.
struct WatchedKey {
  unsigned db = 0;
  std::string name;
  KeyWatch* first = nullptr;
};

class WatchedKeys final : public ChangeListener {
 public:
  // Borrows all, `stats` for their name_bytes.
  WatchedKeys(ChangeHub& changes, Clock& clock, Stats& stats, const Hasher& hasher);
  ~WatchedKeys() override;

  // The session watches `key` from now on. `exists`: it is there now, and its entry has EntryFlag::kObserved. No
  // effect if it watches the key already. Throws std::bad_alloc, and changes nothing then.
  // REQUIRES: the session has a transaction.
  void Watch(Session& session, unsigned db, std::string_view key, bool exists);
  // The session watches nothing any more. No effect if it has watched nothing.
  void Forget(Session& session) noexcept;
  // Whether a key that the session has watched has changed, or has expired since, or a member of its value has.
  // REQUIRES: as Watch.
  bool Changed(const Session& session, Databases& databases, Now now) const noexcept;

  size_t keys() const noexcept { return keys_.size(); }
  size_t clients() const noexcept { return clients_; }

  void OnChange(const Change& change) noexcept override;

 private:
  // The names are those of the values.
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<WatchedKey>, KeyPlaceHash>;

  WatchedKey& Add(unsigned db, std::string_view name);
  void Unlink(KeyWatch& watch) noexcept;
  // Marks the transactions of those who have watched `key` while it existed, and of the others if `if_absent_before`.
  static void Mark(const WatchedKey& key, bool if_absent_before) noexcept;
  // After its database was emptied, or another one has taken its place.
  void MarkAllOf(const Change& change) noexcept;
  // Listens for what the watches need.
  void Follow() noexcept;

  static uint64_t BytesOf(const WatchedKey& key) noexcept;

  ChangeHub& changes_;
  Clock& clock_;
  uint64_t& name_bytes_;
  Keys keys_;
  size_t clients_ = 0;  // that watch a key
  size_t absent_ = 0;   // watches of keys that did not exist
  uint32_t reasons_ = 0;
};

}  // namespace mayfly
