// Entries for tests of the hash table: numbers whose hash the test chooses, with handles of 4 and 8 bytes.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <vector>

#include "cache/table/hash_table_resize.h"

namespace mayfly {

// SplitMix64: well mixed, a bijection, and a source of random numbers.
inline uint64_t Mix(uint64_t x) {
  x += 0x9E3779B97F4A7C15ULL;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ULL;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBULL;
  return x ^ (x >> 31);
}
class TestRandom {
 public:
  explicit TestRandom(uint64_t seed) : state_(seed) {}
  uint64_t operator()() { return Mix(state_++); }
  uint64_t Below(uint64_t bound) { return (*this)() % bound; }

 private:
  uint64_t state_;
};

// State that a test shares with the copy of the policy inside the table.
struct TestWorld {
  uint64_t (*hash)(uint64_t id) = Mix;
  size_t bytes = 0;               // Allocated by the table.
  int64_t allocations_left = -1;  // At 0 allocations fail; -1: no limit.

  void* Allocate(size_t size) noexcept {
    if (allocations_left == 0 || size % 64 != 0) return nullptr;
    if (allocations_left > 0) --allocations_left;
    bytes += size;
    return std::aligned_alloc(64, size);
  }
  void Free(void* block, size_t size) noexcept {
    bytes -= size;
    std::free(block);
  }
};

// The handle is the number itself.
struct NarrowPolicy {
  using Ref = uint32_t;
  using Key = uint64_t;
  static constexpr Ref kNull = 0;
  TestWorld* world;

  static Ref RefOf(uint64_t id) { return static_cast<Ref>(id); }
  static uint64_t IdOf(Ref ref) { return ref; }
  uint64_t HashOf(Ref ref) const noexcept { return world->hash(ref); }
  bool Equals(Ref ref, const Key& key) const noexcept { return ref == key; }
  void Prefetch(Ref) const noexcept {}
  void* Allocate(size_t size) noexcept { return world->Allocate(size); }
  void Free(void* block, size_t size) noexcept { world->Free(block, size); }
};

// A handle of 8 bytes, as pointers are in sanitizer builds.
struct WidePolicy {
  using Ref = const char*;
  using Key = uint64_t;
  static constexpr Ref kNull = nullptr;
  TestWorld* world;

  static Ref RefOf(uint64_t id) { return reinterpret_cast<Ref>(id << 4); }
  static uint64_t IdOf(Ref ref) { return reinterpret_cast<uint64_t>(ref) >> 4; }
  uint64_t HashOf(Ref ref) const noexcept { return world->hash(IdOf(ref)); }
  bool Equals(Ref ref, const Key& key) const noexcept { return IdOf(ref) == key; }
  void Prefetch(Ref) const noexcept {}
  void* Allocate(size_t size) noexcept { return world->Allocate(size); }
  void Free(void* block, size_t size) noexcept { world->Free(block, size); }
};

// A table of numbers, with short methods for tests.
template <typename Policy>
struct TestTable {
  explicit TestTable(uint32_t order = 1) : table(Policy{&world}, order) {}

  TestWorld world;
  HashTable<Policy> table;

  bool Has(uint64_t id) const { return table.Find(id, world.hash(id)) == Policy::RefOf(id); }
  bool Add(uint64_t id) { return table.Insert(Policy::RefOf(id), world.hash(id)); }
  bool Remove(uint64_t id) { return table.Erase(id, world.hash(id)) == Policy::RefOf(id); }
  // Also compares the table's count of bytes with that of the allocator.
  bool Sound() const { return table.Validate() && table.memory() == world.bytes; }
};

}  // namespace mayfly
