#include "base/bits/key_slot.h"

#include <string>

#include "support/catch.h"

namespace mayfly {

TEST_CASE("the checksum is XMODEM's") {
  CHECK(Crc16("") == 0);
  CHECK(Crc16("123456789") == 0x31C3);
  CHECK(Crc16(std::string(3, '\0')) == 0);
  CHECK(Crc16("\xFF") == 0x1EF0);
}

// A redis-server 7.0.15 answered these to CLUSTER KEYSLOT.
TEST_CASE("a key has the slot that Redis gives it") {
  CHECK(SlotOf("") == 0);
  CHECK(SlotOf("a") == 15495);
  CHECK(SlotOf("b") == 3300);
  CHECK(SlotOf("foo") == 12182);
  CHECK(SlotOf("foo{bar}") == 5061);
}

TEST_CASE("only the first hash tag counts, and an empty or open one does not") {
  CHECK(HashTagOf("foo{bar}baz{qux}") == "bar");
  CHECK(HashTagOf("{bar}") == "bar");
  CHECK(HashTagOf("foo{{bar}}") == "{bar");
  CHECK(HashTagOf("foo{}{bar}") == "foo{}{bar}");
  CHECK(HashTagOf("{b") == "{b");
  CHECK(HashTagOf("}b{a") == "}b{a");
  CHECK(HashTagOf("}{a}") == "a");
  CHECK(SlotOf("foo{bar}") == SlotOf("bar"));
  CHECK(SlotOf("{}b") == 6680);
  CHECK(SlotOf("{b") == 6215);
  CHECK(SlotOf("a{}{b}") == 15033);
}

}  // namespace mayfly
