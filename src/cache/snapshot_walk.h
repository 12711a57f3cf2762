// A walk in slices through all keys as of one moment, during later changes.
//
//   start:   Databases::MarkAll marks every entry, at no cost for each
//   a slice: the next pages of the hash tables; the walk visits each marked entry and removes its mark
//   between: before a marked entry changes or goes, the walk visits the entry and removes its mark
//   a flush: the walk holds the flushed keyspace until it has visited the keys
//
// So the walk visits each key of the first moment once, with the value, expiry and database of that moment. The walk does
// not visit keys that had expired or were invalidated or flushed with their namespace before the walk; it visits a key that
// goes later.
//
// There is one walk at a time. Borrows databases and visitor; the databases must outlive the walk. Loop thread
// only.
#pragma once

#include <cstdint>
#include <vector>

#include "base/time/clock.h"
#include "cache/keyspace/change.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

class SnapshotVisitor {
 public:
  virtual ~SnapshotVisitor() = default;
  // A key of the database `index`. The entry is valid during the call.
  virtual void Visit(unsigned index, const Entry& entry) noexcept = 0;
};

class SnapshotWalk final : private ChangeListener {
 public:
  // The walk begins here. Throws std::bad_alloc.
  // REQUIRES: no other walk is under way: the last walk has come to its end.
  SnapshotWalk(Databases& databases, SnapshotVisitor& visitor, Now now);
  // If the walk is not at its end, walks to the end without visiting anything.
  ~SnapshotWalk() override;
  SnapshotWalk(const SnapshotWalk&) = delete;
  SnapshotWalk& operator=(const SnapshotWalk&) = delete;

  // Passes about `budget` entries or a tenth as many pages of a table. Returns true if the walk is at its end.
  bool Step(size_t budget);
  // Visits nothing from now on. The walk still has to come to its end.
  void Abandon() noexcept { visitor_ = nullptr; }

 private:
  struct Part {
    Keyspace* keyspace;
    unsigned index;  // at the start of the walk
  };
  void OnChange(const Change& change) override;
  void BeforeChange(Keyspace& keyspace, const Entry& entry) noexcept override;
  void Visit(const Part& part, const Entry& entry) noexcept;

  Databases& databases_;
  SnapshotVisitor* visitor_;
  const Now start_;
  const uint64_t dooms_;     // of tags, before the walk
  std::vector<Part> parts_;  // the rest of the walk; the last part is under way
  uint64_t cursor_ = 0;
};

}  // namespace mayfly
