// Replicas in a simulated network: links that are slow, break and stall, and roles that change.
#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "replication/backlog.h"
#include "sim/fleet.h"
#include "sim/replica_scenario.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

using testing::Bulk;
using testing::Ok;

bool Links(Fleet& fleet, size_t n) { return fleet.at(n).link.up(); }

bool Follow(Fleet& fleet, size_t n, size_t master) {
  return fleet.Run(n, {"REPLICAOF", "127.0.0.1", Fleet::PortOf(master)}) == Ok();
}

TEST_CASE("a daemon follows another over the simulated network") {
  Fleet fleet(Choices(1), 2);
  for (int i = 0; i < 1000; ++i) fleet.Run(0, {"SET", "k" + std::to_string(i), "v"});
  CHECK(fleet.Run(1, {"REPLICAOF", "127.0.0.1", Fleet::PortOf(0)}) == Ok());
  CHECK(fleet.PassUntil(5'000, [&] { return Links(fleet, 1); }));
  CHECK(fleet.Run(0, {"SET", "after", "1"}) == Ok());
  fleet.Pass(10);
  CHECK(fleet.Run(1, {"GET", "after"}) == Bulk("1"));
  CHECK(fleet.StateOf(1) == fleet.StateOf(0));
  fleet.CheckNothingIsLeft(0);
  fleet.CheckNothingIsLeft(1);
}

TEST_CASE("the link to the master is a line of CLIENT LIST while it is up, and CLIENT KILL breaks it") {
  Fleet fleet(Choices(1), 2);
  const auto masters = [&](size_t n) { return fleet.Run(n, {"CLIENT", "LIST", "TYPE", "master"}).text; };
  const auto field = [&](const std::string& name) {
    const std::string line = masters(1);
    const size_t at = line.find(name + '=') + name.size() + 1;
    return line.substr(at, line.find_first_of(" \n", at) - at);
  };
  REQUIRE(Follow(fleet, 1, 0));
  CHECK(masters(1) == "");
  REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 1); }));
  fleet.Run(0, {"SET", "k", "v"});
  fleet.Pass(1'500);
  CHECK(masters(0) == "");
  CHECK(std::ranges::count(masters(1), '\n') == 1);
  CHECK(field("addr") == std::string("127.0.0.1:") + Fleet::PortOf(0));
  CHECK(field("flags") == "M");
  CHECK(field("user") == "(superuser)");
  CHECK(field("db") == "0");
  CHECK(field("cmd") == "set");
  CHECK(field("tot-cmds") == "2");  // SELECT, SET
  CHECK(field("qbuf") == "0");
  CHECK(field("age") == "1");
  const std::string id = field("id");
  CHECK(fleet.Run(1, {"CLIENT", "LIST", "ID", id}).text == masters(1));
  CHECK(fleet.Run(1, {"CLIENT", "LIST"}).text.find(masters(1)) != std::string::npos);
  CHECK(fleet.Run(1, {"CLIENT", "UNBLOCK", id}) == testing::Integer(0));
  CHECK(fleet.Run(1, {"CLIENT", "KILL", "TYPE", "master"}) == testing::Integer(1));
  fleet.Run(0, {"SET", "meanwhile", "v"});
  REQUIRE(fleet.PassUntil(500, [&] { return fleet.at(1).link.partial_syncs == 1; }));
  fleet.Pass(100);
  CHECK(fleet.Run(1, {"CLIENT", "KILL", "ID", id}) == testing::Integer(0));
  CHECK(field("id") != id);
  CHECK(field("age") == "0");
  CHECK(fleet.Run(1, {"GET", "meanwhile"}) == Bulk("v"));
  REQUIRE(fleet.Run(1, {"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(masters(1) == "");
}

// ---- slow links

// Which no compression makes smaller.
std::string Noise(std::mt19937& random, size_t bytes) {
  std::string noise;
  while (noise.size() < bytes) noise += static_cast<char>(random());
  return noise;
}

void Fill(Fleet& fleet, size_t n, size_t keys, size_t bytes) {
  std::mt19937 random(7);
  for (size_t i = 0; i < keys; ++i) fleet.Run(n, {"SET", "k" + std::to_string(i), Noise(random, bytes)});
}

// 10 KB a second.
void SlowDown(Fleet& fleet) {
  fleet.world.set_on_wire([](Wire& wire) { wire.set_terms({.delay_ms = 50, .bytes_per_ms = 10}); });
}

TEST_CASE("over a slow link a replica comes to have everything, as long as the limits allow") {
  Fleet fleet(Choices(1), 2, {"--repl-timeout", "60"});
  Fill(fleet, 0, 20, 10'000);
  SlowDown(fleet);
  REQUIRE(Follow(fleet, 1, 0));
  // The stream waits for the replica meanwhile.
  for (int i = 0; i < 10; ++i) {
    fleet.Pass(500);
    fleet.Run(0, {"SET", "during" + std::to_string(i), std::string(2'000, 'x')});
  }
  CHECK_FALSE(Links(fleet, 1));
  REQUIRE(fleet.PassUntil(60'000, [&] { return Links(fleet, 1) && fleet.IsInStep(1); }));
  CHECK(fleet.world.now_ns() > 20'000 * World::kNsPerMs);
  CHECK(fleet.StateOf(1) == fleet.StateOf(0));
  CHECK(fleet.at(0).followers.full_syncs == 1);
}

// What waits for the sockets of all clients.
uint64_t OutputBytes(Fleet& fleet, size_t n) {
  uint64_t bytes = 0;
  for (const auto& [id, session] : fleet.at(n).sessions.by_id()) bytes += session->output.size();
  return bytes;
}

TEST_CASE(
    "a replica that is too slow for the limits is cut, comes again, and costs the master no more memory") {
  constexpr uint64_t kLimit = 400'000;
  Fleet fleet(Choices(1), 2,
              {"--repl-timeout", "60", "--repl-backlog-size", "16384", "--client-output-buffer-limit",
               "replica " + std::to_string(kLimit) + " 0 0"});
  const uint64_t beside = fleet.at(0).hubs.accounts.Sum();
  SlowDown(fleet);
  REQUIRE(Follow(fleet, 1, 0));
  REQUIRE(fleet.PassUntil(10'000, [&] { return Links(fleet, 1); }));
  std::mt19937 random(7);
  uint64_t most = 0;
  for (int i = 0; i < 300; ++i) {
    fleet.Run(0, {"SET", "k" + std::to_string(i % 10), Noise(random, 10'000)});
    fleet.Pass(100);
    most = std::max(most, fleet.at(0).hubs.accounts.Sum() + OutputBytes(fleet, 0) - beside);
  }
  CHECK(fleet.at(0).followers.full_syncs > 1);
  // Bytes of the stream that are no output yet are in the backlog, by whole blocks, and a snapshot of ten keys is on its way.
  CHECK(most > kLimit / 2);
  CHECK(most < kLimit + 100'000 + 3 * Backlog::kBlockBytes);
  fleet.Run(0, {"CONFIG", "SET", "client-output-buffer-limit", "replica 0 0 0"});
  REQUIRE(fleet.PassUntil(120'000, [&] { return Links(fleet, 1) && fleet.IsInStep(1); }));
  CHECK(fleet.StateOf(1) == fleet.StateOf(0));
}

// ---- memory

uint64_t Memory(Fleet& fleet, const std::string& field) { return std::stoull(fleet.Info(0, field)); }

// A field of MEMORY STATS.
testing::Reply MemoryStat(Fleet& fleet, const std::string& field) {
  const std::vector<testing::Reply> fields = fleet.Run(0, {"MEMORY", "STATS"}).elements;
  for (size_t i = 0; i + 1 < fields.size(); i += 2) {
    if (fields[i] == Bulk(field)) return fields[i + 1];
  }
  return testing::NoReply();
}

TEST_CASE("what waits for a slow replica is memory of replicas, and not of other clients") {
  constexpr uint64_t kInSystem = 300'000;  // at most: what sockets take, and what the backlog keeps anyhow
  // Within what an output gets at once, and more; small commands are copied into it.
  const auto [written, size] = GENERATE(table<size_t, size_t>({{50, 10'000}, {200, 10'000}, {10'000, 100}}));
  CAPTURE(written, size);
  Fleet fleet(Choices(1), 2, {"--repl-timeout", "60", "--repl-backlog-size", "16384"});
  SlowDown(fleet);
  REQUIRE(Follow(fleet, 1, 0));
  REQUIRE(fleet.PassUntil(10'000, [&] { return Links(fleet, 1) && fleet.IsInStep(1); }));
  CHECK(Memory(fleet, "mem_clients_slaves") == 0);
  const uint64_t clients = Memory(fleet, "mem_clients_normal");
  const int64_t before = fleet.at(0).followers.offset;
  std::mt19937 random(7);
  for (size_t i = 0; i < written; ++i) fleet.Run(0, {"SET", "k", Noise(random, size)});
  const auto sent = static_cast<uint64_t>(fleet.at(0).followers.offset - before);
  const uint64_t held = Memory(fleet, "mem_clients_slaves");
  CHECK(held > sent - kInSystem);
  CHECK(held < sent);
  CHECK(Memory(fleet, "mem_clients_normal") < clients + 50'000);
  CHECK(Memory(fleet, "mem_replication_backlog") < 16'384 + 3 * Backlog::kBlockBytes);
  CHECK(Memory(fleet, "mem_total_replication_buffers") == held + Memory(fleet, "mem_replication_backlog"));
  CHECK(MemoryStat(fleet, "clients.slaves") == testing::Integer(static_cast<int64_t>(held)));
  CHECK(MemoryStat(fleet, "clients.normal") ==
        testing::Integer(static_cast<int64_t>(Memory(fleet, "mem_clients_normal"))));
  REQUIRE(fleet.PassUntil(400'000, [&] { return fleet.IsInStep(1); }));
  fleet.Pass(2'000);
  CHECK(Memory(fleet, "mem_clients_slaves") == 0);
}

TEST_CASE("a replica with less memory than its master's keys has all of them, unless it is to mind") {
  const std::string policy = GENERATE("noeviction", "allkeys-lru");
  const bool minds = GENERATE(false, true);
  CAPTURE(policy, minds);
  Fleet fleet(Choices(1), 2);
  Fill(fleet, 0, 300, 20'000);
  const int64_t used = std::stoll(fleet.Info(1, "used_memory"));
  fleet.Run(1, {"CONFIG", "SET", "replica-ignore-maxmemory", minds ? "no" : "yes"});
  fleet.Run(1, {"CONFIG", "SET", "maxmemory-policy", policy});
  fleet.Run(1, {"CONFIG", "SET", "maxmemory", std::to_string(used + 2'000'000)});
  REQUIRE(Follow(fleet, 1, 0));
  REQUIRE(fleet.PassUntil(10'000, [&] { return Links(fleet, 1); }));
  // The stream goes on.
  fleet.Run(0, {"SET", "after", std::string(50'000, 'x')});
  fleet.Run(0, {"DEL", "k0"});
  fleet.Pass(5'000);
  CHECK(fleet.IsInStep(1));
  CHECK(fleet.at(0).followers.full_syncs == 1);
  const bool evicts = minds && policy != "noeviction";
  if (!evicts) {
    CHECK(fleet.Info(1, "evicted_keys") == "0");
    CHECK(fleet.StateOf(1) == fleet.StateOf(0));
  } else {
#ifndef MAYFLY_SANITIZE  // in whose builds only the heap of entries is counted, and these values lie outside
    CHECK(fleet.at(1).databases.total_keys() < 200);
#endif
  }
  CHECK(fleet.at(1).link.failures == 0);
}

// ---- roles

// Everybody answers, takes no writes, sends no keys, and logs no more than a line a minute and link.
void CheckSilent(Fleet& fleet) {
  for (size_t n = 0; n < fleet.size(); ++n) fleet.TakeLog(n);
  uint64_t full_syncs = 0;
  for (size_t n = 0; n < fleet.size(); ++n) full_syncs += fleet.at(n).followers.full_syncs;
  const uint64_t turns = fleet.world.turns();
  fleet.Pass(60'000);
  CHECK(fleet.world.turns() - turns < 60 * 100 * fleet.size());
  for (size_t n = 0; n < fleet.size(); ++n) {
    CAPTURE(n);
    full_syncs -= fleet.at(n).followers.full_syncs;
    CHECK(fleet.Run(n, {"GET", "k"}) == Bulk("v"));
    CHECK(fleet.Run(n, {"SET", "k", "x"}).text.starts_with("READONLY"));
    const std::string log = fleet.TakeLog(n);
    CHECK(std::ranges::count(log, '\n') <= 10);
  }
  CHECK(full_syncs == 0);
}

void CheckFollow(Fleet& fleet, size_t master) {
  REQUIRE(fleet.Run(master, {"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(fleet.Run(master, {"SET", "new", "1"}) == Ok());
  for (size_t n = 0; n < fleet.size(); ++n)
    CHECK(fleet.PassUntil(10'000,
                          [&] { return fleet.IsInStep(n) && fleet.Run(n, {"GET", "new"}) == Bulk("1"); }));
  for (size_t n = 0; n < fleet.size(); ++n) CHECK(fleet.StateOf(n) == fleet.StateOf(master));
}

TEST_CASE(
    "two servers that are told to follow each other at once are silent, and go on when one is the master") {
  Fleet fleet(Choices(1), 2);
  const bool was_replica = GENERATE(false, true);
  CAPTURE(was_replica);
  for (size_t n = 0; n < 2; ++n) fleet.Run(n, {"SET", "k", "v"});
  if (was_replica) {
    REQUIRE(Follow(fleet, 1, 0));
    REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 1); }));
  }
  Peer& first = fleet.Connect(0);
  Peer& second = fleet.Connect(1);
  first.Request({"REPLICAOF", "127.0.0.1", Fleet::PortOf(1)});
  second.Request({"REPLICAOF", "127.0.0.1", Fleet::PortOf(0)});
  fleet.Pass(2'000);
  CheckSilent(fleet);
  CheckFollow(fleet, 1);
}

TEST_CASE("a master and its replica that change places at once lose no write that both had") {
  Fleet fleet(Choices(1), 2);
  fleet.Run(0, {"SET", "k", "v"});
  REQUIRE(Follow(fleet, 1, 0));
  REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 1); }));
  Peer& first = fleet.Connect(0);
  Peer& second = fleet.Connect(1);
  first.Request({"REPLICAOF", "127.0.0.1", Fleet::PortOf(1)});
  second.Request({"REPLICAOF", "NO", "ONE"});
  REQUIRE(fleet.PassUntil(10'000, [&] { return Links(fleet, 0); }));
  CHECK(fleet.Run(1, {"SET", "new", "1"}) == Ok());
  fleet.Pass(100);
  CHECK(fleet.Run(0, {"MGET", "k", "new"}) == testing::Array({Bulk("v"), Bulk("1")}));
  // Both had the same stream: nobody needs all keys.
  CHECK(fleet.at(1).followers.full_syncs == 0);
}

TEST_CASE("a ring of replicas is silent, and goes on when one of them is the master") {
  Fleet fleet(Choices(1), 3);
  const bool was_chain = GENERATE(false, true);
  CAPTURE(was_chain);
  for (size_t n = 0; n < 3; ++n) fleet.Run(n, {"SET", "k", "v"});
  for (const size_t n : {1, 2, 0}) {
    REQUIRE(Follow(fleet, n, (n + 2) % 3));
    if (was_chain && n != 0) REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, n); }));
  }
  fleet.Pass(2'000);
  CheckSilent(fleet);
  CheckFollow(fleet, 2);
}

TEST_CASE("a server that is told to follow itself answers, and is a master again when it is told so") {
  Fleet fleet(Choices(1), 1);
  fleet.Run(0, {"SET", "k", "v"});
  REQUIRE(Follow(fleet, 0, 0));
  fleet.Pass(2'000);
  CheckSilent(fleet);
  CheckFollow(fleet, 0);
}

// ---- chains

TEST_CASE(
    "what is due at a replica, and may get another deadline, is in the keys that it sends to its own "
    "replica") {
  Fleet fleet(Choices(1), 3);
  for (const std::vector<std::string>& request :
       std::vector<std::vector<std::string>>{{"HSET", "h", "a", "1", "b", "2"},
                                             {"HPEXPIRE", "h", "500", "FIELDS", "1", "a"},
                                             {"SADD", "u", "a", "b"},
                                             {"SPEXPIRE", "u", "500", "MEMBERS", "1", "a"},
                                             {"ZADD", "z", "1", "a", "2", "b"},
                                             {"EXPIREMEMBER", "z", "a", "500", "MS"},
                                             {"SET", "s", "v", "PX", "500"}})
    fleet.Run(0, request);
  REQUIRE(Follow(fleet, 1, 0));
  REQUIRE(fleet.PassUntil(400, [&] { return Links(fleet, 1); }));
  Wire& upper = *fleet.world.wires().front();
  upper.set_stalled(true);
  fleet.Run(0, {"HPERSIST", "h", "FIELDS", "1", "a"});
  fleet.Run(0, {"SPERSIST", "u", "MEMBERS", "1", "a"});
  fleet.Run(0, {"EXPIREMEMBER", "z", "a", "100"});
  fleet.Run(0, {"PERSIST", "s"});
  fleet.Pass(600);
  REQUIRE(Follow(fleet, 2, 1));
  REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 2); }));
  upper.set_stalled(false);
  fleet.Pass(1'000);
  CHECK(fleet.StateOf(1) == fleet.StateOf(0));
  CHECK(fleet.StateOf(2) == fleet.StateOf(0));
}

// A replica that is no Mayfly: asks for all keys, and confirms them.
class Foreigner {
 public:
  Foreigner(Fleet& fleet, size_t master) : fleet_(fleet), peer_(fleet.Connect(master)) {
    peer_.Request({"REPLCONF", "capa", "eof", "capa", "psync2"});
    peer_.Request({"PSYNC", "?", "-1"});
  }
  // It has all keys. False: its master has dropped it.
  bool Load() {
    constexpr size_t kMark = 40;
    fleet_.PassUntil(10'000, [&] {
      const std::string& bytes = peer_.received();
      const size_t at = bytes.find("$EOF:");
      return !peer_.connected() || (at != std::string::npos && bytes.size() > at + 2 * kMark + 7 &&
                                    bytes.ends_with(bytes.substr(at + 5, kMark)));
    });
    peer_.Take();
    peer_.Request({"REPLCONF", "ACK", "0"});
    fleet_.Pass(10);
    return peer_.connected();
  }
  bool Hears(const std::string& text) { return peer_.Take().find(text) != std::string::npos; }

 private:
  Fleet& fleet_;
  Peer& peer_;
};

TEST_CASE(
    "a Redis that follows a Mayfly's replica gets DELs, and what the replica had of its master is enough") {
  Fleet fleet(Choices(1), 3);
  for (const size_t n : {1, 2}) REQUIRE(Follow(fleet, n, 0));
  REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 1) && Links(fleet, 2); }));
  fleet.Run(0, {"SET", "before", "v", "PX", "100"});
  fleet.Pass(200);
  Foreigner redis(fleet, 1);
  REQUIRE(redis.Load());
  fleet.Run(0, {"SET", "later", "v", "PX", "100"});
  fleet.Pass(200);
  CHECK(redis.Hears("DEL\r\n$5\r\nlater\r\n"));
  CHECK(fleet.at(1).link.partial_syncs == 1);
  CHECK(fleet.at(1).link.full_syncs == 1);
  for (const size_t n : {1, 2}) {
    CHECK(fleet.at(n).databases.total_keys() == 0);
    CHECK(fleet.at(n).link.failures == 0);
  }
}

TEST_CASE("while keys expire all the time, a Redis that follows a Mayfly's replica comes to get DELs") {
  Fleet fleet(Choices(1), 3);
  for (const size_t n : {1, 2}) REQUIRE(Follow(fleet, n, 0));
  REQUIRE(fleet.PassUntil(5'000, [&] { return Links(fleet, 1) && Links(fleet, 2); }));
  for (int i = 0; i < 2'000; ++i)
    fleet.Run(0, {"SET", "k" + std::to_string(i), "v", "PX", std::to_string(100 + 5 * i)});
  bool loaded = false;
  for (int i = 0; i < 5 && !loaded; ++i) loaded = Foreigner(fleet, 1).Load();
  Foreigner redis(fleet, 1);
  REQUIRE(redis.Load());
  fleet.Pass(500);
  CHECK(redis.Hears("DEL\r\n"));
  fleet.Pass(15'000);
  for (const size_t n : {0, 1, 2}) CHECK(fleet.at(n).databases.total_keys() == 0);
}

// ---- random life

// MAYFLY_SIM_SEED chooses one seed (a failure prints it), MAYFLY_SIM_RUNS the number of seeds.
constexpr uint64_t kReplicaRuns = 8;
constexpr size_t kReplicaSteps = 300;

ReplicaScenario::Tally LiveFor(uint64_t seed, ReplicaScenario::Kind kind) {
  ReplicaScenario scenario(Choices(seed), kind);
  scenario.Run(kReplicaSteps);
  return scenario.tally();
}

uint64_t NumberFrom(const char* name, uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : otherwise;
}

bool OneSeed() { return NumberFrom("MAYFLY_SIM_SEED", 0) != 0; }
uint64_t Runs() { return OneSeed() ? 1 : NumberFrom("MAYFLY_SIM_RUNS", kReplicaRuns); }

// All seeds of a kind.
ReplicaScenario::Tally Live(ReplicaScenario::Kind kind) {
  ReplicaScenario::Tally all;
  const uint64_t first = NumberFrom("MAYFLY_SIM_SEED", 1);
  for (uint64_t seed = first; seed < first + Runs(); ++seed) {
    INFO("MAYFLY_SIM_SEED=" << seed);
    CHECK_NOTHROW(all.Add(LiveFor(seed, kind)));
  }
  return all;
}

TEST_CASE("whatever links do, in the end each replica has what its master has") {
  const ReplicaScenario::Tally all = Live(ReplicaScenario::Kind::kLinks);
  if (OneSeed()) return;
  // The life was not harmless.
  const uint64_t runs = Runs();
  CHECK(all.cuts > 3 * runs);
  CHECK(all.stalls > 3 * runs);
  CHECK(all.full_syncs > 3 * runs);
  CHECK(all.partial_syncs > 3 * runs);
  CHECK(all.refused_syncs != 0);
  CHECK(all.acknowledged > 50 * runs);
  CHECK(all.keys > 100 * runs);
}

TEST_CASE("whoever follows whom, in the end each replica has what its master has") {
  const ReplicaScenario::Tally all = Live(ReplicaScenario::Kind::kRoles);
  if (OneSeed()) return;
  CHECK(all.full_syncs > 3 * Runs());
  CHECK(all.partial_syncs > Runs());
  CHECK(all.keys > 50 * Runs());
}

TEST_CASE("whatever links do, no acknowledged write is lost when masters hand over") {
  const ReplicaScenario::Tally all = Live(ReplicaScenario::Kind::kHandovers);
  if (OneSeed()) return;
  CHECK(all.handovers > 2 * Runs());
  CHECK(all.partial_syncs > 3 * Runs());
  CHECK(all.acknowledged > 50 * Runs());
}

TEST_CASE("a seed always gives the same life of replicas") {
  const auto kind = GENERATE(ReplicaScenario::Kind::kRoles, ReplicaScenario::Kind::kHandovers);
  const ReplicaScenario::Tally once = LiveFor(3, kind);
  const ReplicaScenario::Tally again = LiveFor(3, kind);
  CHECK(again.cuts == once.cuts);
  CHECK(again.full_syncs == once.full_syncs);
  CHECK(again.partial_syncs == once.partial_syncs);
  CHECK(again.acknowledged == once.acknowledged);
  CHECK(again.keys == once.keys);
  CHECK(again.ended_ns == once.ended_ns);
  CHECK(again == once);
}

}  // namespace
}  // namespace mayfly::sim
