#include "cache/gone/miss_ring.h"

#include <algorithm>
#include <deque>
#include <new>
#include <random>
#include <unordered_map>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

MissReason AnyReason(std::mt19937_64& random) {
  return static_cast<MissReason>(1 + random() % (kMissReasons - 1));
}

}  // namespace

TEST_CASE("a ring answers the reason that was last added for a hash") {
  Heap heap{Heap::kMinRegionBytes};
  MissRing ring(heap, 1000);
  CHECK(ring.Find(7) == MissReason::kCold);
  ring.Add(7, MissReason::kExpired);
  ring.Add(8, MissReason::kEvicted);
  CHECK(ring.Find(7) == MissReason::kExpired);
  CHECK(ring.Find(8) == MissReason::kEvicted);
  ring.Add(7, MissReason::kInvalidated);
  CHECK(ring.Find(7) == MissReason::kInvalidated);
  ring.Add(7, MissReason::kDeleted);
  CHECK(ring.Find(7) == MissReason::kDeleted);
  CHECK(ring.Find(uint64_t{7} << 32 | 7) == MissReason::kDeleted);  // the same line, the same 29 bits
  CHECK(ring.Find(uint64_t{7} << 60 | 7) == MissReason::kCold);
  CHECK(ring.Validate());
}

TEST_CASE("a ring takes 4 bytes for each hash, in whole lines; one without room remembers nothing") {
  Heap heap{Heap::kMinRegionBytes};
  const uint64_t before = heap.ThreadBytes();
  {
    const MissRing ring(heap, 65'536);
    const uint64_t taken = heap.ThreadBytes() - before;
    CHECK(ring.bytes() == 4 * 65'536);
    CHECK(taken == ring.bytes());
    CHECK(MissRing(heap, 1).capacity() == MissRing::kWays);
    CHECK(MissRing(heap, 17).capacity() == 2 * MissRing::kWays);
    CHECK_THROWS_AS(MissRing(heap, heap.region_bytes()), std::bad_alloc);
  }
  MissRing off(heap, 0);
  CHECK(off.bytes() == 0);
  off.Add(1, MissReason::kDeleted);
  CHECK(off.Find(1) == MissReason::kCold);
  CHECK(off.Validate());
}

TEST_CASE("a line remembers exactly the hashes that were added last, through random steps") {
  Heap heap{Heap::kMinRegionBytes};
  MissRing ring(heap, MissRing::kWays);
  std::deque<std::pair<uint64_t, MissReason>> model;  // the newest first
  std::mt19937_64 random(3);
  for (int step = 0; step < 200'000; ++step) {
    const uint64_t hash = (1 + random() % 40) << 3;
    const MissReason reason = AnyReason(random);
    ring.Add(hash, reason);
    std::erase_if(model, [hash](const auto& known) { return known.first == hash; });
    model.emplace_front(hash, reason);
    if (model.size() > MissRing::kWays) model.pop_back();
    for (uint64_t asked = 1; asked <= 40; ++asked) {
      const auto known = std::find_if(model.begin(), model.end(),
                                      [asked](const auto& one) { return one.first == asked << 3; });
      const MissReason expected = known == model.end() ? MissReason::kCold : known->second;
      if (ring.Find(asked << 3) != expected) FAIL("step " << step << ", hash " << asked);
    }
    if (step % 1000 == 0) REQUIRE(ring.Validate());
  }
}

TEST_CASE("a ring never tells a wrong reason, and forgets few of the recent ones, through random steps") {
  constexpr size_t kEntries = 4096;
  Heap heap{Heap::kMinRegionBytes};
  MissRing ring(heap, kEntries);
  std::unordered_map<uint64_t, MissReason> model;  // exact, of all that was ever added
  std::deque<uint64_t> recent;
  std::mt19937_64 random(4);
  std::vector<uint64_t> hashes(3 * kEntries);
  for (uint64_t& hash : hashes) hash = random();
  size_t asked = 0;
  size_t forgotten = 0;
  for (int step = 0; step < 300'000; ++step) {
    const uint64_t hash = hashes[random() % hashes.size()];
    const MissReason reason = AnyReason(random);
    ring.Add(hash, reason);
    model[hash] = reason;
    recent.push_back(hash);
    if (recent.size() > kEntries / 2) recent.pop_front();
    const uint64_t any = hashes[random() % hashes.size()];
    const MissReason found = ring.Find(any);
    REQUIRE((found == MissReason::kCold || found == model.at(any)));
    REQUIRE(ring.Find(random()) == MissReason::kCold);  // a new one
    ++asked;
    forgotten += ring.Find(recent[random() % recent.size()]) == MissReason::kCold ? 1 : 0;
  }
  CHECK(ring.Validate());
  CHECK(forgotten * 200 < asked);
}

}  // namespace mayfly
