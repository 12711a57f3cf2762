// Times of consumers and deliveries that no clock shows: they come in payloads.
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "snapshot/format/byte_order.h"
#include "snapshot/format/dump_footer.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

std::string Millis(int64_t ms) {
  std::string bytes;
  rdb::Out(bytes).Millis(ms);
  return bytes;
}

}  // namespace

TEST_CASE_METHOD(CommandTest,
                 "a consumer and a delivery may have any time: all commands answer with numbers") {
  Run({"XADD", "s", "1-0", "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"});
  const std::string now = Millis(WallMs());
  const std::string plain = Run({"DUMP", "s"}).text;
  for (const int64_t ms : {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::min() + 1,
                           int64_t{-2}, int64_t{0}, std::numeric_limits<int64_t>::max()}) {
    CAPTURE(ms);
    std::string payload = plain.substr(0, plain.size() - rdb::kDumpFooterBytes);
    size_t replaced = 0;
    for (size_t at = payload.find(now); at != std::string::npos; at = payload.find(now, at)) {
      payload.replace(at, now.size(), Millis(ms));
      ++replaced;
    }
    REQUIRE(replaced >= 2);  // the consumer, and the delivery
    rdb::AppendDumpFooter(payload, rdb::version::kRedis70);
    REQUIRE(Run({"RESTORE", "s", "0", payload, "REPLACE"}) == Ok());
    const std::vector<Reply> consumer = Run({"XINFO", "CONSUMERS", "s", "g"}).elements.at(0).elements;
    const bool in_range = ms > -WallMs() && ms <= WallMs();
    CHECK(consumer.at(5) == Integer(in_range ? WallMs() - ms : 0));
    const Reply pending = Run({"XPENDING", "s", "g", "-", "+", "10"});
    CHECK(pending.elements.at(0).elements.at(2) == Integer(in_range ? WallMs() - ms : 0));
    CHECK(Run({"XINFO", "STREAM", "s", "FULL"}).kind != Reply::Kind::kError);
    CHECK(Run({"XREADGROUP", "GROUP", "g", "d", "STREAMS", "s", "0"}).kind != Reply::Kind::kError);
    CHECK(Run({"XAUTOCLAIM", "s", "g", "d", "1000", "0"}).kind != Reply::Kind::kError);
    const Reply claimed = Run({"XREADGROUP", "GROUP", "g", "d", "CLAIM", "1000", "STREAMS", "s", ">"});
    CHECK(claimed.kind != Reply::Kind::kError);
  }
}

TEST_CASE_METHOD(CommandTest, "payloads of Redis 7.2 tell when a consumer got something, if it ever did") {
  Run({"XADD", "s", "1-0", "f", "v"});
  Run({"XGROUP", "CREATE", "s", "g", "0"});
  Run({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"});
  const std::string plain = Run({"DUMP", "s"}).text;
  const std::string now = Millis(WallMs());
  for (const int64_t active_ms : {WallMs() - 5'000, WallMs(), int64_t{-1}}) {
    CAPTURE(active_ms);
    std::string payload = plain.substr(0, plain.size() - rdb::kDumpFooterBytes);
    payload.at(0) = static_cast<char>(rdb::type::kStream3);
    payload.insert(payload.rfind(now) + now.size(), Millis(active_ms));  // after the time when it was seen
    rdb::AppendDumpFooter(payload, rdb::SmallestVersion(rdb::type::kStream3));
    REQUIRE(Run({"RESTORE", "s", "0", payload, "REPLACE"}) == Ok());
    const std::vector<Reply> consumer = Run({"XINFO", "CONSUMERS", "s", "g"}).elements.at(0).elements;
    CHECK(consumer.at(5) == Integer(0));
    CHECK(consumer.at(7) == Integer(active_ms == -1 ? -1 : WallMs() - active_ms));
  }
}

}  // namespace mayfly::testing
