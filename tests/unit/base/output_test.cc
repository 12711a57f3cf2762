#include "base/memory/output.h"

#include <algorithm>
#include <array>
#include <random>
#include <string>

#include "support/catch.h"
#include "support/output_text.h"

namespace mayfly {
namespace {

// Consumes up to `n` bytes, `pieces_max` pieces at a time, like a socket that accepts partial writes.
std::string Drain(OutputChain& out, size_t n, size_t pieces_max) {
  std::string written;
  std::array<OutputPiece, 8> pieces;
  while (written.size() < n && !out.empty()) {
    const size_t count = out.Gather(std::span(pieces).first(pieces_max));
    REQUIRE(count > 0);
    size_t taken = 0;
    for (size_t i = 0; i < count; ++i) {
      REQUIRE(pieces[i].size > 0);
      const size_t part = std::min(pieces[i].size, n - written.size());
      written.append(pieces[i].data, part);
      taken += part;
    }
    out.Consume(taken);
  }
  return written;
}

}  // namespace

TEST_CASE("an idle chain holds no chunk, and a chain that becomes idle returns its chunks") {
  ChunkPool pool;
  OutputChain out(pool);
  CHECK(out.memory() == 0);
  CHECK(out.empty());
  out.Append("+OK\r\n");
  CHECK(out.size() == 5);
  CHECK(out.memory() == OutputChunk::kSize);
  CHECK(OutputText(out) == "+OK\r\n");
  out.Consume(3);
  CHECK(OutputText(out) == "\r\n");
  CHECK(out.memory() == OutputChunk::kSize);
  out.Consume(2);
  CHECK(out.memory() == 0);
  CHECK(pool.kept() == 1);
}

TEST_CASE("a turn allocates nothing once the pool is warm") {
  ChunkPool pool;
  OutputChain out(pool);
  const std::string reply(5000, 'r');
  for (int turn = 0; turn < 100; ++turn) {
    for (int i = 0; i < 10; ++i) out.Append(reply);
    out.Consume(out.size());
  }
  CHECK(pool.allocations() == 4);
  CHECK(pool.kept() == 4);
}

TEST_CASE("the pool keeps at most kept_max chunks") {
  ChunkPool pool(3);
  OutputChain out(pool);
  out.Append(std::string(10 * OutputChunk::kSize, 'x'));
  CHECK(out.memory() == 11 * OutputChunk::kSize);
  out.Clear();
  CHECK(pool.kept() == 3);
  pool.Trim(1);
  CHECK(pool.kept() == 1);
}

TEST_CASE("reserved room is contiguous, and only committed bytes are pending") {
  ChunkPool pool;
  OutputChain out(pool);
  std::string expected;
  for (size_t i = 0; i < 100; ++i) {
    char* room = out.Reserve(OutputChain::kReserveMax);
    const std::string text(i * 7, static_cast<char>('a' + i % 26));
    text.copy(room, text.size());
    out.Commit(text.size());
    expected += text;
  }
  CHECK(out.size() == expected.size());
  CHECK(OutputText(out) == expected);
}

TEST_CASE("long shared blocks are not copied, and are released when they are written") {
  ChunkPool pool;
  OutputChain out(pool);
  SharedBytes block = SharedBytes::Copy(std::string(100'000, 's'));
  out.Append("head");
  out.AppendShared(block, 10, 90'000);
  out.Append("tail");
  CHECK(!block.Unique());
  CHECK(out.size() == 90'008);
  CHECK(out.memory() == OutputChunk::kSize + 90'000);
  std::array<OutputPiece, 4> pieces;
  REQUIRE(out.Gather(pieces) == 3);
  CHECK(pieces[1].data == block.data() + 10);
  out.Consume(5);
  CHECK(out.Gather(pieces) == 2);
  CHECK(pieces[0].data == block.data() + 11);
  CHECK(!block.Unique());
  out.Consume(89'999);
  CHECK(block.Unique());
  CHECK(out.memory() == OutputChunk::kSize);
  CHECK(OutputText(out) == "tail");

  SECTION("short blocks are copied") {
    out.AppendShared(block, 0, OutputChain::kCopyMax);
    out.AppendShared(block, 0, 0);
    CHECK(block.Unique());
    CHECK(out.size() == 4 + OutputChain::kCopyMax);
  }
  SECTION("blocks that are never written are released too") {
    out.AppendShared(block, 0, 1000);
    out.AppendShared(block, 1000, 1000);
    out.Clear();
    CHECK(block.Unique());
    CHECK(out.memory() == 0);
  }
}

TEST_CASE("a shared block costs a splice, not a chunk") {
  ChunkPool pool;
  OutputChain out(pool);
  const SharedBytes block = SharedBytes::Copy(std::string(1000, 's'));
  for (int i = 0; i < 400; ++i) {
    out.Append("$");
    out.AppendShared(block, 0, 1000);
  }
  CHECK(out.memory() == OutputChunk::kSize + 400 * 1000);
}

TEST_CASE("a slot adds no bytes until it is filled") {
  ChunkPool pool;
  OutputChain out(pool);
  out.Append("a");
  OutputChain::Slot first = out.OpenSlot();
  OutputChain::Slot second = out.OpenSlot();
  out.Append("b");
  CHECK(out.size() == 2);
  CHECK(OutputText(out) == "ab");
  out.FillSlot(second, "second");
  out.FillSlot(first, std::string(OutputChain::kSlotSize, '1'));
  CHECK(out.size() == 2 + 6 + OutputChain::kSlotSize);
  CHECK(OutputText(out) == "a" + std::string(OutputChain::kSlotSize, '1') + "secondb");
}

TEST_CASE("gathered bytes stay in place while more is appended") {
  ChunkPool pool;
  OutputChain out(pool);
  out.Append("first");
  std::array<OutputPiece, 2> pieces;
  REQUIRE(out.Gather(pieces) == 1);
  const char* const data = pieces[0].data;
  for (int i = 0; i < 5000; ++i) out.Append("0123456789");
  REQUIRE(out.Gather(pieces) == 2);
  CHECK(pieces[0].data == data);
  CHECK(std::string_view(data, 5) == "first");
}

TEST_CASE("a full chain takes what fits into its last chunk and no more, until it may be used again") {
  ChunkPool pool;
  OutputChain chain(pool);
  chain.set_limit(50'000);
  size_t appended = 0;
  const auto append_for_ever = [&] {
    for (;; appended += 100) chain.Append(std::string(100, 'x'));
  };
  CHECK_THROWS_AS(append_for_ever(), OutputTooLong);
  CHECK(chain.full());
  CHECK(appended >= 50'000);
  CHECK(appended < 50'000 + 2 * OutputChunk::kSize);
  CHECK_FALSE(pool.TakeFailed());  // there was memory
  const SharedBytes block = SharedBytes::Copy(std::string(1000, 'y'));
  CHECK_THROWS_AS(chain.AppendShared(block, 0, 1000), OutputTooLong);
  chain.Clear();
  CHECK(chain.full());
  chain.ForgetFull();
  for (int i = 0; i < 60; ++i) {
    if (!chain.full()) chain.AppendShared(block, 0, 1000);
  }
  CHECK(chain.size() == 50'000);
}

TEST_CASE("headers that are filled in later make a chain full by the memory that they take") {
  ChunkPool pool;
  OutputChain chain(pool);
  chain.set_limit(100'000);
  const auto open_for_ever = [&] {
    for (;;) chain.FillSlot(chain.OpenSlot(), "*2\r\n");
  };
  CHECK_THROWS_AS(open_for_ever(), OutputTooLong);
  CHECK(chain.memory() < 200'000 + 2 * OutputChunk::kSize);
}

TEST_CASE("a reply that is known to be too long for a chain is not begun") {
  ChunkPool pool;
  OutputChain chain(pool);
  CHECK_NOTHROW(chain.RequireRoom(UINT64_MAX - 1));
  uint32_t word = 0;
  chain.set_full_mark(&word, 4);
  chain.set_limit(1000);
  chain.Append("abc");
  CHECK_NOTHROW(chain.RequireRoom(996));
  CHECK_FALSE(chain.full());
  CHECK_THROWS_AS(chain.RequireRoom(997), OutputTooLong);
  CHECK(chain.full());
  CHECK(word == 4);
  CHECK(chain.size() == 3);
}

TEST_CASE("random appends and partial writes keep all bytes in order") {
  constexpr unsigned kSeed = 4711;
  CAPTURE(kSeed);
  std::mt19937 random(kSeed);
  ChunkPool pool(8);
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    OutputChain out(pool);
    const SharedBytes block = SharedBytes::Copy(std::string(20'000, static_cast<char>('A' + round % 26)));
    std::string pending;
    for (int step = 0; step < 120; ++step) {
      const char letter = static_cast<char>('a' + step % 26);
      switch (random() % 6) {
        case 0:
        case 1: {
          const std::string text(random() % (random() % 10 == 0 ? 40'000 : 300), letter);
          out.Append(text);
          pending += text;
          break;
        }
        case 2: {
          const size_t size = random() % OutputChain::kReserveMax;
          std::fill_n(out.Reserve(size), size, letter);
          out.Commit(size);
          pending.append(size, letter);
          break;
        }
        case 3: {
          const size_t offset = random() % block.size();
          const size_t size = random() % (block.size() - offset + 1);
          out.AppendShared(block, offset, size);
          pending.append(block.view().substr(offset, size));
          break;
        }
        case 4: {
          OutputChain::Slot slot = out.OpenSlot();
          const std::string inside(random() % 100, letter);
          const std::string text(random() % (OutputChain::kSlotSize + 1), '#');
          out.Append(inside);
          out.FillSlot(slot, text);
          pending += text + inside;
          break;
        }
        default: {
          const std::string written = Drain(out, random() % 30'000, 1 + random() % 8);
          REQUIRE((written == pending.substr(0, written.size())));
          pending.erase(0, written.size());
        }
      }
      REQUIRE(out.size() == pending.size());
      REQUIRE((out.memory() > 0 || pending.empty()));
    }
    REQUIRE((OutputText(out) == pending));
    if (round % 2 == 0) REQUIRE((Drain(out, pending.size(), 3) == pending));
  }
  CHECK(pool.kept() <= 8);
}

}  // namespace mayfly
