#include "snapshot/format/types.h"

#include "support/catch.h"

namespace mayfly::rdb {

TEST_CASE("each type and opcode has the version in which Redis wrote it first") {
  CHECK(SmallestVersion(type::kString) == 6);
  CHECK(SmallestVersion(type::kHash) == 6);
  CHECK(SmallestVersion(type::kZset) == 8);
  CHECK(SmallestVersion(type::kStream) == 9);
  CHECK(SmallestVersion(type::kStream2) == 10);
  CHECK(SmallestVersion(type::kStream3) == 11);
  CHECK(SmallestVersion(type::kHashTtl) == 12);
  CHECK(SmallestVersion(opcode::kDeadlineMs) == 6);
  CHECK(SmallestVersion(opcode::kAux) == 7);
  CHECK(SmallestVersion(opcode::kIdle) == 9);
  CHECK(SmallestVersion(opcode::kFunction) == 10);
  CHECK(SmallestVersion(type::kStream4) == 13);
  CHECK(SmallestVersion(type::kStream5) == 14);
}

TEST_CASE("numbers without a meaning, and those of pre-releases, have no version") {
  for (const int code : {6, 8, 22, 23, 28, 100, 200, 242, 246})
    CHECK(SmallestVersion(static_cast<uint8_t>(code)) == 0);
}

}  // namespace mayfly::rdb
