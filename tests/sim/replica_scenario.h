// Random life of a few daemons that follow each other: random writes, while links are slow, stall and break, limits are small,
// disks fail, and roles change. Then it becomes quiet: links are whole and time goes on. Whoever follows a master must have
// what it has, no acknowledged write may be missing, and nothing may be left that nobody needs.
//
//   kLinks      the roles stay: two replicas, and a replica of one of them
//   kRoles      anybody follows anybody: also each other, or around in a ring; in the end one is the master
//   kHandovers  the role of the master moves by FAILOVER alone, so that no acknowledged write is lost
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/fleet.h"
#include "support/random_writes.h"

namespace mayfly::sim {

class ReplicaScenario {
 public:
  enum class Kind : uint8_t { kLinks, kRoles, kHandovers };

  ReplicaScenario(const Choices& choices, Kind kind);
  // Runs that many steps, and then lets it become quiet. Throws SimulationError at the first mistake.
  void Run(size_t steps);

  // How much of everything happened, so that a test can see that life was not harmless.
  struct Tally {
    uint64_t cuts = 0;
    uint64_t stalls = 0;
    uint64_t full_syncs = 0;
    uint64_t partial_syncs = 0;
    uint64_t refused_syncs = 0;
    uint64_t acknowledged = 0;
    uint64_t handovers = 0;
    uint64_t keys = 0;
    uint64_t ended_ns = 0;

    bool operator==(const Tally&) const = default;
    void Add(const Tally& other) noexcept;
  };
  const Tally& tally() const noexcept { return tally_; }

 private:
  // A client that adds one key after the other, and knows which of them were acknowledged.
  struct Ledger {
    Peer* peer = nullptr;
    size_t daemon = 0;
    uint64_t sent = 0;   // the keys are numbers
    bool waits = false;  // for the reply to the last one
    std::set<uint64_t> acknowledged = {};
  };

  Choices& choices() noexcept { return fleet_.world.choices(); }
  void Step();
  void RareStep();
  void Write();
  void ContinueWithLedger();
  void TroubleWire();
  void SetLimit();
  void ChangeRoles();
  void HandOver();
  void BecomeQuiet();
  void ArrangeRoles();
  bool AllInStep();
  void CheckStates();
  void CheckLedger();
  void CheckEndOfStreams();
  size_t AnyDaemon() { return choices().Below(fleet_.size()); }
  size_t AnyMaster();
  void Follow(size_t n, size_t master);

  const Kind kind_;
  Fleet fleet_;
  testing::RandomWrites writes_;
  std::vector<Peer*> writers_;
  Ledger ledger_;
  bool slow_connects_ = false;
  Tally tally_;
};

}  // namespace mayfly::sim
