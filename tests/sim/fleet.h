// Several daemons in one simulated world that connect to each other, each with its own loop, keys and disk, and the verbs of
// tests. The daemon number n listens at 127.0.0.1, port PortOf(n).
//
//   Fleet fleet(Choices(seed), 2);
//   fleet.Run(1, {"REPLICAOF", "127.0.0.1", PortOf(0)});
//   fleet.Pass(2000);
//   CHECK(fleet.StateOf(1) == fleet.StateOf(0));
//
// Nothing happens, and no time passes, except in a verb. The order in which the daemons turn is drawn.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "net/server_loop.h"
#include "sim/peer.h"
#include "sim/world.h"
#include "support/loopless_server.h"
#include "support/memory_disk.h"
#include "support/reply.h"

namespace mayfly::sim {

class Fleet {
 public:
  using Words = std::vector<std::string>;
  static constexpr uint16_t kFirstPort = 7000;
  static std::string PortOf(size_t n) { return std::to_string(kFirstPort + n); }

  // `options`: of each daemon, as on the command line, beside those that replication in a test needs.
  Fleet(const Choices& choices, size_t daemons, const Words& options = {});
  ~Fleet();

  size_t size() const noexcept { return daemons_.size(); }
  // The parts of a daemon.
  testing::LooplessServer& at(size_t n) { return daemons_[n]->parts; }
  testing::MemoryDisk& disk(size_t n) { return daemons_[n]->disk; }

  // ---- control
  // All daemons turn until none has anything to do.
  void Settle();
  // The clocks advance, and the daemons do what is due meanwhile.
  void Pass(uint64_t ms);
  // Passes, a little at a time, until this holds. False: it did not within the time.
  template <typename Condition>
  bool PassUntil(uint64_t ms, const Condition& holds) {
    constexpr uint64_t kStepMs = 10;
    for (uint64_t passed = 0; !holds(); passed += kStepMs) {
      if (passed >= ms) return false;
      Pass(kStepMs);
    }
    return true;
  }

  // ---- clients
  // Lives as long as the fleet.
  Peer& Connect(size_t n);
  // REQUIRES: the request waits for nothing.
  testing::Reply Run(size_t n, const Words& words);
  // A field of INFO; "": there is none.
  std::string Info(size_t n, const std::string& field);
  // Every key with its value and its deadline, a line each, and the digest of all.
  std::vector<std::string> StateOf(size_t n);
  // The lines of the log since the last call. With MAYFLY_SIM_SEED in the environment the log goes to stdout instead.
  std::string TakeLog(size_t n);
  // Follows nobody, or has whatever its master has.
  bool IsInStep(size_t n);
  // Throws SimulationError if something is left that nobody needs: half a snapshot, files, a keyspace out of order.
  void CheckNothingIsLeft(size_t n);

  World world;

 private:
  struct Daemon {
    Daemon(World& world, size_t n, const Words& options);
    ~Daemon();
    testing::LooplessServer parts{1000};
    testing::MemoryDisk disk;
    const std::string logfile;
    Log log;
    std::optional<net::ServerLoop> loop;
    Peer* operator_peer = nullptr;
    size_t log_read = 0;
  };

  // A turn of each daemon that has something to do. False: none has. `wake_ns`: when the first of them wakes by itself.
  bool TurnAll(uint64_t& wake_ns);
  void AddStream(size_t n, const std::string& key, std::vector<std::string>& lines);

  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<std::unique_ptr<Peer>> peers_;
};

}  // namespace mayfly::sim
