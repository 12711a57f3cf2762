#include "snapshot/hash_places.h"

#include <algorithm>

namespace mayfly {
namespace {

constexpr size_t kFirstRoom = 16;

}  // namespace

size_t HashPlaces::Find(const std::vector<uint64_t>& places, uint64_t place) noexcept {
  const size_t mask = places.size() - 1;
  size_t at = place & mask;
  while (places[at] != 0 && places[at] != place) at = (at + 1) & mask;
  return at;
}

void HashPlaces::Grow(Part& part) {
  std::vector<uint64_t> larger(std::max(kFirstRoom, part.places.size() * 2));
  for (const uint64_t place : part.places) {
    if (place != 0) larger[Find(larger, place)] = place;
  }
  bytes_ += (larger.size() - part.places.size()) * sizeof(uint64_t);
  part.places.swap(larger);
}

void HashPlaces::Insert(uint64_t hash) {
  if (Has(hash)) return;
  const uint64_t place = PlaceOf(hash);
  Part& part = PartOf(place);
  if (part.used * 4 >= part.places.size() * 3) Grow(part);  // at least a quarter stays free
  part.places[Find(part.places, place)] = place;
  ++part.used;
  ++size_;
}

bool HashPlaces::Has(uint64_t hash) const noexcept {
  const uint64_t place = PlaceOf(hash);
  const Part& part = PartOf(place);
  return !part.places.empty() && part.places[Find(part.places, place)] == place;
}

}  // namespace mayfly
