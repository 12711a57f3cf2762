// A master with clients that say what replicas say, in any order and half wrong: REPLCONF, PSYNC, SYNC, confirmations at places
// that do not exist, in transactions and while they wait; they read or do not read, leave, and are killed. Meanwhile keys change,
// time passes, and the server follows another one and comes back. The master neither crashes nor hangs, counts the replicas that
// are there, and when all have left its stream ends and costs nothing. `fuzz_replica_requests --seeds=DIR` writes seeds.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "../support/input_rig.h"
#include "../support/memory_disk.h"
#include "../support/reply.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "replication/master_link.h"
#include "replication/replicas.h"
#include "seed_files.h"
#include "server/figures/replica_figures.h"
#include "snapshot/snapshots.h"

namespace mayfly::testing {
namespace {

constexpr size_t kClients = 4;
constexpr size_t kMostSteps = 300;
constexpr size_t kMostSlices = 200;

void Require(bool holds) {
  if (!holds) std::abort();
}

// Reads the test case; zeros after its end.
class Script {
 public:
  Script(const uint8_t* data, size_t size) : at_(data), end_(data + size) {}
  bool Done() const { return at_ == end_; }
  uint8_t Byte() { return at_ == end_ ? uint8_t{0} : *at_++; }
  size_t Below(size_t n) { return Byte() % n; }
  std::string Bytes(size_t most) {
    const size_t size = std::min<size_t>(most, static_cast<size_t>(end_ - at_));
    std::string bytes(reinterpret_cast<const char*>(at_), size);
    at_ += size;
    return bytes;
  }

 private:
  const uint8_t* at_;
  const uint8_t* end_;
};

struct World {
  World() : rig(server, kClients) {
    server.server.snapshots = std::make_unique<Snapshots>(server.server, disk);
    server.server.master_link = std::make_unique<MasterLink>(server.server, disk);
    static_cast<void>(Replicas::Of(server.server));
  }
  ~World() {
    for (size_t i = 0; i < kClients; ++i) rig.Close(rig.at(i));
    server.server.failover.reset();
    server.server.replicas.reset();
    server.server.master_link.reset();
    server.server.snapshots.reset();
  }
  // What the loop does at the end of a turn, for sliced work and for threads.
  void Turn() {
    server.executor.EndTurn();
    rig.EndTurn();
    server.executor.EndTurn();
    if (server.sliced_work.waits()) server.sliced_work.RunSlice(server.executor.now(), ReadCycles(), 0, 64);
    server.hubs.wakes.Tell();
  }
  void Pass(uint64_t ms) {
    server.clock.AdvanceTime(ms);
    server.FreeDue();
    Turn();
  }

  LooplessServer server;
  MemoryDisk disk;
  InputRig rig;
};

// A place of the stream: right, near or anywhere.
std::string PlaceFrom(World& world, Script& script) {
  const int64_t end = world.server.followers.offset;
  switch (script.Below(6)) {
    case 0:
      return std::to_string(end + 1);
    case 1:
      return std::to_string(world.server.followers.backlog_begin + 1);
    case 2:
      return std::to_string(end + script.Byte() - 128);
    case 3:
      return "9223372036854775807";
    case 4:
      return "-1";
    default:
      return script.Bytes(3);
  }
}

std::string HistoryFrom(const World& world, Script& script) {
  switch (script.Below(4)) {
    case 0:
      return "?";
    case 1:
      return world.server.followers.history;
    case 2:
      return world.server.followers.old_history;
    default:
      return std::string(40, static_cast<char>('a' + script.Below(6)));
  }
}

std::vector<std::string> ReplConfFrom(World& world, Script& script) {
  switch (script.Below(10)) {
    case 0:
      return {"REPLCONF", "listening-port", std::to_string(7000 + script.Below(3))};
    case 1:
      return {"REPLCONF", "capa", "eof", "capa", "psync2", "capa", "mayfly"};
    case 2:
      return {"REPLCONF", "capa", "eof"};
    case 3:
      return {"REPLCONF", "ip-address", script.Bytes(8)};
    case 4:
      return {"REPLCONF", "rdb-only", std::to_string(script.Below(3))};
    case 5:
      return {"REPLCONF", "rdb-filter-only", script.Below(2) == 0 ? "functions" : script.Bytes(9)};
    case 6:
      return {"REPLCONF", "GETACK", "*"};
    case 7:
      return {"REPLCONF", "ACK", PlaceFrom(world, script), "FACK", PlaceFrom(world, script)};
    default:
      return {"REPLCONF", "ACK", PlaceFrom(world, script)};
  }
}

std::vector<std::string> RequestFrom(World& world, Script& script) {
  const std::string key(1, static_cast<char>('a' + script.Below(4)));
  switch (script.Below(16)) {
    case 0:
    case 1:
    case 2:
      return ReplConfFrom(world, script);
    case 3:
    case 4: {
      std::vector<std::string> request = {"PSYNC", HistoryFrom(world, script), PlaceFrom(world, script)};
      if (script.Below(8) == 0) request.emplace_back("FAILOVER");
      return request;
    }
    case 5:
      return {"SYNC"};
    case 6:
      return {"SET", key, std::string(script.Byte() * 40, 'x')};
    case 7:
      return {"RPUSH", key + "l", script.Bytes(4)};
    case 8:
      return {script.Below(2) == 0 ? "MULTI" : "EXEC"};
    case 9:
      return {script.Below(2) == 0 ? "WAIT" : "WAITAOF", std::to_string(script.Below(3)), "1", "10"};
    case 10:
      return {"CLIENT", "UNBLOCK", std::to_string(1 + script.Below(kClients))};
    case 11:
      return {"CLIENT", "KILL", "ID", std::to_string(1 + script.Below(kClients))};
    case 12:
      return script.Below(2) == 0 ? std::vector<std::string>{"FAILOVER", "TIMEOUT", "100"}
                                  : std::vector<std::string>{"FAILOVER", "ABORT"};
    case 13:
      return script.Below(2) == 0 ? std::vector<std::string>{"REPLICAOF", "there", "7000"}
                                  : std::vector<std::string>{"REPLICAOF", "NO", "ONE"};
    case 14: {
      constexpr const char* kLimits[] = {"replica 0 0 0", "replica 5000 0 0", "replica 0 1000 1"};
      return {"CONFIG", "SET", "client-output-buffer-limit", kLimits[script.Below(3)]};
    }
    default:
      return {script.Below(2) == 0 ? "SUBSCRIBE" : "PING", key};
  }
}

void Step(World& world, Script& script) {
  InputRig::Client& client = world.rig.at(script.Below(kClients));
  const uint8_t op = script.Byte();
  switch (op % 8) {
    case 0:
    case 1:
    case 2:
    case 3: {
      const std::string request = EncodeRequest(RequestFrom(world, script));
      static_cast<void>(world.rig.Deliver(client, request));
      return;
    }
    case 4: {
      const std::string bytes = script.Bytes(script.Byte() % 32);
      if (!bytes.empty()) static_cast<void>(world.rig.Deliver(client, bytes));
      return;
    }
    case 5:
      return world.Turn();
    case 6:
      return world.Pass(uint64_t{script.Byte()} * (op >= 128 ? 400 : 4));
    default:
      for (size_t i = 0; i < 20; ++i) world.Pass(2);
      if (op >= 240) world.rig.Close(client);
  }
}

void Try(const uint8_t* data, size_t size) {
  Script script(data, size);
  World world;
  for (size_t i = 0; i < kMostSteps && !script.Done(); ++i) {
    Step(world, script);
    Require(world.server.followers.lines.size() <= kClients);
  }
  world.Turn();  // what was read runs before its client leaves
  for (size_t i = 0; i < kClients; ++i) world.rig.Close(world.rig.at(i));
  for (size_t i = 0; i < kMostSlices; ++i) world.Pass(2);
  MasterLink::Of(world.server.server).FollowNone(world.server.clock.Read());
  Require(world.server.followers.lines.empty());
  const std::vector<config::NameValue> soon{{"repl-backlog-ttl", "1"}};
  std::vector<std::string> warnings;
  Require(!world.server.options.Set(soon, warnings));
  for (size_t i = 0; i < 4; ++i) world.Pass(1'000);
  Require(!world.server.followers.active && world.server.followers.backlog_bytes == 0);
  Require(!Snapshots::Of(world.server.server).saving());
  for (unsigned i = 0; i < world.server.databases.count(); ++i)
    Require(world.server.databases.At(i).Validate());
}

void WriteSeeds(const std::string& folder) {
  // REPLCONF capa, PSYNC ? -1, turns and time, REPLCONF ACK, SET.
  const std::vector<std::string> seeds = {
      {0, 0, 0, 0, 1, 0, 0, 0, 3, 0, 4, 0, 0, 7, 0, 7, 0, 0, 0, 0, 8, 0, 1, 0, 0, 6, 9, 0, 5, 0, 6, 9},
      {1, 0, 0, 0, 2, 1, 0, 0, 5, 0, 7, 0, 7, 1, 0, 0, 0, 9, 0, 2, 0, 0, 9, 0, 1, 0, 5, 1, -1},
      {0, 0, 0, 0, 1, 0, 0, 0, 3, 1, 0, 1, 0, 7, 2, 0, 0, 12, 0, 0, 5, 2, 0, 0, 13, 1, 0, 6, 50},
  };
  for (size_t i = 0; i < seeds.size(); ++i)
    std::ofstream(folder + "/seed" + std::to_string(i), std::ios::binary) << seeds[i];
}

}  // namespace
}  // namespace mayfly::testing

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  mayfly::testing::WriteSeedsIfTold(*argc, *argv, mayfly::testing::WriteSeeds);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  mayfly::testing::Try(data, size);
  return 0;
}
