#include "net/socket/input_tail.h"

#include <random>
#include <string>

#include "support/catch.h"

namespace mayfly::net {
namespace {

// As a read does: stores bytes in the room and keeps all.
void Append(InputTail& tail, std::string_view bytes) {
  const std::span<char> room = tail.Room(bytes.size());
  REQUIRE(room.size() >= bytes.size());
  bytes.copy(room.data(), bytes.size());
  tail.Keep({room.data() - tail.size(), tail.size() + bytes.size()});
}

TEST_CASE("an empty tail holds no memory") {
  InputTail tail;
  CHECK(tail.memory() == 0);
  Append(tail, "abc");
  CHECK(tail.view() == "abc");
  tail.Keep({});
  CHECK(tail.empty());
  CHECK(tail.memory() == 0);
}

TEST_CASE("kept bytes may lie in the tail or elsewhere") {
  InputTail tail;
  tail.Keep("one two three");
  tail.Keep(tail.view().substr(4));
  CHECK(tail.view() == "two three");
  tail.Keep(tail.view().substr(0, 3));
  CHECK(tail.view() == "two");
  Append(tail, " four");
  CHECK(tail.view() == "two four");
  tail.Keep("five");
  CHECK(tail.view() == "five");
}

TEST_CASE("a tail that was long gives its memory back when it becomes short") {
  InputTail tail;
  Append(tail, std::string(1'000'000, 'x'));
  SECTION("to bytes from elsewhere") { tail.Keep("short"); }
  SECTION("to a part of itself") { tail.Keep(tail.view().substr(500'000, 5)); }
  CHECK(tail.size() == 5);
  CHECK(tail.memory() < 1000);
}

TEST_CASE("appending bytes one by one allocates only a few times") {
  InputTail tail;
  size_t changes = 0;
  size_t memory = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    Append(tail, "x");
    if (tail.memory() != memory) ++changes;
    memory = tail.memory();
  }
  CHECK(tail.size() == 1'000'000);
  CHECK(changes < 25);
}

TEST_CASE("random edits leave the same bytes as in a string") {
  constexpr unsigned kSeed = 20'251'121;
  CAPTURE(kSeed);
  std::minstd_rand random(kSeed);
  const auto below = [&](size_t n) { return static_cast<size_t>(random()) % n; };
  InputTail tail;
  std::string expected;
  for (int step = 0; step < 50'000; ++step) {
    const std::string bytes(below(300), static_cast<char>('a' + step % 26));
    if (below(4) == 0) {
      tail.Keep(bytes);
      expected = bytes;
    } else if (below(3) == 0) {
      const size_t at = below(tail.size() + 1);
      const size_t n = below(tail.size() - at + 1);
      tail.Keep(tail.view().substr(at, n));
      expected = expected.substr(at, n);
    } else {
      Append(tail, bytes);
      expected += bytes;
    }
    REQUIRE((tail.view() == expected));
  }
}

}  // namespace
}  // namespace mayfly::net
