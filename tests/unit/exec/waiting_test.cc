// When those who wait for a key are served: as BLPOP in Redis, by the commands of seam_commands.cc.
#include <map>
#include <random>
#include <string>
#include <vector>

#include "server/waiting/waiting_keys.h"
#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class WaitingTest : public CommandTest {
 public:
  TestClient& a = Connect();
  TestClient& b = Connect();
  TestClient& c = Connect();
};

using Replies = std::vector<Reply>;

}  // namespace

TEST_CASE_METHOD(WaitingTest, "a waiter is served between two requests of the same pipeline") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(RunRaw("KEEP k x\r\nFETCH k\r\nKEEP k y\r\nFETCH k\r\n") == "+OK\r\n$-1\r\n+OK\r\n$1\r\ny\r\n");
  CHECK(a.Received() == Replies{Bulk("x")});
}

TEST_CASE_METHOD(WaitingTest,
                 "who has waited longest is served first, and the others wait on in their order") {
  for (TestClient* client : {&a, &b, &c}) CHECK(client->Run({"GRAB", "k", "0"}) == NoReply());
  Run({"KEEP", "k", "1"});
  CHECK(a.Received() == Replies{Bulk("1")});
  CHECK(b.Received().empty());
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(RunRaw("KEEP k 2\r\nKEEP k 3\r\nKEEP k 4\r\nKEEP k 5\r\n") == "+OK\r\n+OK\r\n+OK\r\n+OK\r\n");
  CHECK(b.Received() == Replies{Bulk("2")});
  CHECK(c.Received() == Replies{Bulk("3")});
  CHECK(a.Received() == Replies{Bulk("4")});
  CHECK(Run({"FETCH", "k"}) == Bulk("5"));
  CHECK(server().parking.keys().size() == 0);
}

TEST_CASE_METHOD(WaitingTest,
                 "what a served client has sent behind its request runs at the end of the turn") {
  CHECK(a.RunRaw("GRAB k 0\r\nKEEP k from-a\r\n").empty());
  CHECK(RunRaw("KEEP k x\r\nFETCH k\r\n") == "+OK\r\n$-1\r\n");
  CHECK(a.Received() == Replies{Bulk("x"), Ok()});
  CHECK(Run({"FETCH", "k"}) == Bulk("from-a"));
}

TEST_CASE_METHOD(WaitingTest,
                 "a key that comes by a move, in a call within a call, or after another wait is noticed") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  Run({"KEEP", "other", "v"});
  CHECK(a.Received().empty());
  Run({"MOVE-TO", "other", "k"});
  CHECK(a.Received() == Replies{Bulk("v")});
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(Run({"ALL", "KEEP", "k", "v", ";", "FETCH", "k"}) == Array({Ok(), Bulk("v")}));
  CHECK(a.Received() == Replies{Bulk("v")});
}

TEST_CASE_METHOD(WaitingTest, "a key that is gone again when its turn comes is waited for on") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(Run({"ALL", "KEEP", "k", "v", ";", "GRAB", "k", "0"}) == Array({Ok(), Bulk("v")}));
  CHECK(a.Received().empty());
  Run({"KEEP", "k", "w"});
  CHECK(a.Received() == Replies{Bulk("w")});
}

TEST_CASE_METHOD(WaitingTest,
                 "a key that a held request brings is noticed, though nobody sends anything more") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  server().parking.Pause(PauseOf::kEverybody, server().clock.Read().mono_ms + 100);
  CHECK(b.Run({"KEEP", "k", "v"}) == NoReply());
  CHECK(a.Received().empty());
  AdvanceTime(100);
  CHECK(b.Received() == Replies{Ok()});
  CHECK(a.Received() == Replies{Bulk("v")});
}

TEST_CASE_METHOD(WaitingTest, "a database that is swapped in brings what is waited for") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  b.session().db = 3;
  CHECK(b.Run({"KEEP", "k", "from 3"}) == Ok());
  CHECK(a.Received().empty());
  server().databases.Swap(0, 3);
  Run({"NOW"});
  CHECK(a.Received() == Replies{Bulk("from 3")});
  // And the numbers of the databases are right afterwards.
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(b.Run({"KEEP", "k", "again 3"}) == Ok());
  CHECK(a.Received().empty());
  CHECK(Run({"KEEP", "k", "0"}) == Ok());
  CHECK(a.Received() == Replies{Bulk("0")});
}

TEST_CASE_METHOD(WaitingTest, "a waiter that was killed takes nothing from those behind it") {
  CHECK(a.Run({"GRAB", "k", "0"}) == NoReply());
  CHECK(b.Run({"GRAB", "k", "0"}) == NoReply());
  a.session().Set(Mode::kDropped);
  Run({"KEEP", "k", "v"});
  CHECK(a.Received().empty());
  CHECK(b.Received() == Replies{Bulk("v")});
}

TEST_CASE_METHOD(WaitingTest, "a waiter that leaves, or whose time is over, is not served") {
  CHECK(a.Run({"GRAB", "k", "100"}) == NoReply());
  CHECK(b.Run({"GRAB", "k", "0"}) == NoReply());
  server().parking.Leave(b.session());
  AdvanceTime(100);
  CHECK(a.Received() == Replies{NullArray()});
  CHECK(server().parking.keys().size() == 0);
  CHECK(RunRaw("KEEP k v\r\nFETCH k\r\n") == "+OK\r\n$1\r\nv\r\n");
}

TEST_CASE_METHOD(WaitingTest, "who is woken in vain goes back to its place, whoever came or left meanwhile") {
  std::mt19937 random(8);
  const auto below = [&](unsigned n) { return static_cast<size_t>(random() % n); };
  ParkingLot& parking = server().parking;
  const std::string_view words[] = {"GRAB", "k"};
  const std::span<const std::string_view> keys = std::span(words).last(1);
  std::vector<TestClient*> free;
  for (int i = 0; i < 40; ++i) free.push_back(&Connect());
  std::map<uint64_t, TestClient*> line;
  const auto enter = [&](TestClient& client, uint64_t order) {
    line[parking.Park(client.session(), words, ParkingLot::kForever, order, keys).order] = &client;
  };
  const auto leave = [&](TestClient& client) {
    line.erase(client.session().parked->order);
    parking.Leave(client.session());
    free.push_back(&client);
  };
  for (int round = 0; round < 300; ++round) {
    while (!free.empty() && below(4) != 0) {
      enter(*free.back(), 0);
      free.pop_back();
    }
    const Now now = server().clock.Read();
    const Key k = keyspace().KeyOf("k");
    keyspace().Put(k, keyspace().Peek(k, now), StringValue::Of("v"), Expiry::Never(), now);
    WaitedKey* const key = parking.keys().TakeReady();
    REQUIRE((key != nullptr) == !line.empty());
    uint64_t order = 0;
    for (uint64_t seen = 0; key != nullptr; seen = order) {
      const Wait* const wait = WaitingKeys::NextAfter(*key, order);
      const auto next = line.upper_bound(seen);
      REQUIRE((wait == nullptr) == (next == line.end()));
      if (wait == nullptr) break;
      TestClient& client = *next->second;
      REQUIRE(wait->parked == client.session().parked);
      order = wait->parked->order;
      leave(client);
      if (below(4) != 0) {
        free.pop_back();
        enter(client, order);
      }
      if (below(8) == 0 && !line.empty())
        leave(*std::next(line.begin(), static_cast<long>(below(static_cast<unsigned>(line.size()))))->second);
    }
    if (key != nullptr) parking.keys().Release(*key);
  }
}

TEST_CASE_METHOD(WaitingTest, "a key that is named twice is waited for once") {
  const std::string_view words[] = {"GRAB", "k", "k", "l", "k"};
  server().parking.Park(a.session(), words, ParkingLot::kForever, 0, std::span(words).subspan(1));
  CHECK(a.session().parked->waits.size() == 2);
  CHECK(server().parking.keys().size() == 2);
  server().parking.Leave(a.session());
  CHECK(server().parking.keys().size() == 0);
}

TEST_CASE_METHOD(WaitingTest, "the index of keys agrees with a simple model under random traffic") {
  std::mt19937 random(7);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  TestClient* const clients[] = {&a, &b, &c, &Connect(), &Connect(), &Connect()};
  std::vector<std::pair<TestClient*, std::string>> line;  // who waits for which key, in their order
  std::map<std::string, std::string> stored;
  for (int step = 0; step < 3000; ++step) {
    const std::string key = "k" + std::to_string(below(4));
    TestClient& one = *clients[below(6)];
    const auto waits = [&](const auto& entry) { return entry.first == &one; };
    if (below(2) == 0) {
      const std::string value = std::to_string(step);
      REQUIRE(Run({"KEEP", key, value}) == Ok());
      const auto first =
          std::find_if(line.begin(), line.end(), [&](const auto& entry) { return entry.second == key; });
      if (first == line.end()) {
        stored[key] = value;
      } else {
        REQUIRE(first->first->Received() == Replies{Bulk(value)});
        line.erase(first);
      }
    } else if (std::any_of(line.begin(), line.end(), waits)) {
      if (below(4) != 0) continue;
      server().parking.Leave(one.session());
      std::erase_if(line, waits);
    } else if (stored.erase(key) != 0) {
      REQUIRE(one.Run({"GRAB", key, "0"}).kind == Reply::Kind::kBulk);
    } else {
      REQUIRE(one.Run({"GRAB", key, "0"}) == NoReply());
      line.emplace_back(&one, key);
    }
  }
  for (TestClient* client : clients) {
    CHECK(client->Received().empty());
    server().parking.Leave(client->session());
  }
  CHECK(server().parking.keys().size() == 0);
}

}  // namespace mayfly::testing
