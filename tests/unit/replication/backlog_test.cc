#include "replication/backlog.h"

#include <algorithm>
#include <new>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include "support/catch.h"
#include "support/output_text.h"

namespace mayfly {
namespace {

constexpr int64_t kStart = 1000;

struct World {
  World() { backlog.Begin(kStart); }

  // All bytes from this place on, in pieces of at most `most`.
  std::string ReadFrom(int64_t place, size_t most = SIZE_MAX) {
    std::string text;
    while (place < backlog.end()) {
      OutputChain out(chunks);
      const size_t size = backlog.Feed(place, most, out);
      REQUIRE(size != 0);
      REQUIRE(size <= most);
      REQUIRE(out.size() == size);
      text += OutputText(out);
      place += static_cast<int64_t>(size);
    }
    return text;
  }

  ChunkPool chunks;
  Backlog backlog;
};

}  // namespace

TEST_CASE("a place of the stream is the number of bytes before it") {
  World world;
  world.backlog.Append("hello");
  CHECK(world.backlog.begin() == kStart);
  CHECK(world.backlog.end() == kStart + 5);
  CHECK(world.ReadFrom(kStart) == "hello");
  CHECK(world.ReadFrom(kStart + 2) == "llo");
  CHECK(world.ReadFrom(kStart + 5).empty());
}

TEST_CASE("the backlog has the places from its begin to its end") {
  World world;
  world.backlog.Append("hello");
  CHECK_FALSE(world.backlog.Has(kStart - 1));
  CHECK(world.backlog.Has(kStart));
  CHECK(world.backlog.Has(kStart + 5));
  CHECK_FALSE(world.backlog.Has(kStart + 6));
}

TEST_CASE("an empty backlog has one place, and feeds nothing") {
  World world;
  CHECK(world.backlog.Has(kStart));
  OutputChain out(world.chunks);
  CHECK(world.backlog.Feed(kStart, 1, out) == 0);
  CHECK(out.empty());
  CHECK(world.backlog.bytes() == 0);
}

TEST_CASE("only what is committed is in the stream") {
  World world;
  std::string_view("abcdef").copy(world.backlog.Reserve(6), 6);
  CHECK(world.backlog.end() == kStart);
  world.backlog.Commit(2);
  CHECK(world.backlog.end() == kStart + 2);
  std::string_view("xyz").copy(world.backlog.Reserve(3), 3);
  world.backlog.Commit(3);
  CHECK(world.ReadFrom(kStart) == "abxyz");
}

TEST_CASE("a text longer than a block fills several blocks") {
  World world;
  const std::string text(3 * Backlog::kBlockBytes, 'x');
  world.backlog.Append("a");
  world.backlog.Append(text);
  world.backlog.Append("b");
  CHECK(world.ReadFrom(kStart) == "a" + text + "b");
  CHECK(world.backlog.bytes() == 4 * Backlog::kBlockBytes);
}

TEST_CASE("a piece longer than a block has a block of its own") {
  World world;
  const std::string text(3 * Backlog::kBlockBytes, 'x');
  world.backlog.Append("a");
  text.copy(world.backlog.Reserve(text.size()), text.size());
  world.backlog.Commit(text.size());
  world.backlog.Append("b");
  CHECK(world.ReadFrom(kStart) == "a" + text + "b");
}

TEST_CASE("a block that gets no more bytes gives the unused memory back") {
  World world;
  const std::string text(Backlog::kBlockBytes / 2 + 1, 'x');  // two do not fit
  std::string all;
  for (int i = 0; i < 10; ++i) {
    text.copy(world.backlog.Reserve(text.size()), text.size());
    world.backlog.Commit(text.size());
    all += text;
  }
  CHECK(world.backlog.bytes() < all.size() + Backlog::kBlockBytes);
  CHECK(world.ReadFrom(kStart) == all);
}

TEST_CASE("a block that an output reads stays where it is") {
  World world;
  const std::string text(Backlog::kBlockBytes / 2 + 1, 'x');
  OutputChain out(world.chunks);
  text.copy(world.backlog.Reserve(text.size()), text.size());
  world.backlog.Commit(text.size());
  world.backlog.Feed(kStart, SIZE_MAX, out);
  text.copy(world.backlog.Reserve(text.size()), text.size());
  world.backlog.Commit(text.size());
  CHECK(OutputText(out) == text);
  CHECK(world.ReadFrom(kStart) == text + text);
}

TEST_CASE("room that is asked for in vain costs nothing") {
  World world;
  world.backlog.Append("a");
  static_cast<void>(world.backlog.Reserve(2 * Backlog::kBlockBytes));
  static_cast<void>(world.backlog.Reserve(3 * Backlog::kBlockBytes));
  world.backlog.Append("b");
  CHECK(world.ReadFrom(kStart) == "ab");
  CHECK(world.backlog.bytes() < 4 * Backlog::kBlockBytes);
}

TEST_CASE("whole blocks are forgotten, and never a byte from the place on") {
  World world;
  const std::string block(Backlog::kBlockBytes, 'x');
  for (int i = 0; i < 3; ++i) world.backlog.Append(block);
  const auto size = static_cast<int64_t>(block.size());
  world.backlog.Forget(kStart + size - 1);
  CHECK(world.backlog.begin() == kStart);
  world.backlog.Forget(kStart + size);
  CHECK(world.backlog.begin() == kStart + size);
  CHECK(world.ReadFrom(kStart + size) == block + block);
  CHECK_FALSE(world.backlog.Has(kStart));
  world.backlog.Forget(kStart + 2 * size);
  CHECK(world.backlog.bytes() == 2 * Backlog::kBlockBytes);  // the last one, and a spare one
}

TEST_CASE("the last block stays, whatever is forgotten") {
  World world;
  world.backlog.Append("hello");
  world.backlog.Forget(kStart + 5);
  CHECK(world.ReadFrom(kStart) == "hello");
}

TEST_CASE("an output keeps its bytes when the backlog has forgotten them") {
  World world;
  OutputChain out(world.chunks);
  world.backlog.Append("hello");
  world.backlog.Feed(kStart, SIZE_MAX, out);
  world.backlog.Begin(0);
  world.backlog.Append("other");
  CHECK(OutputText(out) == "hello");
}

TEST_CASE("the memory of a forgotten block serves the next one, unless an output still reads it") {
  World world;
  const std::string block(Backlog::kBlockBytes, 'a');
  const auto append_and_forget = [&] {
    world.backlog.Append(block);
    world.backlog.Forget(world.backlog.end() - 1);
  };
  append_and_forget();
  append_and_forget();
  const uint64_t bytes = world.backlog.bytes();
  CHECK(bytes == 2 * Backlog::kBlockBytes);  // the last one, and a spare one
  for (int i = 0; i < 10; ++i) append_and_forget();
  CHECK(world.backlog.bytes() == bytes);

  OutputChain out(world.chunks);
  world.backlog.Feed(world.backlog.begin(), SIZE_MAX, out);
  for (int i = 0; i < 10; ++i) world.backlog.Append(std::string(Backlog::kBlockBytes, 'b'));
  world.backlog.Forget(world.backlog.end() - 1);
  world.backlog.Append(std::string(Backlog::kBlockBytes, 'c'));
  CHECK(OutputText(out) == block);
}

TEST_CASE("bytes that are appended later do not reach an output that was fed before") {
  World world;
  OutputChain out(world.chunks);
  world.backlog.Append("hello");
  world.backlog.Feed(kStart, SIZE_MAX, out);
  world.backlog.Append("more");
  CHECK(OutputText(out) == "hello");
}

TEST_CASE("the backlog is the end of a text, whatever is appended, read and forgotten") {
  std::mt19937 random(5);
  World world;
  std::string all;
  for (int step = 0; step < 3000; ++step) {
    const auto length = static_cast<int64_t>(all.size());
    if (random() % 3 != 0) {
      const size_t size = random() % 20 == 0 ? random() % 200'000 : random() % 2000;
      const std::string text(size, static_cast<char>('a' + step % 26));
      if (random() % 2 == 0) {
        world.backlog.Append(text);
      } else {
        text.copy(world.backlog.Reserve(size + random() % 100), size);
        world.backlog.Commit(size);
      }
      all += text;
    } else {
      const int64_t kept = std::max(length - static_cast<int64_t>(random() % 500'000), int64_t{0});
      const int64_t begin = world.backlog.begin();
      world.backlog.Forget(kStart + kept);
      REQUIRE(world.backlog.begin() <= std::max(begin, kStart + kept));
    }
    const int64_t end = kStart + static_cast<int64_t>(all.size());
    REQUIRE(world.backlog.end() == end);
    const auto held = static_cast<uint64_t>(end - world.backlog.begin());
    REQUIRE(world.backlog.bytes() >= held);
    REQUIRE(world.backlog.bytes() <=
            held + held / (Backlog::kMostWaste - 1) + 200'100 + 2 * Backlog::kBlockBytes);
    if (step % 50 != 0) continue;
    const int64_t place = world.backlog.begin() + static_cast<int64_t>(random() % (held + 1));
    REQUIRE(world.ReadFrom(place, 1 + random() % 100'000) == all.substr(static_cast<size_t>(place - kStart)));
  }
}

TEST_CASE("a room for which there is no memory leaves a draft as it was") {
  World world;
  world.backlog.Append("ab");
  const std::span<char> room = world.backlog.Room(10);
  std::string_view("cdefgh").copy(room.data(), 6);
  const uint64_t bytes = world.backlog.bytes();
  CHECK_THROWS_AS(world.backlog.NextRoom(6, size_t{1} << 60), std::bad_alloc);
  CHECK(world.backlog.bytes() == bytes);
  CHECK(world.backlog.end() == kStart + 2);
  const std::span<char> next = world.backlog.NextRoom(6, 10);
  std::string_view("ijk").copy(next.data(), 3);
  world.backlog.Publish(3);
  CHECK(world.backlog.end() == kStart + 11);
  world.backlog.Append("l");
  CHECK(world.ReadFrom(kStart) == "abcdefghijkl");
}

TEST_CASE("a block that an output reads keeps its unused memory, and counts with it") {
  const bool is_read = GENERATE(false, true);
  World world;
  const std::string text(Backlog::kBlockBytes / 2, 'x');
  world.backlog.Append(text);
  OutputChain out(world.chunks);
  if (is_read) CHECK(world.backlog.Feed(kStart, SIZE_MAX, out) == text.size());
  world.backlog.Reserve(Backlog::kBlockBytes);
  world.backlog.Commit(1);
  const uint64_t kept = world.backlog.bytes() - Backlog::kBlockBytes;
  CHECK((kept == Backlog::kBlockBytes) == is_read);
  CHECK(kept >= text.size());
  if (is_read) CHECK(OutputText(out) == text);
  world.backlog.Forget(world.backlog.end());
  CHECK(world.backlog.bytes() <= 2 * Backlog::kBlockBytes);
}

}  // namespace mayfly
