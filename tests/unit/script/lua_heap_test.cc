#include "script/lua/lua_heap.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly::script {
namespace {

struct Block {
  char* at = nullptr;
  std::string text;
};

}  // namespace

TEST_CASE("blocks keep their bytes, whatever sizes they are given, and what is used is counted") {
  uint64_t used = 0;
  uint64_t wanted = 0;
  std::mt19937_64 random(1);
  {
    LuaHeap heap(used);
    std::vector<Block> blocks(500);
    for (int step = 0; step < 100'000; ++step) {
      Block& block = blocks[random() % blocks.size()];
      const size_t size = random() % 3 == 0 ? 0 : random() % (random() % 20 == 0 ? 5000 : 300);
      auto* const moved = static_cast<char*>(heap.Resize(block.at, block.text.size(), size));
      REQUIRE((moved != nullptr) == (size != 0));
      const size_t kept = std::min(size, block.text.size());
      if (kept != 0) REQUIRE(std::memcmp(moved, block.text.data(), kept) == 0);
      wanted += size;
      wanted -= block.text.size();
      block.text.assign(size, static_cast<char>(step));
      block.at = moved;
      if (size != 0) std::memcpy(moved, block.text.data(), size);
      REQUIRE(used == wanted);
    }
    for (const Block& block : blocks) heap.Resize(block.at, block.text.size(), 0);
    CHECK(used == 0);
  }
}

TEST_CASE("a heap gives no more than its bound, and always lets a block become smaller") {
  uint64_t used = 0;
  LuaHeap heap(used, 1000);
  void* const first = heap.Resize(nullptr, 0, 600);
  REQUIRE(first != nullptr);
  CHECK(heap.Resize(nullptr, 0, 500) == nullptr);
  CHECK(heap.Resize(first, 600, 1001) == nullptr);
  void* const smaller = heap.Resize(first, 600, 100);
  REQUIRE(smaller != nullptr);
  CHECK(used == 100);
  void* const second = heap.Resize(nullptr, 0, 500);
  CHECK(second != nullptr);
  heap.set_bounded(false);
  void* const third = heap.Resize(nullptr, 0, 2000);
  CHECK(third != nullptr);
  heap.Resize(smaller, 100, 0);
  heap.Resize(second, 500, 0);
  heap.Resize(third, 2000, 0);
  CHECK(used == 0);
}

}  // namespace mayfly::script
