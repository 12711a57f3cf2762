// The clients that watch a key (WATCH): an index by key, also of absent keys.
//
// WatchedKeys listens to the change point while a client watches a key. A change of a watched key marks the transactions of
// all clients that watch the key. A watched entry carries EntryFlag::kListened, and changes of other entries thus cost
// nothing; watches of absent keys need all new keys.
//
// A key with a passed deadline does not exist. The later freeing is no change.
//
// Ownership: a KeyWatch belongs to the Transaction of its session; WatchedKeys owns the names of keys. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "server/clients/session.h"
#include "server/clients/transaction.h"
#include "server/waiting/key_place.h"

namespace mayfly {

class Databases;
struct Stats;

// A key watched by some client.
struct WatchedKey {
  unsigned db = 0;
  std::string name;
  KeyWatch* first = nullptr;
};

class WatchedKeys final : public ChangeListener {
 public:
  // Borrows all arguments, `stats` for its name_bytes.
  WatchedKeys(ChangeHub& changes, Clock& clock, Stats& stats, const Hasher& hasher);
  ~WatchedKeys() override;

  // The session watches `key` from now on. `exists`: the key exists now, and its entry has EntryFlag::kListened. No effect
  // if the session watches the key already. Throws std::bad_alloc without a change. REQUIRES: the session has a transaction.
  void Watch(Session& session, unsigned db, std::string_view key, bool exists);
  // Ends all watches of the session. No effect without watches.
  void Forget(Session& session) noexcept;
  // True if a key watched by the session has changed, or has expired since, or a member of the key's value has. REQUIRES: as
  // for Watch.
  bool Changed(const Session& session, Databases& databases, Now now) const noexcept;

  size_t keys() const noexcept { return keys_.size(); }
  size_t clients() const noexcept { return clients_; }

  void OnChange(const Change& change) noexcept override;

 private:
  // The values own the names.
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<WatchedKey>, KeyPlaceHash>;

  WatchedKey& Add(unsigned db, std::string_view name);
  void Unlink(KeyWatch& watch) noexcept;
  // Marks the transactions of clients that watched `key` when it existed, and of the other clients if `if_absent_before`.
  static void Mark(const WatchedKey& key, bool if_absent_before) noexcept;
  // Marks after the database was emptied, or replaced by another database.
  void MarkAllOf(const Change& change) noexcept;
  // Listens for the changes needed by the watches.
  void Follow() noexcept;

  static uint64_t BytesOf(const WatchedKey& key) noexcept;

  ChangeHub& changes_;
  Clock& clock_;
  uint64_t& name_bytes_;
  Keys keys_;
  size_t clients_ = 0;  // with watches
  size_t absent_ = 0;   // watches of keys that were absent
  uint32_t reasons_ = 0;
};

}  // namespace mayfly
