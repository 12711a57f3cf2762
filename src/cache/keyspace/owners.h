// The owners of one keyspace's entries: the keyspace itself, and the shares of namespaces in the keyspace
// (cache/owners/namespaces.h). Owners makes shares, dooms them, and takes their ids back.
//
// NSFLUSH dooms a share: its entries are absent from then on (Keyspace::Absent), and are freed in slices, without a report
// for each; the namespace gets a new share with its next key. A doomed share keeps its id until its last entry and its last
// stale value are freed (Reaper::FreeDoomed).
//
// Owns the quotas. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "cache/entry/entry.h"
#include "cache/entry/id_set.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/owners/quota.h"

namespace mayfly {

class Keyspace;

class Owners {
 public:
  using List = Quota::List;

  // `id`: the owner id of entries outside all namespaces.
  Owners(Keyspace& home, KeyspaceParts& parts, uint8_t id) noexcept;
  ~Owners();
  Owners(const Owners&) = delete;
  Owners& operator=(const Owners&) = delete;

  // From Enter until Leave the quotas take part in eviction. REQUIRES: there are no shares at Enter.
  void Enter() noexcept;
  void Leave() noexcept;

  Quota& own() noexcept { return own_; }
  const Quota& own() const noexcept { return own_; }
  // REQUIRES: between Enter and Leave.
  [[gnu::always_inline]] Quota& Of(const Entry& entry) const noexcept { return parts_.quotas.Of(entry); }
  // The quota with this owner id, or null; also after Leave. O(1).
  Quota* Find(uint8_t owner) noexcept { return owner == own_.owner() ? &own_ : ShareWithId(owner); }
  // The owner id for a new key. Makes a missing share. Throws OwnersExhausted, a std::bad_alloc; a replica's key is outside of
  // the namespace instead.
  uint8_t ForNew(std::string_view key) {
    if (!parts_.namespaces.any()) [[likely]]
      return own_.owner();
    return ByPrefix(key);
  }
  // Adds to the bytes of the entry's owner. A negative difference wraps.
  void Grow(const Entry& entry, uint64_t bytes) noexcept {
    Quota& quota = Of(entry);
    quota.bytes += bytes;
    if (quota.space != nullptr) [[unlikely]]
      parts_.namespaces.NoteGrown(*quota.space);
  }
  // Push puts the entry into its owner's list, and counts its key; Remove takes the entry out.
  void Push(Entry& entry) noexcept {
    Quota& quota = Of(entry);
    ++(quota.doomed ? doomed_keys_ : parts_.keys);
    quota.Push(entry);
  }
  void Remove(Entry& entry) noexcept {
    Quota& quota = Of(entry);
    --(quota.doomed ? doomed_keys_ : parts_.keys);
    quota.Remove(entry);
  }

  // ---- figures
  uint64_t bytes() const noexcept;
  // Without the entries of doomed shares.
  size_t CountOf(List list) const noexcept;
  // Entries of doomed shares.
  size_t doomed_keys() const noexcept { return doomed_keys_; }
  // An owner of `pool` with entries in `list`, or null.
  Quota* With(List list, const EvictionPool& pool = {}) const noexcept;
  // Counts a hit of the entry's namespace.
  void CountHitOf(const Entry& entry) const noexcept;

  // ---- doomed shares
  //
  // Makes the keys of the share absent from now on, to be freed without a report. Returns their number.
  // REQUIRES: the share belongs to this keyspace, and is not doomed.
  size_t Doom(Quota& share) noexcept;
  // The doomed share with the oldest doom, or null. Drops doomed shares without entries and stale values.
  Quota* NextDoomed() noexcept;
  // The number of the oldest doom of a share with entries; UINT64_MAX if there is none.
  uint64_t OldestDoom() const noexcept;
  // REQUIRES: no entry or stale value names the share.
  void Drop(Quota& share) noexcept;
  bool Doomed(const Entry& entry) const noexcept { return parts_.doomed != 0 && InDoomedShare(entry); }
  // For Keyspace::MarkAll. GoneBeforeMarks returns true if the entry's share was doomed when the entries were last marked.
  void NoteMarks() noexcept;
  bool GoneBeforeMarks(const Entry& entry) const noexcept;

  // The quotas in no order, each by its present place; null beyond the last. For work that may make or drop shares.
  Quota* At(size_t place) noexcept {
    if (place == 0) return &own_;
    return place <= shares_.size() ? shares_[place - 1].get() : nullptr;
  }
  // Calls fn(const Quota&) for each quota. REQUIRES: fn makes and drops no share.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    fn(own_);
    for (const auto& share : shares_) fn(*share);
  }
  // Checks everything but the entries' lists and counts; Keyspace::Validate compares these with the table.
  bool Validate() const noexcept;

 private:
  uint8_t ByPrefix(std::string_view key);
  Quota& AddShare(Namespace& space);
  Quota* ShareWithId(uint8_t owner) const noexcept {
    return shares_by_id_ != nullptr ? (*shares_by_id_)[owner] : nullptr;
  }
  // Null if the entry is outside all namespaces.
  const Quota* ShareOf(const Entry& entry) const noexcept;
  bool InDoomedShare(const Entry& entry) const noexcept;

  Keyspace& home_;
  KeyspaceParts& parts_;
  Quota own_;
  std::vector<std::unique_ptr<Quota>> shares_;  // including doomed shares
  // The same by owner id. Null: there has been no share.
  std::unique_ptr<std::array<Quota*, IdSet::kIds>> shares_by_id_;
  size_t doomed_keys_ = 0;  // in the table, but no keys of the keyspace any more
  bool entered_ = false;
};

}  // namespace mayfly
