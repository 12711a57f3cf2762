// Keys, namespaces, tags and databases that clients have removed since a load began: the file must not bring these back.
//
// A removed key takes 8 bytes and a node. If clients remove more than kMostKeys, Overwhelmed() is true, and the load has to
// end. Two keys with the same hash count as one: a key of the file may then be missed, which a cache may do.
//
// Borrows databases. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cache/changes/change.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class LoadClaims final : private ChangeListener {
 public:
  static constexpr size_t kMostKeys = 10'000'000;

  // `of_keys`: remembers single keys, not flushes alone. Throws std::bad_alloc.
  LoadClaims(Databases& databases, bool of_keys);
  ~LoadClaims() override;

  // The keyspace for the file's keys of database `index`; null if the keys were flushed, or the database does not exist.
  Keyspace* HomeOf(uint64_t index) const noexcept { return index < homes_.size() ? homes_[index] : nullptr; }
  // True if every database was flushed: no key may come any more.
  bool AllFlushed() const noexcept;
  // True if a key of the file may be loaded.
  bool MayCome(const Keyspace& home, const Key& key, std::span<const std::string> tags) const noexcept;
  // A command that removes a key has found none: the file's key must not come.
  void NoteGone(const Keyspace& keyspace, std::string_view key) noexcept;
  // A flush of a database: the file's keys for the database must not come. A listener does not hear of a flush if the
  // database has no keys.
  void NoteFlushed(const Keyspace& keyspace) noexcept;
  // NSFLUSH, in all databases. Throws std::bad_alloc.
  void NoteNamespaceFlushed(std::string_view prefix);
  // INVALIDATE: keys with these tags must not come. Throws std::bad_alloc.
  void NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags);
  bool Overwhelmed() const noexcept { return overwhelmed_; }

 private:
  struct Name {
    const Keyspace* keyspace;
    std::string text;
  };
  void OnChange(const Change& change) override;
  static uint64_t PlaceOf(const Keyspace& keyspace, uint64_t hash) noexcept;

  Databases& databases_;
  std::vector<Keyspace*> homes_;  // by the file's index
  std::unordered_set<uint64_t> gone_;
  std::vector<Name> prefixes_;  // of flushed namespaces
  std::vector<Name> tags_;
  bool overwhelmed_ = false;
};

}  // namespace mayfly
