// The memory of a keyspace's entries, and of what lies outside them: a text of more than 16 KB in a block of its own, or a rich
// value. It makes and frees entries, says how many bytes they take, and tells BigKeys of values that grow large.
//
// It is in none of the keyspace's containers: what an entry must leave before it is freed is its caller's to do. Owns no
// entry. Loop thread only. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"
#include "cache/entry/entry.h"
#include "cache/entry/key.h"
#include "cache/entry/value.h"
#include "cache/keyspace/keyspace_parts.h"
#include "cache/keyspace/tags.h"

namespace mayfly {

class EntryMemory {
 public:
  // Borrows all.
  EntryMemory(KeyspaceParts& parts, Tags& tags, uint8_t id) noexcept : parts_(parts), tags_(tags), id_(id) {}
  EntryMemory(const EntryMemory&) = delete;
  EntryMemory& operator=(const EntryMemory&) = delete;

  // The keyspace is not in use any more: BigKeys has forgotten its keys together.
  void Leave() noexcept { in_use_ = false; }
  void Enter() noexcept { in_use_ = true; }

  // An entry with room for the value, in no container, with this deadline if the shape has room for one. Throws
  // std::bad_alloc.
  Entry* New(const Key& key, const Entry::Shape& shape, Expiry expiry);
  // Frees the entry's own memory, and takes its tags from it, but leaves what its value points to.
  void Delete(Entry& entry) noexcept;
  // The same with the value.
  void DeleteWhole(Entry& entry) noexcept {
    DropValue(entry);
    Delete(entry);
  }
  // As DeleteWhole, for an entry whose key may have been created anew: BigKeys is not told. REQUIRES: no rich value.
  void DeleteStale(Entry& entry) noexcept;

  // ---- the value
  //
  // Releases what it holds outside the entry.
  [[gnu::always_inline]] void DropValue(Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock) [[unlikely]]
      DropOutside(entry);
  }
  // Releases what the value holds outside, for another value that holds `bytes` there. Returns by how much more the
  // entry counts then; a difference may be below zero: it wraps.
  [[nodiscard]] uint64_t Exchange(Entry& entry, Encoding encoding, size_t bytes) noexcept;
  // Makes the block of a big text its own, with at least `size` bytes. Adds to `*grown` as Exchange does. Returns the
  // first byte. Throws std::bad_alloc.
  char* OwnBlock(Entry& entry, size_t size, uint64_t* grown);
  // Tells BigKeys of a value that was stored, or that has another size; or that the key has it no longer.
  void NoteStored(const Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock) [[unlikely]]
      NoteSize(entry, 0, OutsideBytes(entry));
  }
  void NoteSize(const Entry& entry, uint64_t before, uint64_t after) noexcept {
    if (BigKeys::Passes(before, after)) [[unlikely]]
      TellSize(entry, after);
  }
  void ForgetSize(uint64_t hash) noexcept { parts_.big_keys.Forget(id_, hash); }

  // ---- how many bytes
  //
  // Of an entry and its value, as the allocator rounds it.
  static uint64_t Of(const Entry& entry) noexcept;
  // The same by a shorter way for most entries.
  static uint64_t BytesOf(const Entry& entry) noexcept {
    if (entry.encoding() >= Encoding::kBlock || entry.Has(EntryFlag::kExtra)) return Of(entry);
    return Heap::SizeClass(entry.allocated_bytes());
  }
  // What the value holds outside the entry.
  static size_t OutsideBytes(const Entry& entry) noexcept;

 private:
  // As the allocator rounds it.
  static uint64_t Rounded(Encoding encoding, size_t outside_bytes) noexcept;
  void DropOutside(Entry& entry) noexcept;
  void TellSize(const Entry& entry, uint64_t bytes) noexcept;

  KeyspaceParts& parts_;
  Tags& tags_;
  uint8_t id_;
  bool in_use_ = false;
};

}  // namespace mayfly
