// The commands that wait for a list: who is served when, and what ends a wait.
#include <algorithm>
#include <array>
#include <deque>
#include <random>

#include "exec/call/reply_buffer.h"
#include "exec/dispatch/executor.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using Replies = std::vector<Reply>;

class ListBlockingTest : public CommandTest {
 public:
  Reply Whole(const std::string& key) { return Run({"LRANGE", key, "0", "-1"}); }

  TestClient& a = Connect();
  TestClient& b = Connect();
};

Reply Popped(const std::string& key, const std::string& element) { return Bulks({key, element}); }

// Clients of a real redis-server, one for each of Mayfly's that may wait.
class WaitingRedis {
 public:
  explicit WaitingRedis(size_t waiters) {
    for (size_t i = 0; i < waiters; ++i) waiters_.emplace_back(oracle_);
  }

  std::string Ask(const Words& words) { return oracle_.Ask(EncodeRequest(words), 1)[0]; }
  std::string AskAs(size_t waiter, const Words& words) {
    return waiters_[waiter].Ask(EncodeRequest(words), 1)[0];
  }
  // Sends what has to wait, and returns when `count` clients wait.
  void Wait(size_t waiter, const Words& words, size_t count) {
    waiters_[waiter].Ask(EncodeRequest(words), 0);
    while (Blocked() != count) {
    }
  }
  std::string NextReply(size_t waiter) { return waiters_[waiter].Ask("", 1)[0]; }
  size_t Blocked() {
    const std::string info = Ask({"INFO", "clients"});
    const size_t at = info.find("blocked_clients:");
    return static_cast<size_t>(std::stoul(info.substr(at + 16)));
  }

 private:
  // 7.0 skips a key that has got another type, and of two keys that come at once takes the one that came first.
  Oracle oracle_{{}, Oracle::kNewerProgram};
  std::deque<OracleClient> waiters_;
};

// Requests that meet: few keys, and numbers for elements.
class Traffic {
 public:
  size_t Below(size_t n) { return static_cast<size_t>(random_() % n); }

  Words Waiting() {
    const std::string count = std::to_string(1 + Below(3));
    switch (Below(6)) {
      case 0:
        return {Of({"BLPOP", "BRPOP"}), Key(), Key(), Key(), "0"};
      case 1:
        return {Of({"BLPOP", "BRPOP"}), Key(), "0"};
      case 2:
        return {"BLMOVE", Key(), Key(), End(), End(), "0"};
      case 3:
        return {"BRPOPLPUSH", Key(), Key(), "0"};
      case 4:
        return {"BLMPOP", "0", "1", Key(), End(), "COUNT", count};
      default:
        return {"BLMPOP", "0", "2", Key(), Key(), End(), "COUNT", count};
    }
  }
  Words Other(size_t step) {
    const std::string number = std::to_string(step);
    switch (Below(10)) {
      case 0:
        return {"SET", Key(), "text"};
      case 1:
        return {"RENAME", Key(), Key()};
      case 2:
        return {"COPY", Key(), Key(), "REPLACE"};
      case 3:
      case 4:
        return {"DEL", Key(), Key()};
      case 5:
        return {"LMOVE", Key(), Key(), End(), End()};
      case 6:
        return {Of({"LPUSH", "RPUSH"}), Key(), number, number + "b", number + "c"};
      default:
        return {Of({"LPUSH", "RPUSH"}), Key(), number};
    }
  }

 private:
  std::string Of(const Words& words) { return words[Below(words.size())]; }
  std::string Key() { return Of({"a", "b", "c", "d", "e", "f"}); }
  std::string End() { return Of({"LEFT", "RIGHT"}); }

  std::mt19937 random_{20240304};
};

}  // namespace

TEST_CASE_METHOD(ListBlockingTest, "BLPOP takes what is there, and waits for what is not") {
  Run({"RPUSH", "l", "x"});
  CHECK(a.Run({"BLPOP", "none", "l", "0"}) == Popped("l", "x"));
  CHECK(a.Run({"BLPOP", "none", "l", "0"}) == NoReply());
  CHECK(Run({"RPUSH", "l", "y", "z"}) == Integer(2));
  CHECK(a.Received() == Replies{Popped("l", "y")});
  CHECK(Whole("l") == Bulks({"z"}));
}

TEST_CASE_METHOD(ListBlockingTest, "who has waited longest is served first, as many as there are elements") {
  TestClient& c = Connect();
  CHECK(a.Run({"BRPOP", "l", "0"}) == NoReply());
  CHECK(b.Run({"BLMPOP", "0", "1", "l", "LEFT", "COUNT", "2"}) == NoReply());
  CHECK(c.Run({"BLPOP", "l", "0"}) == NoReply());
  Run({"RPUSH", "l", "1", "2", "3"});
  CHECK(a.Received() == Replies{Popped("l", "3")});
  CHECK(b.Received() == Replies{Array({Bulk("l"), Bulks({"1", "2"})})});
  CHECK(c.Received().empty());
  Run({"LPUSH", "l", "4"});
  CHECK(c.Received() == Replies{Popped("l", "4")});
  CHECK(Run({"EXISTS", "l"}) == Integer(0));
}

TEST_CASE_METHOD(ListBlockingTest, "an element passes through a chain of waiting clients") {
  CHECK(a.Run({"BLMOVE", "one", "two", "LEFT", "RIGHT", "0"}) == NoReply());
  CHECK(b.Run({"BRPOPLPUSH", "two", "three", "0"}) == NoReply());
  Run({"RPUSH", "one", "x"});
  CHECK(a.Received() == Replies{Bulk("x")});
  CHECK(b.Received() == Replies{Bulk("x")});
  CHECK(Whole("three") == Bulks({"x"}));
  CHECK(Run({"EXISTS", "one", "two"}) == Integer(0));
}

TEST_CASE_METHOD(ListBlockingTest,
                 "a list that comes under another name or from another database is noticed") {
  const auto waits = [&] { REQUIRE(a.Run({"BLPOP", "l", "0"}) == NoReply()); };
  waits();
  Run({"RPUSH", "other", "x", "y"});
  Run({"RENAME", "other", "l"});
  CHECK(a.Received() == Replies{Popped("l", "x")});
  Run({"DEL", "l"});
  waits();
  Run({"RPUSH", "other", "x"});
  Run({"COPY", "other", "l"});
  CHECK(a.Received() == Replies{Popped("l", "x")});
  waits();
  Run({"RPOPLPUSH", "other", "l"});
  CHECK(a.Received() == Replies{Popped("l", "x")});
  b.session().db = 1;
  waits();
  b.Run({"RPUSH", "l", "moved", "swapped"});
  b.Run({"MOVE", "l", "0"});
  CHECK(a.Received() == Replies{Popped("l", "moved")});
  b.Run({"SWAPDB", "0", "1"});
  waits();
  b.Run({"SWAPDB", "0", "1"});
  CHECK(a.Received() == Replies{Popped("l", "swapped")});
}

TEST_CASE_METHOD(ListBlockingTest,
                 "a key of another type ends no wait, but refuses what comes after it, as in Redis 8") {
  const Reply wrong_type = Error("WRONGTYPE Operation against a key holding the wrong kind of value");
  for (const Words& request :
       {Words{"BLPOP", "first", "l", "0"}, Words{"BLMPOP", "0", "2", "first", "l", "LEFT"}}) {
    Run({"DEL", "first"});
    CHECK(a.Run(request) == NoReply());
    Run({"SET", "first", "text"});
    CHECK(a.Received().empty());
    Run({"RPUSH", "l", "x"});
    CHECK(a.Received() == Replies{wrong_type});
    CHECK(Run({"LPOP", "l"}) == Bulk("x"));
  }
  Run({"DEL", "first"});
  CHECK(a.Run({"BLPOP", "l", "first", "0"}) == NoReply());
  Run({"SET", "first", "text"});
  Run({"RPUSH", "l", "x"});
  CHECK(a.Received() == Replies{Popped("l", "x")});
  CHECK(a.Run({"BLPOP", "first", "0"}).kind == Reply::Kind::kError);
  CHECK(a.Run({"BLMOVE", "l", "first", "LEFT", "LEFT", "0"}) == NoReply());
  Run({"RPUSH", "l", "y"});
  CHECK(a.Received() == Replies{wrong_type});
  CHECK(Whole("l") == Bulks({"y"}));
}

TEST_CASE_METHOD(ListBlockingTest, "a wait ends at its time, to the millisecond") {
  const std::vector<Words> requests = {{"BLPOP", "l", "0.1"},
                                       {"BLMOVE", "l", "m", "LEFT", "LEFT", "0.0995"},
                                       {"BLMPOP", "0.1", "1", "l", "LEFT"}};
  for (const Words& request : requests) {
    INFO(request[0]);
    CHECK(a.Run(request) == NoReply());
    AdvanceTime(99);
    CHECK(a.Received().empty());
    AdvanceTime(1);
    CHECK(a.Received() == Replies{NullArray()});
  }
  Run({"RPUSH", "l", "x"});
  CHECK(Whole("l") == Bulks({"x"}));
}

TEST_CASE_METHOD(ListBlockingTest, "who is woken in vain waits on until the time that was set at first") {
  CHECK(a.Run({"BLPOP", "l", "1"}) == NoReply());
  AdvanceTime(600);
  Run({"SET", "l", "text"});
  Run({"DEL", "l"});
  AdvanceTime(399);
  CHECK(a.Received().empty());
  AdvanceTime(1);
  CHECK(a.Received() == Replies{NullArray()});
}

TEST_CASE_METHOD(ListBlockingTest, "CLIENT UNBLOCK ends a wait for a list") {
  const std::string id = std::to_string(a.session().id);
  CHECK(a.Run({"BLPOP", "l", "0"}) == NoReply());
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(1));
  TurnWheels();
  CHECK(a.Received() == Replies{NullArray()});
  CHECK(a.Run({"BRPOPLPUSH", "l", "m", "0"}) == NoReply());
  CHECK(Run({"CLIENT", "UNBLOCK", id, "ERROR"}) == Integer(1));
  TurnWheels();
  CHECK(a.Received() == Replies{Error("UNBLOCKED client unblocked via CLIENT UNBLOCK")});
  CHECK(Run({"CLIENT", "UNBLOCK", id}) == Integer(0));
  Run({"RPUSH", "l", "x"});
  CHECK(Whole("l") == Bulks({"x"}));
}

TEST_CASE_METHOD(ListBlockingTest, "a client that is killed, or has left, takes nothing") {
  CHECK(a.Run({"BLPOP", "l", "0"}) == NoReply());
  CHECK(b.Run({"BLPOP", "l", "0"}) == NoReply());
  Run({"CLIENT", "KILL", "ID", std::to_string(a.session().id)});
  server().parking.Leave(b.session());
  Run({"RPUSH", "l", "x"});
  CHECK(a.Received().empty());
  CHECK(b.Received().empty());
  CHECK(Whole("l") == Bulks({"x"}));
}

TEST_CASE_METHOD(ListBlockingTest, "what waits is served before the next request of the same pipeline") {
  CHECK(a.Run({"BLPOP", "l", "0"}) == NoReply());
  CHECK(RunRaw("RPUSH l x\r\nLLEN l\r\nLPOP l\r\n") == ":1\r\n:0\r\n$-1\r\n");
  CHECK(a.Received() == Replies{Popped("l", "x")});
}

TEST_CASE_METHOD(ListBlockingTest,
                 "within a transaction nothing waits: it is answered as if its time were over") {
  const auto call = [&](const std::vector<std::string_view>& words) {
    Executor& executor = server().executor;
    ReplyBuffer buffer(client().session().pool(), 2);
    executor.MakeCall({client().session(), buffer.writer(), executor.now(), Origin::kTransaction, words,
                       executor.RowOf(words)});
    return std::string(buffer.Text());
  };
  CHECK(call({"BLPOP", "l", "0"}) == "*-1\r\n");
  CHECK(call({"BLMPOP", "0", "1", "l", "LEFT"}) == "*-1\r\n");
  CHECK(call({"BLMOVE", "l", "m", "LEFT", "LEFT", "0"}) == "$-1\r\n");
  CHECK(call({"BRPOPLPUSH", "l", "m", "0"}) == "$-1\r\n");
  Run({"RPUSH", "l", "x"});
  CHECK(call({"BLPOP", "l", "0"}) == "*2\r\n$1\r\nl\r\n$1\r\nx\r\n");
}

TEST_CASE_METHOD(ListBlockingTest,
                 "after SWAPDB all keys that somebody waits for are looked at, some each turn") {
  constexpr int kTurns = 5;
  Words waits = {"BLPOP"};
  for (unsigned i = 0; i < kTurns * WaitingKeys::kSwappedAtOnce; ++i)
    waits.push_back("k" + std::to_string(i));
  const std::string last = waits.back();
  const std::string early = waits[1];
  waits.push_back("0");
  b.Run({"SELECT", "1"});
  b.Run({"RPUSH", last, "v", "w"});
  a.Run(waits);
  TestClient& c = Connect();
  SECTION("those that come last are served turns later") {
    b.Run({"SWAPDB", "0", "1"});
    CHECK(server().parking.keys().AnySwapped());
    CHECK(a.Received().empty());
    for (int turn = 2; turn < kTurns; ++turn) server().RunWoken();
    CHECK(a.Received() == Replies{Popped(last, "v")});
    CHECK_FALSE(server().parking.keys().AnySwapped());
  }
  SECTION("the first ones at once") {
    b.Run({"RPUSH", early, "v"});
    b.Run({"SWAPDB", "0", "1"});
    CHECK(a.Received() == Replies{Popped(early, "v")});
  }
  SECTION("a key that is pushed to meanwhile is served before the next request") {
    b.Run({"SWAPDB", "0", "1"});
    const std::string late = waits[waits.size() - 3];
    CHECK(Connect().RunRaw(EncodeRequest({"RPUSH", late, "x"}) + EncodeRequest({"LLEN", late})) ==
          ":1\r\n:0\r\n");
    CHECK(a.Received() == Replies{Popped(late, "x")});
  }
  SECTION("who has left meanwhile takes nothing, and nothing is left of the names") {
    b.Run({"SWAPDB", "0", "1"});
    c.Run({"CLIENT", "UNBLOCK", std::to_string(a.session().id)});
    CHECK(a.Received() == Replies{NullArray()});
    CHECK(server().parking.keys().size() == 0);
    for (int turn = 0; turn < kTurns; ++turn) server().RunWoken();
    CHECK(c.Run({"LLEN", last}) == Integer(2));
  }
}

TEST_CASE_METHOD(ListBlockingTest, "clients that wait for lists are served as by a real redis-server") {
  constexpr size_t kWaiters = 5;
  WaitingRedis redis(kWaiters);
  std::array<TestClient*, kWaiters> waiters = {&a, &b, &Connect(), &Connect(), &Connect()};
  Traffic traffic;
  const auto parked = [&] {
    return static_cast<size_t>(std::count_if(waiters.begin(), waiters.end(), [](TestClient* client) {
      return client->session().parked != nullptr;
    }));
  };
  for (size_t step = 0; step < 4000; ++step) {
    const size_t who = traffic.Below(2 * kWaiters);
    const bool waits = who < kWaiters && waiters[who]->session().parked == nullptr;
    const Words words = waits ? traffic.Waiting() : traffic.Other(step);
    CAPTURE(step, who, words);
    if (waits) {
      const std::string reply = waiters[who]->RunRaw(EncodeRequest(words));
      if (reply.empty()) {
        redis.Wait(who, words, parked());
        continue;
      }
      REQUIRE(reply == redis.AskAs(who, words));
    } else {
      REQUIRE(RunRaw(EncodeRequest(words)) == redis.Ask(words));
    }
    for (size_t i = 0; i < kWaiters; ++i) {
      for (const Reply& reply : waiters[i]->Received()) {
        CAPTURE(i);
        REQUIRE(Replies{reply} == TakeReplies(redis.NextReply(i)));
      }
    }
    REQUIRE(redis.Blocked() == parked());
  }
  for (TestClient* client : waiters) server().parking.Leave(client->session());
}

}  // namespace mayfly::testing
