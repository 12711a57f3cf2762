#include "snapshot/format/dump_footer.h"

#include "support/catch.h"
#include "unit/snapshot/format/hex.h"

namespace mayfly::rdb {

// A redis-server 7.0.15 answered this to SET s hello, DUMP s.
TEST_CASE("the footer of a DUMP payload is Redis's") {
  const std::string payload = FromHex("000568656c6c6f 0a00 6372df766534200a");
  const std::optional<DumpPayload> checked = CheckDumpFooter(payload);
  REQUIRE(checked);
  CHECK(checked->version == 10);
  CHECK(checked->value == FromHex("000568656c6c6f"));

  std::string made = FromHex("000568656c6c6f");
  AppendDumpFooter(made, 10);
  CHECK(made == payload);
}

TEST_CASE("a payload with a wrong checksum, or without room for one, is refused") {
  std::string payload = "\x02";
  AppendDumpFooter(payload, 0x1234);
  CHECK(CheckDumpFooter(payload)->version == 0x1234);
  for (size_t at = 0; at < payload.size(); ++at) {
    std::string damaged = payload;
    damaged[at] ^= 1;
    CHECK(!CheckDumpFooter(damaged));
  }
  for (size_t size = 0; size < payload.size(); ++size) CHECK(!CheckDumpFooter(payload.substr(0, size)));
}

}  // namespace mayfly::rdb
