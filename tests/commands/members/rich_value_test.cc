// The commands for keys of any type on a value that is not a string, and the commands on strings that refuse
// it. The value is a bag of texts that the test puts there: no command makes one.
#include "cache/keyspace/databases.h"
#include "commands/memory/failing_allocation.h"
#include "exec/dispatch/context.h"
#include "exec/values/dataset_digest.h"
#include "support/bag_value.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;

constexpr Event kAdd{"add"};

class RichValueTest : public CommandTest {
 public:
  RichValueTest() { StartWith("enable-debug-command", "yes"); }

  void PutBag(const std::string& key, std::unique_ptr<Bag> bag = Bag::Of(3), unsigned index = 0) {
    const Now now = server().clock.Read();
    const Key hashed = keyspace(index).KeyOf(key);
    keyspace(index).PutRich(hashed, keyspace(index).Peek(hashed, now), std::move(bag), Expiry::Never(), now,
                            kAdd);
  }
};

const Reply kWrong = Error("WRONGTYPE Operation against a key holding the wrong kind of value");

// Only its type is asked for.
class OtherValue : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kHash;
};

}  // namespace

TEST_CASE_METHOD(RichValueTest, "keys of any type have a type, an encoding, a size and a place in SCAN") {
  PutBag("bag");
  Run({"SET", "text", "v"});
  CHECK(Run({"TYPE", "bag"}) == Simple("list"));
  CHECK(Run({"OBJECT", "ENCODING", "bag"}) == Bulk("bag"));
  CHECK(Run({"SCAN", "0", "TYPE", "list"}) == Array({Bulk("0"), Bulks({"bag"})}));
  CHECK(Run({"SCAN", "0", "TYPE", "string"}) == Array({Bulk("0"), Bulks({"text"})}));
  const int64_t usage = Run({"MEMORY", "USAGE", "bag"}).integer;
  const int64_t of_bag = Bag::kOwnBytes + 3 * Bag::kBytesPerText;
  CHECK((usage > of_bag && usage < of_bag + 100));
  CHECK(Run({"EXISTS", "bag", "text"}) == Integer(2));
  CHECK(Run({"OBJECT", "REFCOUNT", "bag"}) == Integer(1));
  const Reply object = Run({"DEBUG", "OBJECT", "bag"});
  CHECK(object.text.find("encoding:bag serializedlength:22 ") != std::string::npos);
}

TEST_CASE_METHOD(RichValueTest, "the digest of a value is that of a Redis server with the same value") {
  using Texts = std::list<std::string>;
  PutBag("l", std::make_unique<Bag>(Texts{"a", "b", "c"}));  // RPUSH l a b c
  CHECK(Run({"DEBUG", "DIGEST"}) == Simple("625aa282e03653452879ea5bf1ee7a453f83f55b"));
  PutBag("s", std::make_unique<Bag>(Texts{"b", "c", "a"}, ValueType::kSet));           // SADD s a b c
  PutBag("h", std::make_unique<Bag>(Texts{"b", "2", "a", "1"}, ValueType::kHash, 2));  // HSET h a 1 b 2
  CHECK(Run({"DEBUG", "DIGEST-VALUE", "l", "s", "h"}) ==
        Array({Simple("8bf72d812571eea9b927f3c11beb0c4165a6ff89"),
               Simple("593c2414786d75446e97f4ea5d4b731f3313da72"),
               Simple("6c8f22b3bf510fdcfd6122dd0f908a80e88243bf")}));
  CHECK(Run({"TYPE", "s"}) == Simple("set"));
  CHECK(Run({"TYPE", "h"}) == Simple("hash"));
}

TEST_CASE_METHOD(RichValueTest, "a rich value is renamed, moved, copied, timed and deleted like any other") {
  PutBag("bag");
  TakeChanges();
  CHECK(Run({"RENAME", "bag", "other"}) == Ok());
  CHECK(Run({"RENAME", "other", "other"}) == Ok());
  CHECK(Run({"COPY", "other", "copy"}) == Integer(1));
  CHECK(Run({"MOVE", "other", "1"}) == Integer(1));
  CHECK(Run({"EXPIRE", "copy", "10"}) == Integer(1));
  CHECK(Run({"TTL", "copy"}) == Integer(10));
  CHECK(TakeChanges() == Lines{"rename_from bag", "new other", "rename_to other", "new copy", "copy_to copy",
                               "move_from other", "new other in 1", "move_to other in 1", "expire copy"});
  CHECK(Run({"PERSIST", "copy"}) == Integer(1));
  CHECK(Run({"DEL", "copy"}) == Integer(1));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"SELECT", "1"}) == Ok());
  CHECK(Run({"TYPE", "other"}) == Simple("list"));
  CHECK(Run({"SET", "other", "text"}) == Ok());
  CHECK(Run({"GET", "other"}) == Bulk("text"));
  PutBag("timed", Bag::Of(1000), 1);
  CHECK(Run({"PEXPIRE", "timed", "5"}) == Integer(1));
  AdvanceTime(5);
  CHECK(Run({"EXISTS", "timed"}) == Integer(0));
  PutBag("big", Bag::Of(1000), 1);
  CHECK(Run({"FLUSHALL"}) == Ok());
  AdvanceTime(1);
  CHECK(server().databases.waiting_bytes() == 0);
}

TEST_CASE_METHOD(RichValueTest, "commands on strings and bitmaps refuse another type, and change nothing") {
  PutBag("bag");
  Run({"SET", "text", "v"});
  TakeChanges();
  const std::vector<Words> requests = {
      {"GET", "bag"},
      {"GETDEL", "bag"},
      {"GETEX", "bag", "EX", "10"},
      {"GETSET", "bag", "v"},
      {"SET", "bag", "v", "GET"},
      {"SET", "bag", "v", "IFEQ", "v"},
      {"STRLEN", "bag"},
      {"APPEND", "bag", "v"},
      {"GETRANGE", "bag", "0", "1"},
      {"SUBSTR", "bag", "0", "1"},
      {"SETRANGE", "bag", "0", "v"},
      {"SETRANGE", "bag", "0", ""},
      {"INCR", "bag"},
      {"DECR", "bag"},
      {"INCRBY", "bag", "1"},
      {"DECRBY", "bag", "1"},
      {"INCRBYFLOAT", "bag", "1"},
      {"INCREX", "bag"},
      {"INCREX", "bag", "BYFLOAT", "1"},
      {"DIGEST", "bag"},
      {"DELIFEQ", "bag", "v"},
      {"SETBIT", "bag", "1", "1"},
      {"GETBIT", "bag", "1"},
      {"BITCOUNT", "bag"},
      {"BITPOS", "bag", "1"},
      {"BITFIELD", "bag", "SET", "u8", "0", "1"},
      {"BITFIELD", "bag", "GET", "u8", "0"},
      {"BITFIELD_RO", "bag", "GET", "u8", "0"},
      {"BITOP", "AND", "text", "text", "bag"},
  };
  for (const Words& request : requests) {
    INFO(request[0]);
    CHECK(Run(request) == kWrong);
  }
  CHECK(Run({"LCS", "bag", "text"}) == Error("ERR The specified keys must contain string values"));
  CHECK(Run({"DELEX", "bag", "IFEQ", "v"}) ==
        Error("ERR Key should be of string type if conditions are specified"));
  CHECK(Run({"MGET", "bag", "text"}) == Array({Null(), Bulk("v")}));
  CHECK(Run({"SETNX", "bag", "v"}) == Integer(0));
  CHECK(Run({"MSETNX", "bag", "v", "other", "v"}) == Integer(0));
  CHECK(TakeChanges().empty());
  CHECK(Run({"TYPE", "bag"}) == Simple("list"));
}

TEST_CASE_METHOD(RichValueTest, "what overwrites a string overwrites any value") {
  const std::vector<Words> requests = {{"SET", "bag", "v"},
                                       {"SETEX", "bag", "10", "v"},
                                       {"MSET", "a", "v", "bag", std::string(100'000, 'v')},
                                       {"MSETEX", "1", "bag", "v", "EX", "10"},
                                       {"BITOP", "OR", "bag", "text"},
                                       {"COPY", "text", "bag", "REPLACE"},
                                       {"RENAME", "text", "bag"},
                                       {"DELEX", "bag"},
                                       {"UNLINK", "bag"}};
  for (const Words& request : requests) {
    INFO(request[0]);
    Run({"SET", "text", "v"});
    PutBag("bag", Bag::Of(100));
    CHECK(Run(request).kind != Reply::Kind::kError);
    CHECK(Run({"TYPE", "bag"}) != Simple("list"));
    CHECK(server().databases.waiting_keys() == 1);
    AdvanceTime(0);
    CHECK(server().databases.waiting_keys() == 0);
  }
}

TEST_CASE_METHOD(RichValueTest,
                 "eviction takes values of any type, and those that wait to be freed drive out no other") {
  SetOption("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 20; ++i) PutBag("bag" + std::to_string(i), Bag::Of(200));
  SetOption("maxkeys", "5");
  Run({"SET", "text", "v"});
  CHECK(Run({"DBSIZE"}) == Integer(5));
  CHECK(server().databases.waiting_keys() == 16);
  CHECK(server().memory.Data() < server().memory.Used());
  AdvanceTime(0);
  CHECK(server().databases.waiting_keys() == 0);
}

TEST_CASE_METHOD(RichValueTest, "a handler gets the value with its type, or the error is answered for it") {
  PutBag("bag");
  Run({"SET", "text", "v"});
  Context ctx{.server = server().server,
              .session = client().session(),
              .row = *server().commands.Find("get"),
              .keyspace = keyspace(),
              .reply = client().session().reply,
              .now = server().executor.now(),
              .origin = Origin::kClient};
  Typed<Bag> found;
  REQUIRE(ctx.ReadTyped(keyspace().KeyOf("bag"), found));
  CHECK(found.value->Size() == 3);
  CHECK(found.entry == keyspace().Peek(keyspace().KeyOf("bag"), ctx.now));
  Typed<Bag> absent;
  CHECK(ctx.ReadTyped(keyspace().KeyOf("absent"), absent));
  CHECK(absent.value == nullptr);
  CHECK(client().Received().empty());
  CHECK(stats().keyspace_misses == 1);
  CHECK_FALSE(ctx.FindTyped(keyspace().KeyOf("text"), absent));
  CHECK(client().Received() == std::vector<Reply>{kWrong});
  Typed<OtherValue> other;
  CHECK_FALSE(ctx.FindTyped(keyspace().KeyOf("bag"), other));
  CHECK(client().Received() == std::vector<Reply>{kWrong});
}

TEST_CASE("whichever allocation fails, a rich value is where it was or where it goes") {
  const std::vector<Words> requests = {
      {"RENAME", "bag", "a name that is too long to lie in a string itself"},
      {"RENAME", "bag", "text"},
      {"MOVE", "bag", "3"},
      {"COPY", "bag", "new"},
      {"COPY", "bag", "text", "REPLACE"},
      {"EXPIRE", "bag", "100"},
      {"SET", "bag", std::string(50'000, 'v')},
      {"MSET", "new", "v", "bag", "v"},
      {"DEL", "bag"},
      {"FLUSHALL"},
  };
  size_t failures = 0;
  for (const Words& request : requests) {
    INFO(request[0]);
    for (size_t nth = 1;; ++nth) {
      LooplessServer server;
      Session session(server.chunks);
      server.Connect(session);
      const Now now = server.executor.RefreshNow();
      Keyspace& keyspace = server.databases.At(0);
      keyspace.PutRich(keyspace.KeyOf("bag"), nullptr, Bag::Of(100), Expiry::Never(), now, kAdd);
      keyspace.Put(keyspace.KeyOf("text"), nullptr, StringValue::Of("v"), Expiry::Never(), now);
      const Sha1 before = DigestOfAll(server.databases, now);
      const std::string input = EncodeRequest(request);
      Feed feed{.session = &session, .input = input};
      {
        const FailingAllocation failing(nth);
        server.executor.Run({&feed, 1});
      }
      const bool failed = AllocationFailed();
      const bool done = DigestOfAll(server.databases, now) != before;
      failures += failed && !done;
      CHECK((failed || done));
      for (unsigned i = 0; i < server.databases.count(); ++i) CHECK(server.databases.At(i).Validate());
      server.sessions.Remove(session);
      if (!failed) break;
    }
  }
  CHECK(failures > 10);
}

}  // namespace mayfly::testing
