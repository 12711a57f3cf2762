// Counts the memory of names and of the tables that find names, as the allocator counts memory. Users of these functions:
// Stats::name_bytes, and the memory held by one client (server/waiting/held_bytes.h).
//
// A part with names given by clients adds to Stats::name_bytes at an allocation, and subtracts the same when it frees. A
// table's buckets stay when the names have gone, and stay counted. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory/heap.h"

namespace mayfly {

inline uint64_t TextBytes(const std::string& text) noexcept {
  const bool within = text.capacity() < sizeof(std::string) / 2;  // the text lies in the object itself
  return within ? 0 : MallocSizeClass(text.capacity() + 1);
}

// Of an unordered map: an element, and the array of pointers to elements.
template <typename Table>
constexpr uint64_t NodeBytes() noexcept {
  return MallocSizeClass(sizeof(void*) + sizeof(typename Table::value_type));
}
template <typename Table>
uint64_t BucketBytes(const Table& table) noexcept {
  const size_t buckets = table.bucket_count();
  return buckets <= 1 ? 0 : MallocSizeClass(buckets * sizeof(void*));  // one bucket lies in the table itself
}

// Of a vector: its array.
template <typename Array>
uint64_t ArrayBytes(const Array& array) noexcept {
  return array.capacity() == 0 ? 0 : MallocSizeClass(array.capacity() * sizeof(typename Array::value_type));
}

}  // namespace mayfly
