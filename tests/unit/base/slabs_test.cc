#include "base/memory/slabs.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

// Slabs from malloc, so that sanitizers detect writes past their end or after their return.
class CountedSource final : public SlabSource {
 public:
  static constexpr size_t kBytesTaken = Slabs::kSlabAlignment;

  explicit CountedSource(size_t limit) noexcept : limit_(limit) {}
  CountedSource(const CountedSource&) = delete;
  CountedSource& operator=(const CountedSource&) = delete;
  ~CountedSource() {
    for (void* slab : out_) std::free(slab);
  }

  void* GetSlab() noexcept override {
    void* slab = nullptr;
    if (out_.size() == limit_) return nullptr;
    if (posix_memalign(&slab, Slabs::kSlabAlignment, kBytesTaken) != 0) return nullptr;
    std::memset(slab, 0xEE, kBytesTaken);
    out_.insert(slab);
    return slab;
  }
  void ReturnSlab(void* slab) noexcept override {
    returned_foreign_ |= out_.erase(slab) != 1;
    std::free(slab);
  }
  size_t BytesTaken() const noexcept override { return kBytesTaken; }
  size_t BytesUsable() const noexcept override { return kBytesTaken; }

  size_t out() const noexcept { return out_.size(); }
  bool returned_foreign() const noexcept { return returned_foreign_; }
  bool Holds(const char* object, size_t size) const noexcept {
    auto slab = out_.upper_bound(const_cast<char*>(object));
    if (slab == out_.begin()) return false;
    const auto* begin = static_cast<const char*>(*--slab);
    return object + size <= begin + kBytesTaken;
  }

 private:
  const size_t limit_;
  std::set<void*> out_;
  bool returned_foreign_ = false;
};

struct SlabsTest {
  explicit SlabsTest(size_t limit = 1000) : source(limit) {}

  char* Allocate(size_t size) { return static_cast<char*>(slabs.Allocate(size)); }
  // Allocates objects of one size until another slab is full.
  std::vector<char*> FillSlab(size_t size) {
    std::vector<char*> objects;
    const size_t capacity = kSlabRoom / Slabs::SizeClass(size);
    while (objects.size() < capacity) objects.push_back(Allocate(size));
    return objects;
  }
  static uintptr_t SlabOf(const char* object) {
    return reinterpret_cast<uintptr_t>(object) & ~(Slabs::kSlabAlignment - 1);
  }

  CountedSource source;
  Slabs slabs{source};
};

struct Owned {
  size_t size;
  char mark;
};

bool Intact(const char* object, const Owned& owned) {
  return std::all_of(object, object + owned.size, [&](char byte) { return byte == owned.mark; });
}

}  // namespace

TEST_CASE("a class is the largest multiple of 16 of which as many objects fit into a slab") {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{128}, size_t{2513}, SIZE_MAX}) {
    CHECK(!Slabs::Serves(size));
  }
  for (size_t size = 129; size <= 2512; ++size) {
    CAPTURE(size);
    REQUIRE(Slabs::Serves(size));
    const size_t taken = Slabs::SizeClass(size);
    REQUIRE(taken >= size);
    REQUIRE(taken % 16 == 0);
    const size_t rounded = (size + 15) / 16 * 16;
    REQUIRE(kSlabRoom / taken == kSlabRoom / rounded);
    REQUIRE(kSlabRoom / (taken + 16) < kSlabRoom / taken);
    REQUIRE((size > 720 || taken == rounded));
    REQUIRE(taken < size + size / 10 + 16);
  }
}

TEST_CASE("random allocations of all classes keep their bytes and never overlap") {
  SlabsTest test;
  std::map<char*, Owned> model;
  std::vector<char*> order;
  size_t used = 0;
  std::mt19937_64 random(3);
  size_t most_slabs = 0;
  for (int step = 0; step < 300'000; ++step) {
    // In waves: grows to thousands of objects and falls to few, so that slabs fill and empty.
    const bool growing = step / 30'000 % 2 == 0;
    if (order.empty() || random() % 8 < (growing ? 5U : 3U)) {
      const size_t size = random() % 4 == 0 ? 513 + random() % 2000 : 129 + random() % 384;
      char* object = test.Allocate(size);
      REQUIRE(object != nullptr);
      REQUIRE(reinterpret_cast<uintptr_t>(object) % 16 == 0);
      REQUIRE(test.source.Holds(object, Slabs::SizeClass(size)));
      const auto [at, fresh] =
          model.emplace(object, Owned{Slabs::SizeClass(size), static_cast<char>(random())});
      REQUIRE(fresh);
      if (at != model.begin()) REQUIRE(std::prev(at)->first + std::prev(at)->second.size <= object);
      if (std::next(at) != model.end()) REQUIRE(object + at->second.size <= std::next(at)->first);
      std::memset(object, at->second.mark, at->second.size);
      order.push_back(object);
      used += at->second.size;
    } else {
      std::swap(order[random() % order.size()], order.back());
      const auto at = model.find(order.back());
      REQUIRE(Intact(at->first, at->second));
      used -= at->second.size;
      test.slabs.Free(at->first);
      model.erase(at);
      order.pop_back();
    }
    REQUIRE(test.source.out() == test.slabs.slab_count());
    REQUIRE(test.slabs.slab_count() * CountedSource::kBytesTaken - test.slabs.idle_bytes() == used);
    most_slabs = std::max(most_slabs, test.source.out());
    if (step % 256 == 0) REQUIRE(test.slabs.Validate());
  }
  CHECK(most_slabs > 60);
  for (const auto& [object, owned] : model) {
    REQUIRE(Intact(object, owned));
    test.slabs.Free(object);
  }
  CHECK(test.slabs.Validate());
  CHECK(test.slabs.slab_count() <= kSlabClasses.count());  // each class keeps its current slab
  test.slabs.Purge();
  CHECK(test.source.out() == 0);
  CHECK(test.slabs.idle_bytes() == 0);
  CHECK(test.slabs.Validate());
  CHECK(!test.source.returned_foreign());
}

TEST_CASE("less than 2 % of a slab is unusable") {
  for (size_t size = 144; size <= 2512; size += 16) {
    CAPTURE(size);
    SlabsTest test;
    test.FillSlab(size);
    CHECK(test.slabs.slab_count() == 1);
    CHECK(test.slabs.idle_bytes() * 50 < int64_t{CountedSource::kBytesTaken});
    test.Allocate(size);
    CHECK(test.slabs.slab_count() == 2);
  }
}

TEST_CASE("an empty slab is returned at once, unless it is the current one") {
  SlabsTest test;
  const std::vector<char*> first = test.FillSlab(200);
  char* second = test.Allocate(200);
  CHECK(test.source.out() == 2);
  for (char* object : first) test.slabs.Free(object);
  CHECK(test.source.out() == 1);
  test.slabs.Free(second);
  CHECK(test.source.out() == 1);
  CHECK(test.Allocate(200) == second);
  test.slabs.Purge();
  CHECK(test.source.out() == 1);
  test.slabs.Free(second);
  test.slabs.Purge();
  CHECK(test.source.out() == 0);
  CHECK(test.slabs.Validate());
}

TEST_CASE("the fullest slab is filled first, so that others become empty") {
  SlabsTest test;
  std::vector<std::vector<char*>> slabs;
  for (int i = 0; i < 4; ++i) slabs.push_back(test.FillSlab(144));
  const size_t capacity = slabs[0].size();
  const auto free_some = [&](size_t slab, size_t percent) {
    for (size_t i = 0; i < capacity * percent / 100; ++i) {
      test.slabs.Free(slabs[slab].back());
      slabs[slab].pop_back();
    }
  };
  free_some(0, 90);
  free_some(1, 10);
  free_some(2, 60);
  REQUIRE(test.slabs.Validate());
  for (const size_t expected : {size_t{1}, size_t{2}, size_t{0}}) {
    while (slabs[expected].size() < capacity) {
      slabs[expected].push_back(test.Allocate(144));
      REQUIRE(SlabsTest::SlabOf(slabs[expected].back()) == SlabsTest::SlabOf(slabs[expected].front()));
    }
  }
  CHECK(test.source.out() == 4);
  CHECK(test.slabs.Validate());
}

TEST_CASE("without memory for a slab, allocation fails until an object of the same class is freed") {
  SlabsTest test(2);
  const std::vector<char*> first = test.FillSlab(512);
  test.FillSlab(512);
  CHECK(test.Allocate(512) == nullptr);
  CHECK(test.Allocate(144) == nullptr);
  CHECK(test.slabs.Validate());
  test.slabs.Free(first[7]);
  CHECK(test.Allocate(144) == nullptr);
  CHECK(test.Allocate(512) == first[7]);
  CHECK(test.Allocate(512) == nullptr);
  for (char* object : first) test.slabs.Free(object);
  // The first slab has become the current one, which stays until Purge.
  test.slabs.Purge();
  CHECK(test.source.out() == 1);
  CHECK(test.Allocate(144) != nullptr);
  CHECK(test.slabs.Validate());
}

}  // namespace mayfly
