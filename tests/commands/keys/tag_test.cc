// Tags, as clients use them: SET with TAGS, TAG, TAGS, TAGINFO and INVALIDATE.
#include <string>
#include <vector>

#include "commands/memory/no_memory_world.h"
#include "server/waiting/leases.h"
#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "INVALIDATE drops the keys that have one of the tags, and answers how many") {
  CHECK(Run({"SET", "page:7", "<p>", "EX", "60", "TAGS", "2", "user:1", "page:7"}) == Ok());
  CHECK(Run({"SET", "page:8", "<p>", "TAGS", "1", "user:1"}) == Ok());
  CHECK(Run({"SET", "page:9", "<p>", "TAGS", "1", "user:2"}) == Ok());
  TakeChanges();
  CHECK(Run({"INVALIDATE", "user:1", "page:7", "nobody"}) == Integer(2));
  CHECK(Run({"MGET", "page:7", "page:8", "page:9"}) == Array({Null(), Null(), Bulk("<p>")}));
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"INVALIDATE", "user:1"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "keys that are not freed yet are gone for every command") {
  for (int i = 0; i < 2000; ++i) Run({"SET", "k" + std::to_string(i), "v", "TAGS", "1", "t"});
  CHECK(Run({"INVALIDATE", "t"}) == Integer(2000));
  CHECK(Run({"KEYS", "*"}) == Array({}));
  CHECK(Run({"EXISTS", "k1", "k2"}) == Integer(0));
  CHECK(Run({"RANDOMKEY"}) == Null());
  CHECK(Run({"SET", "k1", "new", "NX"}) == Ok());
  CHECK(Run({"TTL", "k3"}) == Integer(-2));
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "tags are those of a database") {
  Run({"SET", "k", "v", "TAGS", "1", "t"});
  Run({"SELECT", "1"});
  Run({"SET", "k", "v", "TAGS", "1", "t"});
  CHECK(Run({"INVALIDATE", "t"}) == Integer(1));
  Run({"SELECT", "0"});
  CHECK(Run({"EXISTS", "k"}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "TAG gives tags to a key of any type, and TAGS tells them") {
  Run({"HSET", "session:1", "user", "ann"});
  CHECK(Run({"TAG", "session:1", "ann", "web", "ann"}) == Integer(2));
  CHECK(Run({"TAG", "session:1", "web", "new"}) == Integer(1));
  CHECK(Run({"TAG", "absent", "web"}) == Null());
  CHECK(Sorted(Run({"TAGS", "session:1"})) == Array({Bulk("ann"), Bulk("new"), Bulk("web")}));
  CHECK(Run({"TAGS", "absent"}) == Array({}));
  CHECK(Run({"HSET", "session:1", "user", "bob"}) == Integer(0));
  CHECK(Run({"EXPIRE", "session:1", "100"}) == Integer(1));
  CHECK(Run({"RENAME", "session:1", "session:2"}) == Ok());
  CHECK(Run({"COPY", "session:2", "session:3"}) == Integer(1));
  CHECK(Run({"INVALIDATE", "web"}) == Integer(2));
  CHECK(Run({"EXISTS", "session:2", "session:3"}) == Integer(0));
}

TEST_CASE_METHOD(CommandTest, "TAGINFO tells how many keys have a tag, and what it costs") {
  CHECK(Run({"TAGINFO", "t"}) == Null());
  Run({"SET", "a", "v", "TAGS", "1", "t"});
  Run({"SET", "b", "v", "PX", "5", "STALE", "100", "TAGS", "1", "t"});
  const Reply before = Run({"TAGINFO", "t"});
  REQUIRE(before.elements.size() == 6);
  CHECK(before.elements[0] == Bulk("keys"));
  CHECK(before.elements[1] == Integer(2));
  CHECK(before.elements[3] == Integer(0));
  CHECK(before.elements[4] == Bulk("bytes"));
  AdvanceTime(5);
  const Reply after = Run({"TAGINFO", "t"});
  CHECK(after.elements[1] == Integer(1));
  CHECK(after.elements[2] == Bulk("stale-values"));
  CHECK(after.elements[3] == Integer(1));
}

TEST_CASE_METHOD(CommandTest,
                 "a value that is put without tags has none, and one that is edited keeps its own") {
  const auto tagged = [&](const std::vector<std::string>& request) {
    Run({"DEL", "k"});
    Run({"SET", "k", "10", "EX", "100", "TAGS", "1", "t"});
    INFO(request[0]);
    CHECK(Run(request).kind != Reply::Kind::kError);
    CHECK(Run({"GET", "k"}).kind == Reply::Kind::kBulk);
    return Run({"TAGS", "k"}) == Array({Bulk("t")});
  };
  CHECK(tagged({"INCR", "k"}));
  CHECK(tagged({"INCREX", "k", "BYINT", "5", "EX", "50"}));
  CHECK(tagged({"APPEND", "k", "0"}));
  CHECK(tagged({"SETRANGE", "k", "0", "7"}));
  CHECK(tagged({"SETBIT", "k", "1", "1"}));
  CHECK(tagged({"PERSIST", "k"}));
  CHECK(tagged({"GETEX", "k", "EX", "5", "SLIDE"}));
  CHECK(tagged({"EXPIRE", "k", "5"}));
  CHECK(tagged({"SET", "k", "new", "KEEPTTL"}));
  CHECK(tagged({"MSETEX", "1", "k", "new", "KEEPTTL"}));
  CHECK_FALSE(tagged({"SET", "k", "new"}));
  CHECK_FALSE(tagged({"SET", "k", "new", "EX", "10"}));
  CHECK_FALSE(tagged({"SETEX", "k", "10", "new"}));
  CHECK_FALSE(tagged({"GETSET", "k", "new"}));
  CHECK_FALSE(tagged({"MSET", "k", "new"}));
  Run({"SET", "k", "v", "TAGS", "1", "old"});
  Run({"SET", "k", "v", "KEEPTTL", "TAGS", "1", "new"});
  CHECK(Run({"TAGS", "k"}) == Array({Bulk("new")}));
}

TEST_CASE_METHOD(CommandTest, "a tag that is the word of an option is refused: the option would be lost") {
  const Reply refused =
      Error("ERR a tag must not be the word of an option: is the count of TAGS too high? Put TAGS last");
  CHECK(Run({"SET", "k", "v", "TAGS", "3", "user:1", "EX", "60"}) == refused);
  CHECK(Run({"SET", "k", "v", "EX", "60", "TAGS", "2", "user:1", "keepttl"}) == refused);
  for (const char* word : {"EX", "px", "ExAt", "PXAT", "KEEPTTL", "NX", "XX", "GET", "IFEQ", "IFNE", "IFDEQ",
                           "IFDNE", "JITTER", "SLIDE", "MAX", "STALE", "iflease", "TAGS"})
    CHECK(Run({"SET", "k", "v", "TAGS", "1", word}) == refused);
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SET", "k", "v", "TAGS", "2", "user:1", "EXT", "EX", "60"}) == Ok());
  CHECK(Run({"TTL", "k"}) == Integer(60));
}

TEST_CASE_METHOD(CommandTest, "TAGS and TAG say what is wrong") {
  const Reply counted =
      Error("ERR TAGS is followed by a count and that many tags, as in TAGS 2 user:1 team:7");
  CHECK(Run({"SET", "k", "v", "TAGS"}) == counted);
  CHECK(Run({"SET", "k", "v", "TAGS", "0"}) == counted);
  CHECK(Run({"SET", "k", "v", "TAGS", "-1", "a"}) == counted);
  CHECK(Run({"SET", "k", "v", "TAGS", "x", "a"}) == counted);
  CHECK(Run({"SET", "k", "v", "TAGS", "2", "a"}) == counted);
  CHECK(Run({"SET", "k", "v", "TAGS", "1", "a", "TAGS", "1", "b"}) == Error("ERR TAGS is given twice"));
  std::vector<std::string> set{"SET", "k", "v", "TAGS", "256"};
  std::vector<std::string> tag{"TAG", "k"};
  for (int i = 0; i < 256; ++i) {
    set.push_back("t" + std::to_string(i));
    tag.push_back("t" + std::to_string(i));
  }
  CHECK(Run(set) == Error("ERR a key has at most 255 tags"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  set.pop_back();
  set[4] = "255";
  CHECK(Run(set) == Ok());
  CHECK(Run({"TAG", "k", "t1", "t2"}) == Integer(0));
  CHECK(Run({"TAG", "k", "one more"}) == Error("ERR a key has at most 255 tags"));
  CHECK(Run(tag) == Error("ERR a key has at most 255 tags"));
  CHECK(Run({"INVALIDATE", "t77"}) == Integer(1));
  const std::string longest(255, 't');
  CHECK(Run({"SET", "k", "v", "TAGS", "1", longest}) == Ok());
  CHECK(Run({"SET", "k", "v", "TAGS", "1", longest + "t"}) == Error("ERR a tag has at most 255 bytes"));
  CHECK(Run({"TAG", "k", longest + "t"}) == Error("ERR a tag has at most 255 bytes"));
  CHECK(Run({"INVALIDATE", longest + "t", longest}) == Integer(1));
}

TEST_CASE_METHOD(CommandTest, "a lease is void for a value with a tag that was invalidated since") {
  TestClient& ann = Connect();
  TestClient& bob = Connect();
  const std::string token = ann.Run({"TAKE", "k", "LEASE", "1000"}).elements.at(2).text;
  CHECK(bob.Run({"TAKE", "k", "LEASE", "1000", "WAIT", "1000"}) == NoReply());
  CHECK(Run({"INVALIDATE", "user:1"}) == Integer(0));
  CHECK(ann.Run({"SET", "k", "old", "IFLEASE", token, "TAGS", "2", "page", "user:1"}) == Null());
  // Who waits computes it anew.
  TurnWheels();
  const std::vector<Reply> received = bob.Received();
  REQUIRE(received.size() == 1);
  CHECK(received[0].elements.at(0) == Bulk("LEASE"));
  const std::string next = received[0].elements.at(2).text;
  CHECK(bob.Run({"SET", "k", "new", "IFLEASE", next, "TAGS", "1", "user:1"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("new"));
}

TEST_CASE_METHOD(CommandTest,
                 "the lease of another tag's value, or one from after the invalidation, is good") {
  const std::string token = Run({"TAKE", "a", "LEASE", "1000"}).elements.at(2).text;
  Run({"INVALIDATE", "user:1"});
  CHECK(Run({"SET", "a", "v", "IFLEASE", token, "TAGS", "1", "user:2"}) == Ok());
  const std::string later = Run({"TAKE", "b", "LEASE", "1000"}).elements.at(2).text;
  CHECK(Run({"SET", "b", "v", "IFLEASE", later, "TAGS", "1", "user:1"}) == Ok());
}

TEST_CASE_METHOD(CommandTest, "more invalidations than are remembered make a lease void rather than wrong") {
  const std::string token = Run({"TAKE", "k", "LEASE", "1000"}).elements.at(2).text;
  for (size_t i = 0; i <= Invalidations::kRemembered; ++i) Run({"INVALIDATE", "t" + std::to_string(i)});
  CHECK(Run({"SET", "k", "v", "IFLEASE", token, "TAGS", "1", "other"}) == Null());
}

TEST_CASE_METHOD(CommandTest, "TAKE answers no stale value that was invalidated") {
  Run({"SET", "k", "old", "PX", "5", "STALE", "1000", "TAGS", "1", "t"});
  AdvanceTime(5);
  CHECK(Run({"INVALIDATE", "t"}) == Integer(0));
  const Reply reply = Run({"TAKE", "k", "LEASE", "100"});
  CHECK(reply.elements.at(0) == Bulk("LEASE"));
  CHECK(reply.elements.at(1) == Null());
}

TEST_CASE_METHOD(CommandTest, "those who watch, track and listen hear of keys that were invalidated") {
  SetOption("notify-keyspace-events", "KEA");
  SetOption("expire-log-size", "1mb");
  TestClient& watcher = Connect();
  TestClient& tracker = Connect();
  tracker.UseResp3();
  Run({"SET", "k", "v", "TAGS", "1", "t"});
  watcher.Run({"WATCH", "k"});
  tracker.Run({"CLIENT", "TRACKING", "ON"});
  tracker.Run({"GET", "k"});
  TakeChanges();
  CHECK(Run({"INVALIDATE", "t"}) == Integer(1));
  CHECK(TakeChanges() == std::vector<std::string>{"del k"});
  watcher.Run({"MULTI"});
  watcher.Run({"GET", "k"});
  CHECK(watcher.Run({"EXEC"}) == NullArray());
  CHECK(tracker.Received().size() == 1);
  const Reply log = Run({"EXPLOG", "READ", "0"});
  REQUIRE(log.elements.size() == 1);
  CHECK(log.elements[0].elements.at(2) == Bulk("invalidated"));
  CHECK(log.elements[0].elements.at(4) == Bulk("k"));
  CHECK(Run({"GET", "k"}) == Null());
  const std::string info = Run({"INFO", "stats"}).text;
  CHECK(info.find("\r\nkeyspace_misses_invalidated:1\r\n") != std::string::npos);
  CHECK(info.find("\r\ninvalidated_keys:1\r\n") != std::string::npos);
}

TEST_CASE_METHOD(CommandTest, "INVALIDATE works in transactions and scripts") {
  Run({"SET", "a", "v", "TAGS", "1", "t"});
  Run({"MULTI"});
  Run({"INVALIDATE", "t"});
  Run({"SET", "b", "v", "TAGS", "1", "t"});
  CHECK(Run({"EXEC"}) == Array({Integer(1), Ok()}));
  CHECK(Run({"EVAL", "return redis.call('INVALIDATE', 't')", "0"}) == Integer(1));
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE("whichever allocation fails, a key has the tags that it had or those that it was to get") {
  const std::string block(100'000, 'x');
  const std::vector<Words> requests = {
      {"SET", "k", "new", "EX", "100", "TAGS", "2", "t", "new"},
      {"SET", "fresh", block, "TAGS", "1", "fresh"},
      {"SET", "k", "new", "KEEPTTL"},
      {"EXPIRE", "k", "200"},
      {"TAG", "k", "x", "y"},
      {"TAG", "h", "x", "t"},
      {"COPY", "k", "copy"},
      {"RENAME", "k", "renamed"},
      {"MOVE", "k", "1"},
      {"APPEND", "k", "more"},
      {"MSETEX", "2", "k", "a", "x", "b", "KEEPTTL"},
      {"INVALIDATE", "t"},
      {"TAGS", "k"},
      {"FLUSHALL"},
  };
  for (const Words& request : requests) {
    for (size_t nth = 1; nth < 200; ++nth) {
      World world({{"SET", "k", "v", "EX", "100", "TAGS", "2", "t", "u"}, {"HSET", "h", "f", "v"}});
      world.Run(world.client, request, nth);
      const bool failed = AllocationFailed();
      INFO(request[0] << " " << request[1 % request.size()] << " " << nth);
      REQUIRE(world.Valid());
      REQUIRE(world.Works());
      if (!failed) break;
    }
  }
}

}  // namespace mayfly::testing
