// INFO's subexpiry: how many keys have members with a TTL.
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class SubExpiryTest : public CommandTest {
 public:
  // What INFO says of a database; nothing if it has no keys.
  std::string SubExpiry(unsigned database = 0) {
    const std::string text = Run({"INFO", "keyspace"}).text;
    const size_t line = text.find("db" + std::to_string(database) + ":");
    const size_t at = text.find("subexpiry=", line);
    return at == std::string::npos ? "" : text.substr(at + 10, text.find('\r', at) - at - 10);
  }
};

}  // namespace

TEST_CASE_METHOD(SubExpiryTest, "subexpiry counts the keys with members that have a TTL") {
  Run({"HSET", "h", "f", "1", "g", "2"});
  Run({"SET", "k", "v", "EX", "100"});
  CHECK(SubExpiry() == "0");
  Run({"HEXPIRE", "h", "10", "FIELDS", "2", "f", "g"});
  CHECK(SubExpiry() == "1");
  Run({"SADDEX", "s", "20", "a"});
  Run({"ZADD", "z", "1", "a", "2", "b"});
  Run({"EXPIREMEMBER", "z", "a", "5"});
  CHECK(SubExpiry() == "3");
  // Whenever the key's own TTL ends, and if it is taken away.
  for (const char* seconds : {"1", "1000"}) Run({"EXPIRE", "h", seconds});
  CHECK(SubExpiry() == "3");
  Run({"HEXPIRE", "h", "2000", "GT", "FIELDS", "1", "f"});
  Run({"EXPIRE", "h", "1000"});
  Run({"HEXPIRE", "h", "30", "GT", "FIELDS", "1", "f"});  // changes nothing
  CHECK(SubExpiry() == "3");
  Run({"PERSIST", "h"});
  CHECK(SubExpiry() == "3");
  Run({"HPERSIST", "h", "FIELDS", "1", "f"});
  CHECK(SubExpiry() == "3");
  Run({"HDEL", "h", "g"});
  CHECK(SubExpiry() == "2");
  AdvanceTime(5'000);
  CHECK(SubExpiry() == "1");
  CHECK(Run({"ZRANGE", "z", "0", "-1"}) == Array({Bulk("b")}));
  AdvanceTime(15'000);
  CHECK(SubExpiry() == "0");
  CHECK(Run({"EXISTS", "s"}) == Integer(0));
}

TEST_CASE_METHOD(SubExpiryTest, "subexpiry is right however a key with such members comes and goes") {
  const auto set_fields = [this](const std::string& key) {
    Run({"HSETEX", key, "EX", "100", "FIELDS", "2", "f", "1", "g", "2"});
  };
  set_fields("h");
  Run({"COPY", "h", "copy"});
  CHECK(SubExpiry() == "2");
  Run({"RENAME", "copy", "h"});
  CHECK(SubExpiry() == "1");
  Run({"MOVE", "h", "1"});
  Run({"SET", "k", "v"});
  CHECK(SubExpiry() == "0");
  CHECK(SubExpiry(1) == "1");
  Run({"SWAPDB", "0", "1"});
  CHECK(SubExpiry() == "1");
  CHECK(SubExpiry(1) == "0");
  // A text as long as what the entry held, with a TTL as it had: it may take the place of the hash.
  Run({"EXPIRE", "h", "50"});
  CHECK(SubExpiry() == "1");
  Run({"SET", "h", "8 bytes.", "EX", "50"});
  CHECK(SubExpiry() == "0");
  for (const char* key : {"a", "b", "c"}) set_fields(key);
  for (const char* key : {"a", "b", "c"}) Run({"EXPIRE", key, "50"});
  Run({"MSETEX", "2", "a", "8 bytes.", "new", "v", "EX", "50"});
  CHECK(SubExpiry() == "2");
  Run({"MSETEX", "1", "b", "8 bytes.", "EX", "50"});
  CHECK(SubExpiry() == "1");
  Run({"SUNIONSTORE", "c", "none"});
  CHECK(SubExpiry() == "0");
  set_fields("h");
  Run({"DEL", "h"});
  set_fields("gone");
  Run({"EXPIRE", "gone", "1"});
  AdvanceTime(1'000);
  CHECK(SubExpiry() == "0");
  SetOption("maxmemory-policy", "allkeys-lru");
  set_fields("coldest");
  AdvanceTime(100);
  for (const char* key : {"a", "b", "new"}) Run({"GET", key});
  CHECK(SubExpiry() == "1");
  SetOption("maxkeys", "3");
  Run({"SET", "a", "v"});
  CHECK(Run({"EXISTS", "coldest"}) == Integer(0));
  CHECK(SubExpiry() == "0");
  SetOption("maxkeys", "0");
  set_fields("h");
  Run({"FLUSHDB"});
  Run({"SET", "k", "v"});
  CHECK(SubExpiry() == "0");
}

}  // namespace mayfly::testing
