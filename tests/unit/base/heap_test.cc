#include "base/memory/heap.h"

#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("a reference resolves to the object that it was made from") {
  Heap heap(Heap::kMinRegionBytes);
  std::map<HeapRefBits, char*> objects;
  std::mt19937_64 random(1);
  for (int i = 0; i < 10'000; ++i) {
    const size_t size = 1 + random() % 300;
    auto* object = static_cast<char*>(heap.Allocate(size));
    REQUIRE(object != nullptr);
    std::memset(object, 0xA5, size);
    const HeapRef ref = heap.base().RefOf(object);
    REQUIRE(ref);
    REQUIRE(heap.base().Resolve<char>(ref) == object);
    REQUIRE(objects.emplace(ref.bits, object).second);
    heap.Free(object, size);
    objects.erase(ref.bits);
  }
}

TEST_CASE("arrays of cache lines are aligned to 64, and take their class of malloc") {
  Heap heap(Heap::kMinRegionBytes);
  for (size_t bytes = 64; bytes <= 16'384; bytes += 64) {
    const uint64_t before = heap.ThreadBytes();
    void* const first = heap.AllocateLines(bytes);
    void* const second = heap.AllocateLines(bytes);
    REQUIRE(reinterpret_cast<uintptr_t>(first) % 64 == 0);
    REQUIRE(reinterpret_cast<uintptr_t>(second) % 64 == 0);
    REQUIRE(heap.ThreadBytes() - before == 2 * MallocSizeClass(bytes));
    heap.FreeLines(first, bytes);
    heap.FreeLines(second, bytes);
    REQUIRE(heap.ThreadBytes() == before);
  }
}

TEST_CASE("a full region returns null, and allocates again after an object was freed") {
  Heap heap(Heap::kMinRegionBytes);
  std::vector<void*> objects;
  constexpr size_t kSize = 64 * 1024;
  for (;;) {
    void* object = heap.Allocate(kSize);
    if (object == nullptr) break;
    objects.push_back(object);
    REQUIRE(objects.size() <= Heap::kMinRegionBytes / kSize);
  }
  CHECK(objects.size() > 100);
  for (int i = 0; i < 50; ++i) {
    heap.Free(objects.back(), kSize);
    objects.pop_back();
  }
  void* again = heap.Allocate(kSize);
  CHECK(again != nullptr);
  heap.Free(again, kSize);
  for (void* object : objects) heap.Free(object, kSize);
}

TEST_CASE("a region full of small objects returns null, and allocates again after some were freed") {
  Heap heap(Heap::kMinRegionBytes);
  std::vector<void*> objects;
  constexpr size_t kSize = 150;
  for (;;) {
    void* object = heap.Allocate(kSize);
    if (object == nullptr) break;
    objects.push_back(object);
    REQUIRE(objects.size() <= Heap::kMinRegionBytes / kSize);
  }
  CHECK(objects.size() > Heap::kMinRegionBytes / kSize / 2);
  heap.Free(objects.back(), kSize);
  objects.back() = heap.Allocate(kSize);
  CHECK(objects.back() != nullptr);
  for (void* object : objects) heap.Free(object, kSize);
  heap.Purge();  // also returns the empty current slab
  void* of_another_size = heap.Allocate(20 * kSize);
  CHECK(of_another_size != nullptr);
  heap.Free(of_another_size, 20 * kSize);
}

TEST_CASE("ThreadBytes follows allocations and frees") {
  Heap heap(Heap::kMinRegionBytes);
  for (const size_t size : {100, 129, 150, 512, 513, 1000, 2512, 2513}) {
    const uint64_t before = heap.ThreadBytes();
    void* object = heap.Allocate(size);
    CHECK(heap.ThreadBytes() - before == Heap::SizeClass(size));
    heap.Free(object, size);
    CHECK(heap.ThreadBytes() == before);
    heap.Purge();
    CHECK(heap.ThreadBytes() == before);
  }
}

TEST_CASE("up to 720 bytes no object is rounded up by 16 bytes or more") {
  for (size_t size = 9; size <= 720; ++size) {
    REQUIRE(Heap::SizeClass(size) >= size);
    REQUIRE(Heap::SizeClass(size) < size + 16);
  }
}

TEST_CASE("a heap has huge pages only if somebody wants them") {
  Heap heap(Heap::kMinRegionBytes);
  CHECK(heap.huge_pages() == HugePages::kOff);
  heap.UseHugePages(true);
  CHECK(heap.huge_pages() != HugePages::kOff);
  heap.UseHugePages(false);
  CHECK(heap.huge_pages() == HugePages::kOff);
}

#ifndef MAYFLY_SANITIZE
TEST_CASE("a large heap is in huge pages, which go back with their objects", "[kernel]") {
  constexpr size_t kSize = 1000;
  constexpr size_t kCount = 100'000;
  Heap heap(size_t{256} << 20);
  heap.UseHugePages(true);
  if (heap.huge_pages() != HugePages::kOn) return;  // on this machine nobody has any
  std::vector<void*> objects;
  for (size_t i = 0; i < kCount; ++i)
    objects.push_back(std::memset(heap.Allocate(kSize), static_cast<int>(i), kSize));
  CHECK(heap.HugeBytes() > kCount * kSize / 3);
  for (size_t i = 0; i < kCount; ++i) {
    if (i % 5 != 0) heap.Free(objects[i], kSize);
  }
  heap.Purge();
  bool intact = true;
  for (size_t i = 0; i < kCount; i += 5) {
    const auto* object = static_cast<const char*>(objects[i]);
    intact &= object[0] == static_cast<char>(i) && std::memcmp(object, object + 1, kSize - 1) == 0;
    heap.Free(objects[i], kSize);
  }
  CHECK(intact);
  heap.Purge();
  CHECK(heap.HugeBytes() <= size_t{4} << 20);
}

TEST_CASE("purging gives the pages of freed objects back at once") {
  constexpr size_t kSize = 1024;
  constexpr size_t kCount = 20'000;
  Heap heap(Heap::kMinRegionBytes);
  std::vector<void*> objects;
  for (size_t i = 0; i < kCount; ++i) {
    objects.push_back(heap.Allocate(kSize));
    REQUIRE(objects.back() != nullptr);
    std::memset(objects.back(), 1, kSize);
  }
  const AllocatorBytes full = heap.ReadAllocator();
  CHECK(full.allocated >= kCount * kSize);
  CHECK(full.resident >= full.active);
  for (void* object : objects) heap.Free(object, kSize);
  heap.Purge();
  const AllocatorBytes purged = heap.ReadAllocator();
  CHECK(purged.resident + kCount * kSize <= full.resident + kCount * kSize / 10);
  CHECK_FALSE(Heap::AllocatorReport().empty());
}

TEST_CASE("what lies free among objects is no longer allocated, but still active") {
  constexpr size_t kObjectsBytes = 8 << 20;
  Heap heap(Heap::kMinRegionBytes);
  // In slabs, and in extents of the allocator.
  for (const size_t size : {size_t{64}, size_t{320}, size_t{1024}, size_t{3000}}) {
    CAPTURE(size);
    std::vector<void*> objects(kObjectsBytes / size);
    for (void*& object : objects) REQUIRE((object = heap.Allocate(size)) != nullptr);
    const AllocatorBytes full = heap.ReadAllocator();
    CHECK(full.active >= full.allocated);
    for (size_t i = 0; i < objects.size(); ++i) {
      if (i % 4 != 0) heap.Free(std::exchange(objects[i], nullptr), size);
    }
    heap.Purge();
    const AllocatorBytes holed = heap.ReadAllocator();
    CHECK(holed.allocated < full.allocated - kObjectsBytes / 2);
    CHECK(holed.active > full.active - kObjectsBytes / 4);
    for (void* object : objects) {
      if (object != nullptr) heap.Free(object, size);
    }
  }
}

TEST_CASE("SizeClass agrees with the allocator") {
  Heap heap(Heap::kMinRegionBytes);
  for (size_t size = 1; size <= 70'000; ++size) {
    const uint64_t before = heap.ThreadBytes();
    void* object = heap.Allocate(size);
    REQUIRE(heap.ThreadBytes() - before == Heap::SizeClass(size));
    heap.Free(object, size);
  }
}

TEST_CASE("MallocSizeClass agrees with the allocator") {
  for (size_t size = 1; size <= 70'000; ++size) REQUIRE(MallocSizeClass(size) == nallocx(size, 0));
}
#endif

}  // namespace mayfly
