#include "net/input_tail.h"

#include <random>
#include <string>

#include <catch2/catch.hpp>

namespace mayfly::net {
namespace {

TEST_CASE("an empty tail holds no memory") {
  InputTail tail;
  CHECK(tail.memory() == 0);
  tail.Append("abc");
  CHECK(tail.view() == "abc");
  tail.RemovePrefix(3);
  CHECK(tail.empty());
  CHECK(tail.memory() == 0);
  tail.Assign("xy");
  tail.Assign("");
  CHECK(tail.memory() == 0);
}

TEST_CASE("a tail that was long gives its memory back when it becomes short") {
  InputTail tail;
  tail.Append(std::string(1'000'000, 'x'));
  tail.Assign("short");
  CHECK(tail.view() == "short");
  CHECK(tail.memory() < 1000);
}

TEST_CASE("appending bytes one by one allocates only a few times") {
  InputTail tail;
  size_t changes = 0;
  size_t memory = 0;
  for (int i = 0; i < 1'000'000; ++i) {
    tail.Append("x");
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
    switch (below(6)) {
      case 0:
        tail.Assign(bytes);
        expected = bytes;
        break;
      case 1: {
        const size_t n = below(tail.size() + 1);
        tail.RemovePrefix(n);
        expected.erase(0, n);
        break;
      }
      case 2: {
        const size_t n = below(tail.size() + 1);
        if (n == 0) break;
        tail.Truncate(n);
        expected.resize(n);
        break;
      }
      case 3: {
        const std::span<char> room = tail.Room(bytes.size());
        REQUIRE(room.size() >= bytes.size());
        bytes.copy(room.data(), bytes.size());
        tail.Filled(bytes.size());
        expected += bytes;
        break;
      }
      default:
        tail.Append(bytes);
        expected += bytes;
    }
    REQUIRE((tail.view() == expected));
  }
}

}  // namespace
}  // namespace mayfly::net
