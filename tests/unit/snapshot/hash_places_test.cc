#include "snapshot/hash_places.h"

#include <random>
#include <unordered_set>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a set of hashes has what was inserted, and nothing else") {
  std::mt19937_64 random(3);
  HashPlaces places;
  std::unordered_set<uint64_t> model;
  CHECK_FALSE(places.Has(5));
  for (int i = 0; i < 100'000; ++i) {
    // Many in one part, with equal low bits.
    const uint64_t hash = i % 3 == 0 ? random() : (random() % 4096) << 20;
    places.Insert(hash);
    model.insert(hash);
  }
  for (const uint64_t hash : model) REQUIRE(places.Has(hash));
  for (int i = 0; i < 100'000; ++i) {
    const uint64_t hash = i % 2 == 0 ? random() : (random() % 8192) << 20;
    REQUIRE(places.Has(hash) == (model.contains(hash) || (hash < 2 && model.contains(1 - hash))));
  }
}

TEST_CASE("a million hashes take less than 22 bytes each") {
  std::mt19937_64 random(4);
  HashPlaces places;
  for (int i = 0; i < 1'000'000; ++i) {
    const uint64_t before = places.bytes();
    places.Insert(random());
    REQUIRE(places.bytes() - before <= 16'384);  // an insertion moves as few hashes, however many there are
  }
  CHECK(places.size() == 1'000'000);
  CHECK(places.bytes() < 22'000'000);
  CHECK(places.bytes() > 8'000'000);
}

}  // namespace mayfly
