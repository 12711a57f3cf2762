// What clients have done since a load began, as far as the file must not undo it: keys, namespaces, tags and databases that
// went meanwhile are not to come back.
//
// A removed key takes 8 bytes and a node; if clients remove more than kMostKeys, Overwhelmed() is true, and the load has to
// end. Two keys of the same hash count as one: then a key of the file is missed, which a cache may do.
//
// Borrows databases. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "cache/keyspace/change.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class LoadClaims final : private ChangeListener {
 public:
  static constexpr size_t kMostKeys = 10'000'000;

  // `of_keys`: single keys are remembered, not flushes alone. Throws std::bad_alloc.
  LoadClaims(Databases& databases, bool of_keys);
  ~LoadClaims() override;

  // The keyspace for the keys that the file has in database `index`; null if they were flushed, or there is no such database.
  Keyspace* HomeOf(uint64_t index) const noexcept { return index < homes_.size() ? homes_[index] : nullptr; }
  // Every database was flushed: no key is to come.
  bool AllFlushed() const noexcept;
  // Whether a key of the file may be loaded.
  bool MayCome(const Keyspace& home, const Key& key, std::span<const std::string> tags) const noexcept;
  // A flush of a database: what the file has for it is not to come. For a database without keys, a flush is no change of which
  // a listener hears.
  void NoteFlushed(const Keyspace& keyspace) noexcept;
  // NSFLUSH, in all databases. Throws std::bad_alloc.
  void NoteNamespaceFlushed(std::string_view prefix);
  // INVALIDATE: keys with these tags are not to come. Throws std::bad_alloc.
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
