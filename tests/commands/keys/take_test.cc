// TAKE, UNLEASE and SET with IFLEASE: one client computes a value, the others wait for it.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "server/hubs/hubs.h"
#include "server/waiting/leases.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;
using Request = std::vector<std::string>;

Reply Hit(std::string_view value, int64_t pttl = -1) {
  return Array({Bulk("HIT"), Bulk(value), Null(), Integer(pttl)});
}
Reply Busy() { return Array({Bulk("BUSY"), Null(), Null(), Integer(-2)}); }

bool IsLease(const Reply& reply) {
  return reply.elements.size() == 4 && reply.elements[0] == Bulk("LEASE") &&
         reply.elements[2].kind == Reply::Kind::kBulk && reply.elements[2].text.size() == 16;
}
const std::string& TokenOf(const Reply& lease) { return lease.elements.at(2).text; }

class TakeTest : public CommandTest {
 public:
  TakeTest() : a(Connect()), b(Connect()), c(Connect()) {}
  ~TakeTest() { CHECK(server().leases.Validate()); }

  // The token of a lease that `client` gets now.
  std::string Lease(TestClient& client, const std::string& key, const std::string& ms = "1000") {
    const Reply reply = client.Run({"TAKE", key, "LEASE", ms});
    REQUIRE(IsLease(reply));
    return TokenOf(reply);
  }
  static void Wait(TestClient& client, const std::string& key, const std::string& ms = "5000") {
    REQUIRE(client.Run({"TAKE", key, "LEASE", "1000", "WAIT", ms}) == NoReply());
  }
  // The client disconnects; what is told of it elsewhere goes.
  void Disconnect(TestClient& client) {
    server().server.hubs.client_ends.Tell(client.session());
    server().RunWoken();
  }

  TestClient& a;
  TestClient& b;
  TestClient& c;
};

}  // namespace

TEST_CASE_METHOD(TakeTest,
                 "who misses a key gets its lease, and the others are told that somebody computes it") {
  const Reply lease = a.Run({"TAKE", "k", "LEASE", "1000"});
  CHECK(IsLease(lease));
  CHECK(lease.elements[1] == Null());
  CHECK(lease.elements[3] == Integer(-2));
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000"}) == Busy());
  CHECK(a.Run({"TAKE", "k", "LEASE", "1000"}) == Busy());  // it is one lease, whoever asks
  CHECK(IsLease(b.Run({"TAKE", "other", "LEASE", "1000"})));
}

TEST_CASE_METHOD(TakeTest, "a value that is there is answered with its time to live") {
  Run({"MSET", "k", "v", "n", "42"});
  CHECK(Run({"TAKE", "k", "LEASE", "1000"}) == Hit("v"));
  CHECK(Run({"TAKE", "n", "LEASE", "1000"}) == Hit("42"));
  Run({"PEXPIRE", "k", "500"});
  CHECK(Run({"TAKE", "k", "LEASE", "1000"}) == Hit("v", 500));
  Run({"RPUSH", "list", "x"});
  CHECK(Run({"TAKE", "list", "LEASE", "1000"}) ==
        Error("WRONGTYPE Operation against a key holding the wrong kind of value"));
}

TEST_CASE_METHOD(TakeTest,
                 "of a thousand clients that miss a key one computes it, and one write answers all others") {
  constexpr size_t kClients = 1000;
  std::vector<TestClient*> waiting;
  const std::string token = Lease(a, "k");
  for (size_t i = 1; i < kClients; ++i) {
    waiting.push_back(&Connect());
    Wait(*waiting.back(), "k");
  }
  CHECK(a.Run({"SET", "k", "v", "EX", "60", "IFLEASE", token}) == Ok());
  for (TestClient* client : waiting) REQUIRE(client->Received() == Replies{Hit("v", 60'000)});
  CHECK(server().leases.size() == 0);
  CHECK(stats().leases_granted == 1);
}

TEST_CASE_METHOD(TakeTest,
                 "any write that makes the key answers those who wait, before the next request of anybody") {
  for (const Request& write :
       {Request{"SET", "k", "1"}, Request{"INCR", "k"}, Request{"MSET", "x", "2", "k", "1"},
        Request{"APPEND", "k", "1"}, Request{"RENAME", "one", "k"}, Request{"COPY", "one", "k"}}) {
    INFO(write[0]);
    Run({"SET", "one", "1"});
    Lease(a, "k");
    Wait(b, "k");
    Run(write);
    CHECK(b.Received() == Replies{Hit("1")});
    Run({"DEL", "k"});
  }
  Lease(a, "k");
  Wait(b, "k");
  CHECK(RunRaw("SET k v\r\nDEL k\r\n") == "+OK\r\n:1\r\n");
  CHECK(b.Received() == Replies{Hit("v")});
}

TEST_CASE_METHOD(TakeTest, "a key of another type that comes meanwhile is an error for those who wait") {
  Lease(a, "k");
  Wait(b, "k");
  Run({"RPUSH", "k", "x"});
  CHECK(b.Received() == Replies{Error("WRONGTYPE Operation against a key holding the wrong kind of value")});
}

TEST_CASE_METHOD(TakeTest, "a lease ends at its time, and the first of those who wait inherits it") {
  Lease(a, "k", "100");
  Wait(b, "k");
  Wait(c, "k");
  AdvanceTime(99);
  CHECK(b.Received().empty());
  AdvanceTime(1);
  const Replies got = b.Received();
  REQUIRE(got.size() == 1);
  CHECK(IsLease(got[0]));
  CHECK(c.Received().empty());
  CHECK(b.Run({"SET", "k", "v", "IFLEASE", TokenOf(got[0])}) == Ok());
  CHECK(c.Received() == Replies{Hit("v")});
}

TEST_CASE_METHOD(TakeTest, "the next one inherits in the same turn when the owner is killed, or leaves") {
  Lease(a, "k");
  Wait(b, "k");
  Wait(c, "k");
  Disconnect(a);
  const Replies first = b.Received();
  REQUIRE(first.size() == 1);
  CHECK(IsLease(first[0]));
  Disconnect(b);
  const Replies second = c.Received();
  REQUIRE(second.size() == 1);
  CHECK(IsLease(second[0]));
  CHECK(TokenOf(second[0]) != TokenOf(first[0]));
}

TEST_CASE_METHOD(TakeTest, "RESET gives the client's leases back") {
  Lease(a, "k");
  Wait(b, "k");
  a.Run({"RESET"});
  const Replies got = b.Received();
  REQUIRE(got.size() == 1);
  CHECK(IsLease(got[0]));
}

TEST_CASE_METHOD(TakeTest, "a token is void once the key was deleted, even if it did not exist") {
  for (const Request& end : {Request{"DEL", "k"}, Request{"UNLINK", "k"}, Request{"FLUSHDB"},
                             Request{"FLUSHALL"}, Request{"SWAPDB", "0", "1"}}) {
    INFO(end[0]);
    const std::string token = Lease(a, "k");
    Run(end);
    CHECK(a.Run({"SET", "k", "stale", "IFLEASE", token}) == Null());
    CHECK(Run({"EXISTS", "k"}) == Integer(0));
    CHECK(a.Run({"UNLEASE", "k", token}) == Integer(0));
  }
}

TEST_CASE_METHOD(TakeTest, "a DEL hands the lease to the first of those who wait") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  Wait(c, "k");
  Run({"DEL", "k"});
  const Replies got = b.Received();
  REQUIRE(got.size() == 1);
  CHECK(IsLease(got[0]));
  CHECK(c.Received().empty());
  CHECK(a.Run({"SET", "k", "stale", "IFLEASE", token}) == Null());
  CHECK(b.Run({"SET", "k", "fresh", "IFLEASE", TokenOf(got[0])}) == Ok());
  CHECK(c.Received() == Replies{Hit("fresh")});
}

TEST_CASE_METHOD(TakeTest, "SET with IFLEASE stores nothing for a token that is not good") {
  const std::string token = Lease(a, "k", "100");
  CHECK(Run({"SET", "k", "v", "IFLEASE", "0123456789abcdef"}) == Null());
  CHECK(Run({"SET", "k", "v", "IFLEASE", "nonsense"}) == Null());
  CHECK(Run({"SET", "other", "v", "IFLEASE", token}) == Null());
  b.session().db = 1;
  CHECK(b.Run({"SET", "k", "v", "IFLEASE", token}) == Null());
  CHECK(Run({"SET", "k", "v", "IFLEASE"}) ==
        Error("ERR IFLEASE is followed by the token that TAKE has answered"));
  CHECK(Run({"SET", "k", "v", "IFLEASE", token, "IFLEASE", token}) == Error("ERR IFLEASE is given twice"));
  CHECK(Run({"SET", "k", "v", "XX", "IFLEASE", token}) == Null());
  CHECK(Run({"SET", "k", "v", "NX", "GET", "PX", "50", "IFLEASE", token}) ==
        Null());  // stored: the old value is nil
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  CHECK(Run({"SET", "k", "again", "IFLEASE", token}) == Null());  // the write has ended it
  AdvanceTime(50);
  const std::string late = Lease(a, "k", "100");
  AdvanceTime(100);
  CHECK(a.Run({"SET", "k", "late", "IFLEASE", late}) == Null());
}

TEST_CASE_METHOD(TakeTest, "any connection may use a token") {
  const std::string token = Lease(a, "k");
  CHECK(b.Run({"SET", "k", "v", "IFLEASE", token}) == Ok());
}

TEST_CASE_METHOD(TakeTest, "who waits is told that nothing came when its time is over") {
  Lease(a, "k", "10000");
  Wait(b, "k", "100");
  AdvanceTime(99);
  CHECK(b.Received().empty());
  AdvanceTime(1);
  CHECK(b.Received() == Replies{Busy()});
}

TEST_CASE_METHOD(TakeTest, "who inherits too late for others keeps their times") {
  Lease(a, "k", "100");
  Wait(b, "k", "1000");
  Wait(c, "k", "150");
  AdvanceTime(100);
  CHECK(IsLease(b.Received().at(0)));
  AdvanceTime(49);
  CHECK(c.Received().empty());
  AdvanceTime(1);
  CHECK(c.Received() == Replies{Busy()});
}

TEST_CASE_METHOD(TakeTest, "CLIENT UNBLOCK ends the wait for a value") {
  Lease(a, "k");
  Wait(b, "k");
  CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(b.session().id)}) == Integer(1));
  TurnWheels();
  CHECK(b.Received() == Replies{Busy()});
  Wait(b, "k");
  CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(b.session().id), "ERROR"}) == Integer(1));
  TurnWheels();
  CHECK(b.Received() == Replies{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
}

TEST_CASE_METHOD(
    TakeTest, "UNLEASE without an error tells those who wait that nothing came, and the next one may lease") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  Wait(c, "k");
  CHECK(Run({"UNLEASE", "k", "0123456789abcdef"}) == Integer(0));
  CHECK(Run({"UNLEASE", "k", token}) == Integer(1));
  CHECK(b.Received() == Replies{Busy()});
  CHECK(c.Received() == Replies{Busy()});
  CHECK(Run({"UNLEASE", "k", token}) == Integer(0));
  Lease(b, "k");
}

TEST_CASE_METHOD(TakeTest,
                 "a failure is shared: those who wait get its message, and for a while all who ask") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  CHECK(a.Run({"UNLEASE", "k", token, "ERR", "the database is down", "RETRY", "200"}) == Integer(1));
  CHECK(b.Received() == Replies{Error("ERR the database is down")});
  AdvanceTime(199);
  CHECK(c.Run({"TAKE", "k", "LEASE", "1000", "WAIT", "1000"}) == Error("ERR the database is down"));
  AdvanceTime(1);
  Lease(c, "k");
}

TEST_CASE_METHOD(TakeTest, "a failure without a time to retry is told to those who wait alone") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  CHECK(a.Run({"UNLEASE", "k", token, "ERR", "sorry"}) == Integer(1));
  CHECK(b.Received() == Replies{Error("ERR sorry")});
  Lease(c, "k");
}

TEST_CASE_METHOD(TakeTest, "a long failure is told as far as its last whole character within 1024 bytes") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  CHECK(a.Run({"UNLEASE", "k", token, "ERR", std::string(1023, 'x') + "\xC3\xA4 is too long"}) == Integer(1));
  CHECK(b.Received() == Replies{Error("ERR " + std::string(1023, 'x'))});
}

TEST_CASE_METHOD(TakeTest, "a write ends the memory of a failure") {
  CHECK(Run({"UNLEASE", "k", Lease(a, "k"), "ERR", "down", "RETRY", "1000"}) == Integer(1));
  Run({"SET", "k", "v"});
  CHECK(Run({"TAKE", "k", "LEASE", "1000"}) == Hit("v"));
  Run({"DEL", "k"});
  Lease(a, "k");
}

TEST_CASE_METHOD(TakeTest,
                 "EARLY gives one client the lease before the deadline, while the others still hit") {
  Run({"SET", "k", "old", "PX", "1000"});
  CHECK(a.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"}) == Hit("old", 1000));
  AdvanceTime(899);
  CHECK(a.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"}) == Hit("old", 101));
  AdvanceTime(1);
  const Reply lease = a.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"});
  REQUIRE(IsLease(lease));
  CHECK(lease.elements[1] == Bulk("old"));
  CHECK(lease.elements[3] == Integer(100));
  CHECK(b.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"}) == Hit("old", 100));
  AdvanceTime(100);  // the old value expires; its lease goes on
  CHECK(b.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"}) == Busy());
  Wait(c, "k");
  CHECK(a.Run({"SET", "k", "new", "PX", "1000", "IFLEASE", TokenOf(lease)}) == Ok());
  CHECK(c.Received() == Replies{Hit("new", 1000)});
  Run({"SET", "lasting", "v"});
  CHECK(Run({"TAKE", "lasting", "LEASE", "500", "EARLY", "100"}) == Hit("v"));
}

TEST_CASE_METHOD(TakeTest, "eviction of the old value does not end its lease") {
  Run({"SET", "k", "old", "PX", "100"});
  const Reply lease = a.Run({"TAKE", "k", "LEASE", "500", "EARLY", "100"});
  REQUIRE(IsLease(lease));
  SetOption("maxkeys", "1");
  SetOption("maxmemory-policy", "allkeys-lru");
  Run({"SET", "another", "v"});
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
  CHECK(b.Run({"TAKE", "k", "LEASE", "500"}) == Busy());
  CHECK(a.Run({"SET", "k", "new", "IFLEASE", TokenOf(lease)}) == Ok());
}

TEST_CASE_METHOD(TakeTest, "a client that shares its connection is told by a push, and need not wait") {
  b.UseResp3();
  c.UseResp3();
  const auto told = [](TestClient& client) { return client.Received(); };
  CHECK(Run({"TAKE", "k", "LEASE", "1000", "PUSH"}) == Error("ERR PUSH needs RESP3, send HELLO 3 first"));
  std::string token = Lease(a, "k");
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"}) == Busy());
  CHECK(b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"}) == Busy());  // told once
  CHECK(c.Run({"TAKE", "k", "LEASE", "1000", "PUSH"}) == Busy());
  Run({"SET", "k", "7"});
  TurnWheels();
  CHECK(told(b) == Replies{Push({Bulk("take"), Bulk("k"), Bulk("HIT"), Bulk("7")})});
  CHECK(told(c) == Replies{Push({Bulk("take"), Bulk("k"), Bulk("HIT"), Bulk("7")})});
  Run({"DEL", "k"});

  token = Lease(a, "k");
  b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"});
  CHECK(Run({"UNLEASE", "k", token, "ERR", "down", "RETRY", "100"}) == Integer(1));
  TurnWheels();
  CHECK(told(b) == Replies{Push({Bulk("take"), Bulk("k"), Bulk("ERR"), Bulk("down")})});
  AdvanceTime(100);

  Lease(a, "k", "100");
  b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"});
  AdvanceTime(100);
  CHECK(told(b) == Replies{Push({Bulk("take"), Bulk("k"), Bulk("BUSY"), Null()})});
}

TEST_CASE_METHOD(TakeTest, "a push waits on while another client inherits the lease") {
  b.UseResp3();
  Lease(a, "k", "100");
  b.Run({"TAKE", "k", "LEASE", "1000", "PUSH"});
  Wait(c, "k");
  AdvanceTime(100);
  CHECK(b.Received().empty());
  const std::string token = TokenOf(c.Received().at(0));
  CHECK(c.Run({"SET", "k", "v", "IFLEASE", token}) == Ok());
  TurnWheels();
  CHECK(b.Received() == Replies{Push({Bulk("take"), Bulk("k"), Bulk("HIT"), Bulk("v")})});
}

TEST_CASE_METHOD(TakeTest, "within a transaction and a script nobody waits") {
  const std::string token = Lease(a, "k");
  Run({"MULTI"});
  Run({"TAKE", "k", "LEASE", "1000", "WAIT", "1000"});
  Run({"TAKE", "other", "LEASE", "1000"});
  const Reply transaction = Run({"EXEC"});
  REQUIRE(transaction.elements.size() == 2);
  CHECK(transaction.elements[0] == Busy());
  CHECK(IsLease(transaction.elements[1]));
  const std::string script = "return redis.call('TAKE', KEYS[1], 'LEASE', 1000, 'WAIT', 1000)";
  CHECK(Run({"EVAL", script, "1", "k"}) == Busy());
  Wait(b, "k");
  CHECK(Run({"EVAL", "return redis.call('SET', KEYS[1], 'v', 'IFLEASE', ARGV[1])", "1", "k", token}) == Ok());
  CHECK(b.Received() == Replies{Hit("v")});
}

TEST_CASE_METHOD(TakeTest, "the lease that a script takes belongs to its client") {
  CHECK(IsLease(a.Run({"EVAL", "return redis.call('TAKE', KEYS[1], 'LEASE', 1000)", "1", "k"})));
  Wait(b, "k");
  Disconnect(a);
  CHECK(IsLease(b.Received().at(0)));
}

TEST_CASE_METHOD(TakeTest, "a full memory refuses the write and keeps the lease") {
  const std::string token = Lease(a, "k");
  Wait(b, "k");
  SetOption("maxmemory", "1");
  CHECK(a.Run({"SET", "k", "v", "IFLEASE", token}).kind == Reply::Kind::kError);
  CHECK(b.Received().empty());
  CHECK(IsLease(c.Run({"TAKE", "other", "LEASE", "1000"})));  // it stores nothing
  SetOption("maxmemory", "0");
  CHECK(a.Run({"SET", "k", "v", "IFLEASE", token}) == Ok());
  CHECK(b.Received() == Replies{Hit("v")});
}

TEST_CASE_METHOD(TakeTest, "wrong arguments of TAKE and UNLEASE are refused") {
  const std::string take = "TAKE key LEASE milliseconds [WAIT milliseconds | PUSH] [EARLY milliseconds]";
  CHECK(Run({"TAKE", "k", "5000"}) == Error("ERR wrong number of arguments for 'take' command: " + take));
  CHECK(Run({"TAKE", "k", "5000", "100"}) == Error("ERR syntax error near '5000': " + take));
  CHECK(Run({"TAKE", "k", "WAIT", "10"}) == Error("ERR LEASE is missing: " + take));
  CHECK(Run({"TAKE", "k", "LEASE", "10", "WAIT"}) == Error("ERR syntax error near 'WAIT': " + take));
  CHECK(Run({"TAKE", "k", "LEASE", "10", "LATE", "1"}) == Error("ERR syntax error near 'LATE': " + take));
  client().UseResp3();
  CHECK(Run({"TAKE", "k", "LEASE", "10", "WAIT", "10", "PUSH"}) ==
        Error("ERR WAIT and PUSH exclude each other"));
  CHECK(Run({"TAKE", "k", "LEASE", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"TAKE", "k", "LEASE", "0"}) == Error("ERR LEASE must be from 1 to 86400000 ms"));
  CHECK(Run({"TAKE", "k", "LEASE", "86400001"}) == Error("ERR LEASE must be from 1 to 86400000 ms"));
  CHECK(Run({"TAKE", "k", "LEASE", "1", "WAIT", "-1"}) == Error("ERR WAIT must be from 0 to 86400000 ms"));
  CHECK(Run({"UNLEASE", "k", "token", "RETRY", "10"}) == Error("ERR RETRY needs ERR and a message"));
  CHECK(Run({"UNLEASE", "k", "token", "ERR"}) ==
        Error("ERR syntax error near 'ERR': UNLEASE key token [ERR message] [RETRY milliseconds]"));
  CHECK(Run({"EXISTS", "k"}) == Integer(0));
}

TEST_CASE_METHOD(TakeTest, "INFO counts leases") {
  Lease(a, "k");
  Lease(a, "other");
  const std::string info = Run({"INFO", "clients", "stats"}).text;
  CHECK(info.find("\r\nleases:2\r\n") != std::string::npos);
  CHECK(info.find("\r\nleases_granted:2\r\n") != std::string::npos);
}

TEST_CASE_METHOD(
    TakeTest,
    "whatever clients do, a key has one lease at most, and nobody waits for a value that is there") {
  constexpr size_t kClients = 6;
  std::vector<TestClient*> clients = {&a, &b, &c};
  while (clients.size() < kClients) clients.push_back(&Connect());
  std::vector<std::string> tokens = {"none"};
  std::mt19937 random{20261123};
  const auto below = [&](size_t n) { return std::uniform_int_distribution<size_t>(0, n - 1)(random); };
  const auto note = [&](const Replies& replies) {
    for (const Reply& reply : replies) {
      if (IsLease(reply)) tokens.push_back(TokenOf(reply));
    }
  };
  for (size_t step = 0; step < 20'000; ++step) {
    const std::string key = std::string("k") + std::to_string(below(4));
    TestClient& client = *clients[below(kClients)];
    CAPTURE(step, key);
    if (client.session().parked == nullptr) {
      const std::string& token = tokens[tokens.size() - 1 - below(std::min<size_t>(tokens.size(), 6))];
      switch (below(9)) {
        case 0:
          client.Run({"SET", key, "v", "PX", std::to_string(1 + below(30)), "IFLEASE", token});
          break;
        case 1:
          client.Run({"DEL", key});
          break;
        case 2:
          client.Run({"UNLEASE", key, token});
          break;
        case 3:
          client.Run({"UNLEASE", key, token, "ERR", "no", "RETRY", std::to_string(1 + below(5))});
          break;
        case 4:
          if (below(20) == 0) client.Run({"FLUSHDB"});
          break;
        case 5:
          note({client.Run({"TAKE", key, "LEASE", "20", "EARLY", "10"})});
          break;
        default:
          note({client.Run({"TAKE", key, "LEASE", std::to_string(1 + below(20)), "WAIT", "40"})});
      }
    }
    AdvanceTime(below(3));
    for (TestClient* each : clients) note(each->Received());
    REQUIRE(server().leases.Validate());
    for (TestClient* each : clients) {
      if (each->session().parked == nullptr) continue;
      const std::string waited(each->session().parked->arguments.all()[1]);
      REQUIRE(server().leases.Find(0, waited) != nullptr);
      REQUIRE(Run({"EXISTS", waited}) == Integer(0));
    }
  }
  for (TestClient* each : clients) server().parking.Leave(each->session());
}

}  // namespace mayfly::testing
