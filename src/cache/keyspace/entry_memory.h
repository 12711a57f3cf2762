// The memory of a keyspace's entries, and of the values outside them: a text of more than 16 KB in a block of its own, or a
// rich value. EntryMemory makes and frees entries, counts their bytes, and reports growing values to BigKeys.
//
// EntryMemory knows none of the keyspace's containers: the caller takes an entry out of the containers before the entry is
// freed. Owns no entry. Loop thread only. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"
#include "cache/entry/entry.h"
#include "cache/entry/key.h"
#include "cache/entry/value.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/tags/tags.h"

namespace mayfly {

class EntryMemory {
 public:
  // Borrows `parts` and `tags`.
  EntryMemory(KeyspaceParts& parts, Tags& tags, uint8_t id) noexcept : parts_(parts), tags_(tags), id_(id) {}
  EntryMemory(const EntryMemory&) = delete;
  EntryMemory& operator=(const EntryMemory&) = delete;

  // The keyspace is not in use any more: BigKeys has forgotten all its keys together.
  void Leave() noexcept { in_use_ = false; }
  void Enter() noexcept { in_use_ = true; }

  // Makes an entry with room for the value, in no container. Sets the deadline if the shape has room for a deadline. Throws
  // std::bad_alloc.
  Entry* New(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // Frees the entry's own memory, and takes its tags from the entry, but leaves the value outside the entry.
  void Delete(Entry& entry) noexcept;
  // Frees the entry and its value.
  void DeleteWhole(Entry& entry) noexcept {
    DropValue(entry);
    Delete(entry);
  }
  // As DeleteWhole, but without a report to BigKeys: the entry's key may have been created anew. REQUIRES: no rich value.
  void DeleteStale(Entry& entry) noexcept;

  // ---- the value
  //
  // Releases the value's memory outside the entry.
  [[gnu::always_inline]] void DropValue(Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock) [[unlikely]]
      DropOutside(entry);
  }
  // Releases the value's memory outside the entry, for another value with `bytes` outside. Returns the growth of the entry's
  // count of bytes; the result may be below zero and wraps then.
  [[nodiscard]] uint64_t Exchange(Entry& entry, Encoding encoding, size_t bytes) noexcept;
  // Makes the block of a big text the entry's own, with at least `size` bytes. Adds the growth to `*grown`, like Exchange's
  // result. Returns the first byte. Throws std::bad_alloc.
  char* OwnBlock(Entry& entry, size_t size, uint64_t* grown);
  // Reports to BigKeys: NoteStored a stored value, NoteSize a changed size, ForgetSize a key that has lost its value.
  void NoteStored(const Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock) [[unlikely]]
      NoteSize(entry, 0, OutsideBytes(entry));
  }
  void NoteSize(const Entry& entry, uint64_t before, uint64_t after) noexcept {
    if (BigKeys::Passes(before, after)) [[unlikely]]
      TellSize(entry, after);
  }
  void ForgetSize(uint64_t hash) noexcept { parts_.big_keys.Forget(id_, hash); }

  // ---- numbers of bytes
  //
  // The memory of an entry and its value, as rounded by the allocator.
  static uint64_t Of(const Entry& entry) noexcept;
  // The same result as Of, by a shorter way for most entries.
  static uint64_t BytesOf(const Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock || entry.Has(EntryFlag::kExtra)) return Of(entry);
    return Heap::SizeClass(entry.allocated_bytes());
  }
  // The bytes of the value outside the entry.
  static size_t OutsideBytes(const Entry& entry) noexcept;

 private:
  // As rounded by the allocator.
  static uint64_t Rounded(Encoding encoding, size_t outside_bytes) noexcept;
  void DropOutside(Entry& entry) noexcept;
  void TellSize(const Entry& entry, uint64_t bytes) noexcept;

  KeyspaceParts& parts_;
  Tags& tags_;
  uint8_t id_;
  bool in_use_ = false;
};

}  // namespace mayfly
