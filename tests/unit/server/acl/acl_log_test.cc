#include "server/acl/acl_log.h"

#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

AclLog::Entry Denied(const std::string& key, uint64_t mono_ms) {
  return {.reason = AclLog::Reason::kKey,
          .where = AclLog::Where::kTopLevel,
          .object = key,
          .user = "app",
          .client = "id=1 at " + std::to_string(mono_ms),
          .mono_ms = mono_ms,
          .wall_ms = 1'000'000 + static_cast<int64_t>(mono_ms)};
}

}  // namespace

TEST_CASE("equal refusals within a minute are one entry, with the time and the client of the last") {
  AclLog log;
  log.Add(Denied("a", 1), 128);
  log.Add(Denied("b", 2), 128);
  log.Add(Denied("a", 1 + AclLog::kSameMs), 128);
  REQUIRE(log.entries().size() == 2);
  CHECK(log.entries()[0].object == "a");
  CHECK(log.entries()[0].count == 2);
  CHECK(log.entries()[0].client == "id=1 at 60001");
  log.Add(Denied("a", 2 + 2 * AclLog::kSameMs), 128);
  CHECK(log.entries().size() == 3);
  CHECK(log.entries()[0].count == 1);
}

TEST_CASE("an entry that is counted again keeps its id and its first time") {
  AclLog log;
  log.Add(Denied("a", 1), 128);
  log.Add(Denied("b", 2), 128);
  log.Add(Denied("a", 5), 128);
  REQUIRE(log.entries().size() == 2);
  CHECK(log.entries()[0].id == 0);
  CHECK(log.entries()[0].created_wall_ms == 1'000'001);
  CHECK(log.entries()[0].wall_ms == 1'000'005);
  CHECK(log.entries()[1].id == 1);
  log.Clear();
  log.Add(Denied("a", 6), 128);
  CHECK(log.entries()[0].id == 2);
  CHECK(log.entries()[0].created_wall_ms == 1'000'006);
}

TEST_CASE("only the newest entries are compared, and no more are kept than asked for") {
  AclLog log;
  for (int i = 0; i < 11; ++i) log.Add(Denied("k" + std::to_string(i), 1), 11);
  log.Add(Denied("k0", 1), 11);
  CHECK(log.entries().size() == 11);
  CHECK(log.entries()[0].object == "k0");
  CHECK(log.entries()[0].count == 1);
  CHECK(log.entries()[10].object == "k1");
  for (int i = 0; i < 10; ++i) log.Add(Denied("new" + std::to_string(i), 1), 11);
  log.Add(Denied("k0", 1), 2);
  REQUIRE(log.entries().size() == 2);
  CHECK(log.entries()[0].object == "k0");
  CHECK(log.entries()[1].object == "new9");
  log.Add(Denied("k", 1), 0);
  CHECK(log.entries().empty());
}

TEST_CASE("of a long key or name only the beginning is kept") {
  AclLog log;
  log.Add(Denied(std::string(5000, 'x'), 1), 128);
  CHECK(log.entries()[0].object == std::string(AclLog::kLongestText, 'x'));
  AclLog::Entry entry = Denied("k", 1);
  entry.user = std::string(AclLog::kLongestText, 'u') + "one";
  log.Add(entry, 128);
  CHECK(log.entries()[0].user == std::string(AclLog::kLongestText, 'u'));
  // Names that begin with the same bytes count as one.
  entry.user = std::string(AclLog::kLongestText, 'u') + "other";
  log.Add(entry, 128);
  CHECK(log.entries().size() == 2);
  CHECK(log.entries()[0].count == 2);
}

}  // namespace mayfly
