// Keys, namespaces, tags and databases that clients have removed since a load began: the file must not bring these back.
//
// A removed key or a tag takes 11 to 22 bytes (snapshot/hash_places.h). If clients remove more than kMostNames, Overwhelmed() is
// true, and the load has to end. Two names with the same hash count as one: a key of the file may then be missed, which a cache
// may do. No note, and no question about a key, takes longer with the number of removals.
//
// Borrows databases. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/changes/change.h"
#include "cache/keyspace/databases.h"
#include "snapshot/hash_places.h"

namespace mayfly {

class LoadClaims final : private ChangeListener {
 public:
  static constexpr size_t kMostNames = 10'000'000;

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
  // NSFLUSH, in all databases: the file's keys that would be of the namespace at this moment must not come. Throws std::bad_alloc.
  void NoteNamespaceFlushed(const Namespace& space);
  // INVALIDATE: keys with these tags must not come. Throws std::bad_alloc.
  void NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags);
  bool Overwhelmed() const noexcept { return overwhelmed_; }
  uint64_t bytes() const noexcept { return gone_.bytes() + tags_.bytes(); }

 private:
  void OnChange(const Change& change) override;
  static uint64_t PlaceOf(const Keyspace& keyspace, uint64_t hash) noexcept;
  // Throws std::bad_alloc.
  void Note(HashPlaces& names, const Keyspace& keyspace, std::string_view name);
  // Makes the prefix a row of flushed_, without an effect on any key.
  void Divide(const std::string& prefix);
  bool IsOfFlushedNamespace(std::string_view key) const noexcept;

  Databases& databases_;
  std::vector<Keyspace*> homes_;  // by the file's index
  HashPlaces gone_;               // keys
  HashPlaces tags_;               // invalidated
  // By prefixes: true if the keys are of a flushed namespace. The row with the longest prefix of a key counts. The namespaces
  // within a flushed one have rows of their own, so later namespaces change nothing.
  std::map<std::string, bool, std::less<>> flushed_;
  bool overwhelmed_ = false;
};

}  // namespace mayfly
