// Counts the memory of names and of the tables that find names, as the allocator counts memory. For Stats::name_bytes
// and for what one client holds (server/waiting/held_bytes.h).
//
// Whoever keeps names that clients have given adds to Stats::name_bytes when it allocates, and subtracts the same when
// it frees. A table's buckets stay when its names have gone, and stay counted. Units: bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/memory/heap.h"

namespace mayfly {

inline uint64_t TextBytes(const std::string& text) noexcept {
  const bool within = text.capacity() < sizeof(std::string) / 2;  // the text lies in the object itself
  return within ? 0 : Heap::SizeClass(text.capacity() + 1);
}

// Of an unordered map: an element, and the array that leads to them.
template <typename Table>
constexpr uint64_t NodeBytes() noexcept {
  return Heap::SizeClass(sizeof(void*) + sizeof(typename Table::value_type));
}
template <typename Table>
uint64_t BucketBytes(const Table& table) noexcept {
  const size_t buckets = table.bucket_count();
  return buckets <= 1 ? 0 : Heap::SizeClass(buckets * sizeof(void*));  // a first one is part of the table
}

// Of a vector: its array.
template <typename Array>
uint64_t ArrayBytes(const Array& array) noexcept {
  return array.capacity() == 0 ? 0 : Heap::SizeClass(array.capacity() * sizeof(typename Array::value_type));
}

}  // namespace mayfly
