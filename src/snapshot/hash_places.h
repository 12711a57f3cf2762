// A set of 64-bit hashes that grows in parts: no insertion takes long.
//
// Takes 11 to 22 bytes for a hash. Open addressing within a part; 0 and 1 count as the same hash. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace mayfly {

class HashPlaces {
 public:
  // Throws std::bad_alloc.
  HashPlaces() : parts_(std::make_unique<Parts>()) {}

  // Throws std::bad_alloc.
  void Insert(uint64_t hash);
  bool Has(uint64_t hash) const noexcept;
  size_t size() const noexcept { return size_; }
  uint64_t bytes() const noexcept { return bytes_; }

 private:
  static constexpr size_t kParts = 4096;
  struct Part {
    std::vector<uint64_t> places;  // a power of two, or empty; 0: a free place
    size_t used = 0;
  };
  using Parts = std::array<Part, kParts>;

  static uint64_t PlaceOf(uint64_t hash) noexcept { return hash != 0 ? hash : 1; }
  Part& PartOf(uint64_t place) const noexcept { return (*parts_)[place / (UINT64_MAX / kParts + 1)]; }
  // The index of the hash, or of a free place for the hash. REQUIRES: a place is free.
  static size_t Find(const std::vector<uint64_t>& places, uint64_t place) noexcept;
  void Grow(Part& part);

  const std::unique_ptr<Parts> parts_;
  uint64_t bytes_ = sizeof(Parts);
  size_t size_ = 0;
};

}  // namespace mayfly
