// SET with STALE, and what TAKE answers after the deadline: one client computes the new value, the others get the old
// one meanwhile.
#include <random>
#include <string>
#include <vector>

#include "server/hubs/hubs.h"
#include "server/waiting/leases.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;
Reply Hit(std::string_view value, int64_t pttl) {
  return Array({Bulk("HIT"), Bulk(value), Null(), Integer(pttl)});
}
Reply Stale(std::string_view value) { return Array({Bulk("STALE"), Bulk(value), Null(), Integer(-2)}); }

class StaleTest : public CommandTest {
 public:
  StaleTest() : a(Connect()), b(Connect()), c(Connect()) {}
  ~StaleTest() { CHECK(server().leases.Validate()); }

  Reply Take(TestClient& client, const std::string& key = "k") {
    return client.Run({"TAKE", key, "LEASE", "1000", "WAIT", "5000"});
  }
  // The token of a lease that comes with this value; "": with none.
  std::string Lease(TestClient& client, std::string_view value, const std::string& key = "k") {
    const Reply reply = Take(client, key);
    REQUIRE(reply.elements.size() == 4);
    REQUIRE(reply.elements[0] == Bulk("LEASE"));
    REQUIRE(reply.elements[1] == (value.empty() ? Null() : Bulk(value)));
    REQUIRE(reply.elements[3] == Integer(-2));
    return reply.elements[2].text;
  }
  // "k" with the value "old" has expired, and is stale for 30 s.
  void MakeStale() {
    REQUIRE(Run({"SET", "k", "old", "EX", "60", "STALE", "30"}) == Ok());
    AdvanceTime(60'000);
  }
  std::string Info(const std::string& field) {
    const std::string info = Run({"INFO", "everything"}).text;
    const size_t at = info.find("\r\n" + field + ":");
    if (at == std::string::npos) return "none";
    const size_t from = at + field.size() + 3;
    return info.substr(from, info.find('\r', from) - from);
  }
  // Whether there is a stale value: then a lease comes with one. The key's leases end.
  bool IsStale(const std::string& key = "k") {
    const Reply reply = c.Run({"TAKE", key, "LEASE", "1000"});
    REQUIRE(reply.elements.size() == 4);
    REQUIRE(reply.elements[0] == Bulk("LEASE"));
    c.Run({"UNLEASE", key, reply.elements[2].text});
    return reply.elements[1].kind == Reply::Kind::kBulk;
  }

  TestClient& a;
  TestClient& b;
  TestClient& c;
};

}  // namespace

TEST_CASE_METHOD(StaleTest, "after the deadline one client gets the lease, and all get the old value") {
  CHECK(Run({"SET", "k", "old", "EX", "60", "STALE", "30"}) == Ok());
  CHECK(Take(a) == Hit("old", 60'000));
  AdvanceTime(59'999);
  CHECK(Take(a) == Hit("old", 1));
  AdvanceTime(1);
  const std::string token = Lease(a, "old");
  CHECK(Take(b) == Stale("old"));
  CHECK(Take(a) == Stale("old"));
  CHECK(a.Run({"SET", "k", "new", "EX", "60", "STALE", "30", "IFLEASE", token}) == Ok());
  CHECK(Take(b) == Hit("new", 60'000));
  AdvanceTime(60'000);
  Lease(b, "new");
}

TEST_CASE_METHOD(StaleTest, "of a thousand clients at a stale key one computes, and nobody waits") {
  MakeStale();
  size_t leases = 0;
  size_t stale = 0;
  for (int i = 0; i < 1000; ++i) {
    const Reply reply = Take(Connect());
    if (reply == Stale("old")) ++stale;
    if (reply.elements.size() == 4 && reply.elements[0] == Bulk("LEASE") && reply.elements[1] == Bulk("old"))
      ++leases;
  }
  CHECK(leases == 1);
  CHECK(stale == 999);
  CHECK(stats().leases_granted == 1);
  CHECK(stats().stale_served == 1000);
}

TEST_CASE_METHOD(StaleTest, "a value is stale up to the end of its window, and not at it") {
  for (const bool held_up : {false, true}) {
    MakeStale();
    const auto pass = [&](uint64_t ms) { held_up ? LetTimePass(ms) : AdvanceTime(ms); };
    pass(29'999);
    CHECK(IsStale());
    pass(1);
    CHECK_FALSE(IsStale());
    CHECK(keyspace().stale().size() == 0);
  }
}

TEST_CASE_METHOD(StaleTest, "TAKE sees the stale value before the wheel has come to the key") {
  Run({"SET", "k", "old", "PX", "20", "STALE", "30"});
  LetTimePass(20);
  const std::string token = Lease(a, "old");
  CHECK(Take(b) == Stale("old"));
  LetTimePass(30);
  REQUIRE(Take(b) == NoReply());  // it waits now
  CHECK(a.Run({"SET", "k", "new", "PX", "20", "IFLEASE", token}) == Ok());
  CHECK(b.Received() == Replies{Hit("new", 20)});
}

TEST_CASE_METHOD(StaleTest, "for every other command the key is gone at its deadline") {
  Run({"SET", "k", "old", "EX", "60", "STALE", "30"});
  TakeChanges();
  AdvanceTime(60'000);
  CHECK(TakeChanges() == std::vector<std::string>{"expired k"});
  CHECK(Run({"GET", "k"}) == Null());
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"TTL", "k"}) == Integer(-2));
  CHECK(Run({"PEEK", "k"}) == Null());
  CHECK(Run({"STRLEN", "k"}) == Integer(0));
  CHECK(Run({"TYPE", "k"}) == Simple("none"));
  CHECK(Run({"KEYS", "*"}) == Array({}));
  CHECK(Run({"SCAN", "0"}) == Array({Bulk("0"), Array({})}));
  CHECK(Run({"RANDOMKEY"}) == Null());
  CHECK(Run({"PERSIST", "k"}) == Integer(0));
  CHECK(Run({"EXPIRE", "k", "10"}) == Integer(0));
  CHECK(Run({"RENAME", "k", "other"}) == Error("ERR no such key"));
  CHECK(Run({"COPY", "k", "other"}) == Integer(0));
  CHECK(Run({"MOVE", "k", "1"}) == Integer(0));
  CHECK(Run({"GETDEL", "k"}) == Null());
  CHECK(Run({"GETEX", "k"}) == Null());
  CHECK(Run({"SET", "k", "v", "XX"}) == Null());
  CHECK(Run({"MEMORY", "USAGE", "k"}) == Null());
  CHECK(Run({"OBJECT", "ENCODING", "k"}) == Null());
  CHECK(Run({"EXPIRING", "0", "1000000"}) == Array({Bulk("0"), Array({})}));
  CHECK(IsStale());
  AdvanceTime(30'000);
  CHECK(TakeChanges().empty());
  CHECK_FALSE(IsStale());
}

TEST_CASE_METHOD(StaleTest, "what deletes the key drops the stale value too") {
  for (const Words& end : {Words{"DEL", "k"}, Words{"UNLINK", "k"}, Words{"FLUSHDB"},
                           Words{"FLUSHDB", "ASYNC"}, Words{"FLUSHALL"}, Words{"FLUSHALL", "ASYNC"}}) {
    INFO(end[0]);
    MakeStale();
    const std::string token = Lease(a, "old");
    Run(end);
    CHECK(keyspace().stale().size() == 0);
    CHECK(a.Run({"SET", "k", "late", "EX", "60", "IFLEASE", token}) == Null());
    CHECK_FALSE(IsStale());
  }
}

TEST_CASE_METHOD(StaleTest, "every write that creates the key drops the stale value") {
  for (const Words& write :
       {Words{"SET", "k", "1"}, Words{"INCR", "k"}, Words{"APPEND", "k", "1"},
        Words{"MSET", "x", "2", "k", "1"}, Words{"RENAME", "one", "k"}, Words{"COPY", "one", "k"},
        Words{"RPUSH", "k", "a"}, Words{"HSET", "k", "f", "v"}, Words{"SADD", "k", "a"},
        Words{"ZADD", "k", "1", "a"}, Words{"SETRANGE", "k", "0", "1"}, Words{"SETNX", "k", "1"},
        Words{"PFADD", "k", "1"}, Words{"XADD", "k", "*", "f", "v"},
        Words{"MSETEX", "1", "k", "1", "EX", "10"}}) {
    INFO(write[0]);
    Run({"SET", "one", "1"});
    MakeStale();
    Run(write);
    CHECK(Run({"EXISTS", "k"}) == Integer(1));
    CHECK(keyspace().stale().size() == 0);
    Run({"DEL", "k"});
    CHECK_FALSE(IsStale());
  }
}

TEST_CASE_METHOD(StaleTest, "SWAPDB takes the stale values along") {
  MakeStale();
  Run({"SWAPDB", "0", "1"});
  CHECK_FALSE(IsStale());
  c.session().db = 1;
  CHECK(IsStale());
}

TEST_CASE_METHOD(StaleTest, "RENAME, MOVE and COPY of the key carry the window") {
  Run({"SET", "k", "v", "EX", "60", "STALE", "30"});
  Run({"COPY", "k", "copy"});
  Run({"RENAME", "k", "renamed"});
  Run({"COPY", "copy", "copy", "DB", "2"});
  Run({"MOVE", "copy", "1"});
  AdvanceTime(60'000);
  CHECK(IsStale("renamed"));
  CHECK_FALSE(IsStale("k"));
  CHECK_FALSE(IsStale("copy"));
  for (const unsigned db : {1U, 2U}) {
    c.session().db = db;
    CHECK(IsStale("copy"));
  }
}

TEST_CASE_METHOD(StaleTest, "the window composes with every option of SET") {
  const auto leaves_stale = [&](const Words& set, uint64_t deadline_ms, uint64_t window_ms) {
    INFO(set[3]);
    Run({"DEL", "k"});
    REQUIRE(Run({"SET", "k", "before"}) == Ok());
    Run(set);
    AdvanceTime(deadline_ms - 1);
    CHECK(Run({"EXISTS", "k"}) == Integer(1));
    AdvanceTime(1);
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(IsStale());
    AdvanceTime(window_ms - 1);
    CHECK(IsStale());
    AdvanceTime(1);
    CHECK_FALSE(IsStale());
  };
  leaves_stale({"SET", "k", "v", "EX", "10", "STALE", "5"}, 10'000, 5'000);
  leaves_stale({"SET", "k", "v", "PX", "100", "STALE", "50"}, 100, 50);
  leaves_stale({"SET", "k", "v", "STALE", "50", "PX", "100"}, 100, 50);
  leaves_stale({"SET", "k", "v", "PXAT", UnixMs(100), "STALE", "50"}, 100, 50);
  leaves_stale({"SET", "k", "v", "XX", "GET", "PX", "100", "STALE", "50"}, 100, 50);
  leaves_stale({"SET", "k", "17", "IFEQ", "before", "PX", "100", "STALE", "50"}, 100, 50);
  leaves_stale({"SET", "k", std::string(100'000, 'x'), "PX", "100", "STALE", "50"}, 100, 50);
  Run({"DEL", "k"});
  CHECK(Run({"SET", "k", "v", "NX", "EXAT", UnixSeconds(100), "STALE", "50"}) == Ok());
  CHECK(Run({"SET", "k", "again", "NX", "EX", "100", "STALE", "1"}) == Null());
  AdvanceTime(100'000 + 49'000);
  CHECK(IsStale());
}

TEST_CASE_METHOD(StaleTest, "KEEPTTL keeps the window, or gives another one to the deadline that is kept") {
  Run({"SET", "k", "v", "EX", "60", "STALE", "30"});
  CHECK(Run({"SET", "k", "w", "KEEPTTL"}) == Ok());
  AdvanceTime(60'000 + 29'999);
  CHECK(Lease(a, "w").size() == 16);
  Run({"SET", "k", "v", "EX", "60"});
  CHECK(Run({"SET", "k", "w", "KEEPTTL", "STALE", "10"}) == Ok());
  AdvanceTime(60'000 + 9'999);
  CHECK(IsStale());
  AdvanceTime(1);
  CHECK_FALSE(IsStale());
  CHECK(Run({"SET", "lasting", "v", "KEEPTTL", "STALE", "10"}) == Ok());  // it never expires
  CHECK(Run({"TTL", "lasting"}) == Integer(-1));
}

TEST_CASE_METHOD(StaleTest, "a window needs a deadline, and is a positive number") {
  const Reply invalid = Error("ERR invalid expire time in 'set' command");
  CHECK(Run({"SET", "k", "v", "STALE", "30"}) ==
        Error("ERR STALE needs a TTL: EX, PX, EXAT, PXAT or KEEPTTL"));
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE"}) ==
        Error("ERR STALE is followed by a time, in the unit of the TTL"));
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE", "30", "STALE", "30"}) ==
        Error("ERR STALE is given twice"));
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE", "0"}) == invalid);
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE", "-1"}) == invalid);
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE", "9223372036854775807"}) == invalid);
  CHECK(Run({"SET", "k", "v", "EX", "60", "STALE", "soon"}) ==
        Error("ERR value is not an integer or out of range"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(Run({"SET", "k", "v", "PX", "10", "STALE", "9223372036854775807"}) == Ok());
  AdvanceTime(10);
  CHECK(IsStale());
}

TEST_CASE_METHOD(StaleTest, "EXPIRE, GETEX and edits keep the window; PERSIST and a plain SET drop it") {
  const auto set = [&] { Run({"SET", "k", "1", "EX", "60", "STALE", "30"}); };
  for (const Words& change :
       {Words{"EXPIRE", "k", "60"}, Words{"GETEX", "k", "EX", "60"}, Words{"INCR", "k"},
        Words{"APPEND", "k", "2"}, Words{"SETRANGE", "k", "0", "5"}, Words{"INCREX", "k"},
        Words{"INCREX", "k", "EX", "60"}, Words{"INCREX", "k", "BYFLOAT", "0.5"},
        Words{"SETBIT", "k", "1", "1"}, Words{"GETEX", "k"}, Words{"MSETEX", "1", "k", "v", "KEEPTTL"},
        Words{"PEXPIREAT", "k", UnixMs(60'000)}}) {
    INFO(change[0]);
    set();
    REQUIRE(Run(change).kind != Reply::Kind::kError);
    CHECK(Run({"PTTL", "k"}) == Integer(60'000));
    AdvanceTime(60'000);
    CHECK(IsStale());
    StepWallClock(-60'000);
    Run({"DEL", "k"});
  }
  for (const Words& change :
       {Words{"PERSIST", "k"}, Words{"GETEX", "k", "PERSIST"}, Words{"SET", "k", "v"},
        Words{"GETSET", "k", "v"}, Words{"SET", "k", "v", "EX", "60"}, Words{"SETEX", "k", "60", "v"},
        Words{"MSET", "k", "v"}, Words{"INCREX", "k", "PERSIST"}, Words{"DEL", "k"},
        Words{"EXPIRE", "k", "-1"}}) {
    INFO(change[0]);
    set();
    REQUIRE(Run(change).kind != Reply::Kind::kError);
    Run({"EXPIRE", "k", "60"});
    AdvanceTime(60'000);
    CHECK_FALSE(IsStale());
  }
}

TEST_CASE_METHOD(StaleTest,
                 "when the lease ends without a value the next client gets it, with the stale value") {
  MakeStale();
  SECTION("at its time") {
    Lease(a, "old");
    AdvanceTime(999);
    CHECK(Take(b) == Stale("old"));
    AdvanceTime(1);
  }
  SECTION("with its owner") {
    Lease(a, "old");
    server().server.hubs.client_ends.Tell(a.session());
    server().RunWoken();
  }
  SECTION("given back") {
    const std::string token = Lease(a, "old");
    CHECK(a.Run({"UNLEASE", "k", token}) == Integer(1));
  }
  Lease(b, "old");
  CHECK(Take(c) == Stale("old"));
}

TEST_CASE_METHOD(StaleTest, "a failure is answered while it is remembered, and then the stale value again") {
  MakeStale();
  CHECK(Run({"UNLEASE", "k", Lease(a, "old"), "ERR", "down", "RETRY", "100"}) == Integer(1));
  CHECK(Take(b) == Error("ERR down"));
  AdvanceTime(100);
  Lease(b, "old");
}

TEST_CASE_METHOD(StaleTest,
                 "a lease of EARLY goes on past the deadline, and the others get the stale value") {
  Run({"SET", "k", "old", "PX", "1000", "STALE", "500"});
  AdvanceTime(950);
  const Reply lease = a.Run({"TAKE", "k", "LEASE", "1000", "EARLY", "100"});
  REQUIRE(lease.elements.at(0) == Bulk("LEASE"));
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000", "EARLY", "100"}) == Hit("old", 50));
  AdvanceTime(50);
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000", "EARLY", "100"}) == Stale("old"));
  CHECK(a.Run({"SET", "k", "new", "PX", "1000", "IFLEASE", lease.elements[2].text}) == Ok());
  CHECK(Take(b) == Hit("new", 1000));
}

TEST_CASE_METHOD(StaleTest,
                 "a write without the lease keeps the stale value out, and one that is refused does not") {
  MakeStale();
  CHECK(Run({"SET", "k", "v", "EX", "60", "IFLEASE", "0123456789abcdef"}) == Null());
  CHECK(IsStale());
  CHECK(Run({"SET", "k", "v", "GET"}) == Null());  // stored; there was no key
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(StaleTest, "within transactions and scripts, and with PUSH, the stale value comes at once") {
  MakeStale();
  Lease(a, "old");
  Run({"MULTI"});
  Run({"TAKE", "k", "LEASE", "1000"});
  CHECK(Run({"EXEC"}) == Array({Stale("old")}));
  CHECK(Run({"EVAL", "return redis.call('TAKE', KEYS[1], 'LEASE', 1000)", "1", "k"}) == Stale("old"));
  b.UseResp3();
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"}) == Stale("old"));
  Run({"SET", "k", "new"});
  TurnWheels();
  CHECK(b.Received().empty());
}

TEST_CASE_METHOD(StaleTest, "stale values are evicted before any key and before a write is refused") {
  const std::string value(10'000, 'x');
  for (const std::string policy :
       {"noeviction", "allkeys-lru", "volatile-ttl", "allkeys-lfu", "allkeys-sieve"}) {
    INFO(policy);
    SetOption("maxmemory-policy", policy);
    Run({"SET", "cold", "v"});
    for (int i = 0; i < 50; ++i) Run({"SET", "s" + std::to_string(i), value, "PX", "10", "STALE", "1000000"});
    AdvanceTime(10);
    CHECK(Info("stale_values") == "50");
    const uint64_t used = server().server.memory.Data();
    SetOption("maxmemory", std::to_string(used - 100'000));
    CHECK(Run({"SET", "k", "v"}) == Ok());
    CHECK(Run({"DBSIZE"}) == Integer(2));
    CHECK(keyspace().stale().size() < 50);
    CHECK(keyspace().stale().size() > 20);
    CHECK(Info("evicted_keys") == "0");
    SetOption("maxmemory", "0");
    Run({"FLUSHALL"});
    while (server().databases.FreeSome(1000)) {
    }
  }
  CHECK(Info("stale_evicted") != "0");
}

TEST_CASE_METHOD(StaleTest, "a namespace above its own limits costs nobody a stale value, nor does maxkeys") {
  SetOption("maxmemory", "500mb");
  SetOption("namespace", "shop maxmemory 100kb few maxkeys 5");
  for (const std::string policy :
       {"noeviction", "allkeys-lru", "volatile-ttl", "allkeys-lfu", "allkeys-sieve"}) {
    CAPTURE(policy);
    SetOption("maxmemory-policy", policy);
    const Words keys = {"page:1", "page:2", "shop:old", "few:old"};
    for (const std::string& key : keys) Run({"SET", key, "old", "PX", "10", "STALE", "1000000"});
    AdvanceTime(10);
    for (int i = 0; i < 300; ++i) {
      Run({"SET", "shop:" + std::to_string(i), std::string(1000, 'x'), "EX", "900"});
      Run({"SET", "few:" + std::to_string(i), "v", "EX", "900"});
    }
    CHECK(Info("stale_values") == "4");
    SetOption("maxkeys", "20");
    for (int i = 0; i < 50; ++i) Run({"SET", "k" + std::to_string(i), "v", "EX", "900"});
    CHECK(Run({"DBSIZE"}).integer <= 20);
    CHECK(Info("stale_values") == "4");
    for (const std::string& key : keys) CHECK(IsStale(key));
    CHECK(Info("stale_evicted") == "0");
    SetOption("maxkeys", "0");
    Run({"FLUSHALL"});
  }
}

TEST_CASE_METHOD(StaleTest,
                 "INFO says how many stale values there are, their bytes, and how many were answered") {
  const std::string empty = Info("mem_stale_values");
  CHECK(empty == "0");
  CHECK(Info("stale_values") == "0");
  MakeStale();
  CHECK(Info("stale_values") == "1");
  CHECK(std::stoi(Info("mem_stale_values")) > 64);
  CHECK(Info("expired_keys") == "1");
  CHECK(Info("expire_backlog") == "0");
  Lease(a, "old");
  Take(b);
  CHECK(Info("stale_served") == "2");
  CHECK(Info("keyspace_misses_expired") == "2");
  AdvanceTime(30'000);
  CHECK(Info("stale_values") == "0");
  CHECK(Info("expired_keys") == "1");
}

TEST_CASE_METHOD(StaleTest, "MEMORY USAGE counts the window of a key") {
  Run({"SET", "k", "v", "EX", "60"});
  const int64_t plain = Run({"MEMORY", "USAGE", "k"}).integer;
  Run({"SET", "k", "v", "EX", "60", "STALE", "30"});
  CHECK(Run({"MEMORY", "USAGE", "k"}).integer > plain);
}

TEST_CASE_METHOD(StaleTest, "who waited for a value that was missing is not answered a stale one") {
  Lease(a, "");
  REQUIRE(Take(b) == NoReply());
  Run({"SET", "k", "v", "PX", "10", "STALE", "1000"});
  CHECK(b.Received() == Replies{Hit("v", 10)});
  AdvanceTime(10);
  Lease(a, "v");
}

TEST_CASE_METHOD(StaleTest, "whatever clients do, TAKE answers what the times and writes say") {
  std::vector<TestClient*> clients = {&a, &b, &c};
  struct Known {
    std::string value;
    int64_t deadline_ms = 0;
    int64_t end_ms = 0;
  };
  std::vector<Known> known(4);
  std::vector<std::string> tokens = {"none"};
  std::mt19937 random{20261123};
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  for (int step = 0; step < 20'000; ++step) {
    const size_t k = below(known.size());
    const std::string key = "k" + std::to_string(k);
    TestClient& client = *clients[below(clients.size())];
    CAPTURE(step, key);
    const int64_t now_ms = WallMs();
    const bool live = now_ms < known[k].deadline_ms;
    const bool stale = !live && now_ms < known[k].end_ms;
    switch (below(6)) {
      case 0: {
        const size_t ttl = 1 + below(20);
        const size_t window = 1 + below(20);
        const std::string value = "v" + std::to_string(step);
        const Reply reply = client.Run({"SET", key, value, "PX", std::to_string(ttl), "STALE",
                                        std::to_string(window), "IFLEASE", tokens[below(tokens.size())]});
        if (reply == Ok())
          known[k] = {value, now_ms + static_cast<int64_t>(ttl), now_ms + static_cast<int64_t>(ttl + window)};
        break;
      }
      case 1:
        if (below(8) != 0) break;
        client.Run({"DEL", key});
        known[k] = {};
        break;
      case 2:
        if (below(4) == 0) LetTimePass(below(3));
        break;
      default: {
        const Reply reply = client.Run({"TAKE", key, "LEASE", std::to_string(1 + below(10))});
        REQUIRE(reply.elements.size() == 4);
        const std::string& status = reply.elements[0].text;
        REQUIRE((status == "HIT") == live);
        if (status == "LEASE") tokens.push_back(reply.elements[2].text);
        if (tokens.size() > 6) tokens.erase(tokens.begin());
        if (status != "LEASE" && !live) REQUIRE((status == "STALE") == stale);
        REQUIRE(reply.elements[1] == (live || stale ? Bulk(known[k].value) : Null()));
      }
    }
    if (below(2) == 0) AdvanceTime(below(4));
    if (step % 64 == 0) REQUIRE(keyspace().Validate());
  }
}

TEST_CASE_METHOD(StaleTest, "an empty result that is stored removes a stale value") {
  for (const std::vector<std::string>& store :
       std::vector<std::vector<std::string>>{{"ZUNIONSTORE", "k", "1", "nokey"},
                                             {"SORT", "nokey", "STORE", "k"},
                                             {"SUNIONSTORE", "k", "nokey"}}) {
    Run({"SET", "k", "v", "PX", "50", "STALE", "100000"});
    AdvanceTime(150);
    CHECK(Run(store) == Integer(0));
    const Reply lease = Run({"TAKE", "k", "LEASE", "1000"});
    CHECK(lease.elements[1] == Null());
    CHECK(Run({"UNLEASE", "k", lease.elements[2].text}) == Integer(1));
  }
}
}  // namespace mayfly::testing
