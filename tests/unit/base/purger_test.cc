#include "base/memory/purger.h"

#include <cstring>
#include <thread>
#include <vector>

#include "base/memory/heap.h"
#include "support/catch.h"

namespace mayfly {

TEST_CASE("a purger that was never asked, or is asked again and again, ends") {
  {
    const Purger idle;
  }
  Purger busy;
  for (int i = 0; i < 1000; ++i) i % 2 == 0 ? busy.Ask() : busy.Tend();
}

#ifndef MAYFLY_SANITIZE
TEST_CASE("pages stay as long as the allocator was told when the process started") {
  ssize_t stay_ms = 0;
  size_t size = sizeof stay_ms;
  REQUIRE(mallctl("opt.dirty_decay_ms", &stay_ms, &size, nullptr, 0) == 0);
  CHECK(stay_ms == Heap::kPagesStayMs);
}

static void GivesBack(void (*ask)(Purger& purger)) {
  constexpr size_t kSize = 20'000;
  constexpr size_t kCount = 1000;
  Heap heap(Heap::kMinRegionBytes);
  Purger purger;
  for (int round = 0; round < 3; ++round) {
    std::vector<void*> objects;
    for (size_t i = 0; i < kCount; ++i) objects.push_back(std::memset(heap.Allocate(kSize), 1, kSize));
    const uint64_t full = heap.ReadAllocator().resident;
    for (void* object : objects) heap.Free(object, kSize);
    ask(purger);
    bool gone = false;
    for (int64_t i = 0; i < 10'000'000 && !gone; ++i) {
      gone = heap.ReadAllocator().resident + kSize * kCount / 2 < full;
      std::this_thread::yield();
    }
    CHECK(gone);
  }
}

TEST_CASE("a purger gives unused pages back to the kernel while the loop goes on") {
  GivesBack([](Purger& purger) { purger.Ask(); });
  GivesBack([](Purger& purger) { purger.Tend(); });
}
#endif

}  // namespace mayfly
