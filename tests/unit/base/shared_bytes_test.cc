#include "base/memory/shared_bytes.h"

#include <string>
#include <utility>

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("an empty SharedBytes refers to nothing") {
  SharedBytes none;
  CHECK_FALSE(none);
  CHECK(none.Release() == nullptr);
  CHECK_FALSE(SharedBytes::Adopt(nullptr));
}

TEST_CASE("a block is a copy of any bytes, also of zero bytes and of none") {
  const std::string bytes("a\0b", 3);
  CHECK(SharedBytes::Copy(bytes).view() == bytes);
  const SharedBytes empty = SharedBytes::Copy("");
  CHECK(static_cast<bool>(empty));
  CHECK(empty.size() == 0);
  CHECK(empty.view().empty());
}

TEST_CASE("copies share one block, which the last of them frees") {
  SharedBytes first = SharedBytes::Copy("payload");
  CHECK(first.Unique());
  {
    const SharedBytes second = first;
    CHECK(second.data() == first.data());
    CHECK_FALSE(first.Unique());
    CHECK_FALSE(second.Unique());
  }
  CHECK(first.Unique());
  CHECK(first.view() == "payload");
}

TEST_CASE("a move transfers the reference and leaves the source empty") {
  SharedBytes first = SharedBytes::Copy("payload");
  const char* const data = first.data();
  SharedBytes second = std::move(first);
  CHECK_FALSE(first);  // NOLINT(bugprone-use-after-move): the moved-from state is what is tested
  CHECK(second.data() == data);
  CHECK(second.Unique());
  first = std::move(second);
  CHECK(first.data() == data);
  CHECK(first.Unique());
}

TEST_CASE("assignment releases the old block, and self-assignment keeps it") {
  SharedBytes first = SharedBytes::Copy("one");
  const SharedBytes kept = first;
  first = SharedBytes::Copy("two");
  CHECK(kept.Unique());
  CHECK(kept.view() == "one");
  const SharedBytes& same = first;
  first = same;
  CHECK(first.Unique());
  CHECK(first.view() == "two");
}

TEST_CASE("a released reference is counted until it is adopted back") {
  SharedBytes first = SharedBytes::Copy("payload");
  SharedBytes second = first;
  void* const plain = second.Release();
  CHECK_FALSE(second);
  CHECK_FALSE(first.Unique());
  second = SharedBytes::Adopt(plain);
  CHECK(second.data() == first.data());
  second = SharedBytes();
  CHECK(first.Unique());
}

TEST_CASE("Truncate drops the bytes after the new size") {
  SharedBytes bytes = SharedBytes::Allocate(10);
  std::string_view("0123456789").copy(bytes.data(), 10);
  bytes.Truncate(4);
  CHECK(bytes.view() == "0123");
  bytes.Truncate(0);
  CHECK(bytes.view().empty());
}

TEST_CASE("Zeros makes a block of zero bytes") {
  CHECK(SharedBytes::Zeros(3).view() == std::string_view("\0\0\0", 3));
  CHECK(SharedBytes::Zeros(0).view().empty());
}

TEST_CASE("Own keeps an unshared block in place and copies a shared one") {
  SharedBytes bytes = SharedBytes::Copy("old");
  const char* const data = bytes.data();
  bytes.Detach(2);
  CHECK(bytes.data() == data);
  CHECK(bytes.view() == "old");
  const SharedBytes other = bytes;
  bytes.Detach(5);
  bytes.data()[0] = 'b';
  CHECK(bytes.view() == std::string_view("bld\0\0", 5));
  CHECK(other.view() == "old");
  CHECK(other.Unique());
  CHECK(bytes.Unique());
}

TEST_CASE("Own extends a block by zeros and keeps its bytes") {
  SharedBytes bytes = SharedBytes::Copy("front");
  for (size_t size = 6; size < 100'000; size += size / 2) {
    bytes.Detach(size);
    REQUIRE(bytes.size() == size);
    REQUIRE(bytes.view().substr(0, 5) == "front");
    REQUIRE(bytes.view().find_first_not_of('\0', 5) == std::string_view::npos);
  }
}

}  // namespace
}  // namespace mayfly
