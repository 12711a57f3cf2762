#include "cache/gone/ghost_ring.h"

#include <random>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

class RingFixture {
 public:
  RingFixture() { ring.Follow(true); }
  // Adds as many hashes; those that are remembered can be taken.
  std::vector<uint64_t> AddMany(size_t count) {
    std::vector<uint64_t> hashes;
    for (size_t i = 0; i < count; ++i) ring.Add(hashes.emplace_back(random()));
    return hashes;
  }
  // How many of hashes[begin, end) are found.
  size_t Taken(const std::vector<uint64_t>& hashes, size_t begin, size_t end) {
    size_t found = 0;
    for (size_t i = begin; i < end; ++i) found += ring.Take(hashes[i]) ? 1 : 0;
    return found;
  }

  std::mt19937_64 random{3};
  Heap heap{Heap::kMinRegionBytes * 4};
  GhostRing ring{heap};
};

}  // namespace

TEST_CASE_METHOD(RingFixture, "a ghost is found once, and only after it was added") {
  ring.set_wanted(1000);
  CHECK_FALSE(ring.Take(7));
  AddMany(10);
  const std::vector<uint64_t> hashes = AddMany(10);
  CHECK(ring.Take(hashes[3]));
  CHECK_FALSE(ring.Take(hashes[3]));
  CHECK(Taken(hashes, 0, 10) == 9);
  ring.Add(0);  // a hash whose bits are all 0 is one as well
  CHECK(ring.Take(0));
  CHECK(ring.Validate());
}

TEST_CASE_METHOD(RingFixture, "a ring that is off, or wants nothing, has no memory") {
  AddMany(100);
  CHECK((ring.capacity() == 0 && ring.bytes() == 0));
  ring.set_wanted(5000);
  AddMany(5000);
  CHECK(ring.capacity() >= 5000);
  CHECK(ring.bytes() <= 5000 * 2 + 2 * 4096);
  const std::vector<uint64_t> last = AddMany(1);
  ring.Follow(false);
  CHECK((ring.capacity() == 0 && ring.bytes() == 0));
  CHECK_FALSE(ring.Take(last[0]));
  ring.Follow(true);
  CHECK_FALSE(ring.Take(last[0]));
  CHECK(ring.Validate());
}

TEST_CASE_METHOD(RingFixture,
                 "the last third of what a ring has room for is nearly all there, what is older is gone") {
  ring.set_wanted(32 * 2048);
  const std::vector<uint64_t> hashes = AddMany(400'000);
  CHECK(ring.capacity() == 32 * 2048);
  CHECK(Taken(hashes, 400'000 - 20'000, 400'000) > 19'900);
  CHECK(Taken(hashes, 0, 400'000 - 3 * 65'536) < 200);
  CHECK(ring.Validate());
}

TEST_CASE_METHOD(RingFixture,
                 "a ring has its size soon, and forgets nothing from then on that it has room for") {
  ring.set_wanted(32 * 1024);
  const std::vector<uint64_t> hashes = AddMany(1024);
  CHECK(ring.capacity() == 32 * 1024);
  CHECK(Taken(hashes, 1024 / GhostRing::kLinesPerAdd, 1024) == 1024 - 1024 / GhostRing::kLinesPerAdd);
  CHECK(ring.Validate());
}

TEST_CASE_METHOD(RingFixture, "hashes that were not added are hardly ever found") {
  ring.set_wanted(100'000);
  AddMany(200'000);
  size_t found = 0;
  for (int i = 0; i < 1'000'000; ++i) found += ring.Take(random()) ? 1 : 0;
  CHECK(found > 0);
  CHECK(found < 600);  // 1 in 2,048
}

TEST_CASE_METHOD(RingFixture, "a ring follows what is wanted, in small steps, through random steps") {
  std::vector<uint64_t> known;
  for (int step = 0; step < 60'000; ++step) {
    if (random() % 500 == 0) ring.set_wanted(random() % 20'000);
    if (random() % 5000 == 0) ring.Follow(random() % 4 != 0);
    if (!ring.on()) ring.Follow(true);
    const size_t before = ring.capacity();
    if (random() % 4 != 0 || known.empty()) {
      ring.Add(known.emplace_back(random()));
      const bool was_small = ring.capacity() == 0;
      CHECK((was_small || ring.Take(known.back())));
      ring.Add(known.back());
    } else {
      const size_t at = random() % known.size();
      ring.Take(known[at]);
      CHECK_FALSE(ring.Take(known[at]));
    }
    CHECK((ring.capacity() <= before + 2 * GhostRing::kLinesPerAdd * GhostRing::kWays &&
           ring.capacity() + 2 * GhostRing::kWays >= before));
    if (step % 200 == 0) REQUIRE(ring.Validate());
  }
}

}  // namespace mayfly
