#include "sim/replica_scenario.h"

#include <algorithm>
#include <array>
#include <cerrno>

namespace mayfly::sim {
namespace {

constexpr size_t kDaemons = 4;
constexpr uint64_t kQuietMs = 120'000;
constexpr const char* kLedgerDatabase = "9";

std::string Difference(const std::vector<std::string>& mine, const std::vector<std::string>& master) {
  const auto [here, there] = std::mismatch(mine.begin(), mine.end(), master.begin(), master.end());
  return "'" + (here != mine.end() ? *here : "") + "' instead of '" + (there != master.end() ? *there : "") +
         "'";
}

// FLUSHALL would take the ledger. At a replica PFCOUNT stores its result in the value, and a look at a value drops its members that
// are due (docs/replicas.md), so that a replica may differ from its master by right.
bool MayDiffer(std::string_view requests, bool stays_master) {
  const auto has = [requests](std::string_view word) {
    return requests.find(word) != std::string_view::npos;
  };
  const bool looks = !stays_master && (has("PFCOUNT") || has("TOUCH"));
  return looks || has("FLUSHALL");
}

}  // namespace

void ReplicaScenario::Tally::Add(const Tally& other) noexcept {
  cuts += other.cuts;
  stalls += other.stalls;
  full_syncs += other.full_syncs;
  partial_syncs += other.partial_syncs;
  refused_syncs += other.refused_syncs;
  acknowledged += other.acknowledged;
  handovers += other.handovers;
  keys += other.keys;
}

ReplicaScenario::ReplicaScenario(const Choices& choices, Kind kind)
    : kind_(kind),
      fleet_(choices, kDaemons, {"--repl-timeout", "5", "--repl-ping-replica-period", "1"}),
      writes_(static_cast<unsigned>(fleet_.world.choices().Below(UINT32_MAX))) {
  World& world = fleet_.world;
  world.set_timers_in_batches(this->choices().OneIn(2));
  world.set_short_transfers(this->choices().OneIn(2));
  if (this->choices().OneIn(2)) world.set_look_cost_us(1 + this->choices().Below(20));
  world.set_connect_ms([this]() -> uint64_t {
    if (!slow_connects_) return 0;
    return this->choices().OneIn(4) ? this->choices().Below(8'000) : this->choices().Below(50);
  });
  for (size_t n = 0; n < kDaemons; ++n) {
    writers_.push_back(&fleet_.Connect(n));
    if (!this->choices().OneIn(2)) continue;
    for (const testing::Words& request : testing::RandomWrites::SmallLimits()) fleet_.Run(n, request);
  }
  Follow(1, 0);
  Follow(2, 0);
  Follow(3, 1);
}

void ReplicaScenario::Run(size_t steps) {
  for (size_t i = 0; i < steps; ++i) Step();
  BecomeQuiet();
  CheckStates();
  CheckLedger();
  for (size_t n = 0; n < kDaemons; ++n) {
    fleet_.CheckNothingIsLeft(n);
    tally_.full_syncs += fleet_.at(n).followers.full_syncs;
    tally_.partial_syncs += fleet_.at(n).followers.partial_syncs;
    tally_.refused_syncs += fleet_.at(n).followers.refused_syncs;
    tally_.keys += fleet_.at(n).databases.total_keys();
  }
  tally_.acknowledged = ledger_.acknowledged.size();
  tally_.ended_ns = fleet_.world.now_ns();
  CheckEndOfStreams();
}

// ---- what happens

size_t ReplicaScenario::AnyMaster() {
  std::vector<size_t> masters;
  for (size_t n = 0; n < kDaemons; ++n) {
    if (!fleet_.at(n).link.follows()) masters.push_back(n);
  }
  return masters.empty() ? AnyDaemon() : masters[choices().Below(masters.size())];
}

void ReplicaScenario::Follow(size_t n, size_t master) {
  fleet_.Run(n, {"REPLICAOF", "127.0.0.1", Fleet::PortOf(master)});
}

void ReplicaScenario::Step() {
  ContinueWithLedger();
  switch (choices().Below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 5:
      return Write();
    case 6:
    case 7:
    case 8:
    case 9:
      return fleet_.Pass(choices().Below(30));
    case 10:
      return fleet_.Settle();
    case 11:
      return fleet_.Pass(choices().Below(2'000));
    case 12:
    case 13:
      return TroubleWire();
    default:
      return RareStep();
  }
}

void ReplicaScenario::RareStep() {
  switch (choices().Below(8)) {
    case 0:
      slow_connects_ = choices().OneIn(2);
      return;
    case 1:
      return fleet_.disk(AnyDaemon()).FailAt(1 + choices().Below(20), ENOSPC);
    case 2:
    case 3:
      return SetLimit();
    case 4: {
      const size_t n = AnyDaemon();
      fleet_.Run(n, {"INFO", "everything"});
      fleet_.Run(n, {"GET", "s0"});
      return;
    }
    default:
      if (kind_ == Kind::kRoles) return ChangeRoles();
      if (kind_ == Kind::kHandovers) return HandOver();
  }
}

// Writes go to whoever takes them, and sometimes to whoever does not.
void ReplicaScenario::Write() {
  const size_t n = choices().OneIn(20) ? AnyDaemon() : AnyMaster();
  if (!writers_[n]->connected()) writers_[n] = &fleet_.Connect(n);
  for (size_t left = 1 + choices().Below(choices().OneIn(5) ? 100 : 10); left != 0; --left) {
    const std::string requests = writes_.Next(fleet_.at(n).clock.Read().wall_ms);
    const bool stays_master = kind_ == Kind::kLinks && n == 0;
    if (!MayDiffer(requests, stays_master)) writers_[n]->Send(requests);
  }
  writers_[n]->Take();
}

void ReplicaScenario::ContinueWithLedger() {
  Ledger& ledger = ledger_;
  if (ledger.peer == nullptr || !ledger.peer->connected()) {
    ledger.daemon = AnyMaster();
    ledger.peer = &fleet_.Connect(ledger.daemon);
    ledger.peer->Request({"SELECT", kLedgerDatabase});
    fleet_.Settle();
    ledger.peer->Take();
    ledger.waits = false;
  }
  if (ledger.waits && ledger.peer->received().empty()) return;
  const std::string reply = ledger.peer->Take();
  if (ledger.waits && reply == "+OK\r\n") ledger.acknowledged.insert(ledger.sent);
  ledger.waits = true;
  if (reply.starts_with("-READONLY")) {
    ledger.peer->Leave();
    ledger.peer = nullptr;
    return;
  }
  ledger.peer->Request({"SET", std::to_string(++ledger.sent), "1"});
}

void ReplicaScenario::TroubleWire() {
  const auto& wires = fleet_.world.wires();
  if (wires.empty()) return;
  Wire& wire = *wires[choices().Below(wires.size())];
  switch (choices().Below(4)) {
    case 0:
      ++tally_.cuts;
      return wire.Cut();
    case 1:
      ++tally_.stalls;
      return wire.set_stalled(true);
    case 2:
      return wire.set_stalled(false);
    default: {
      constexpr std::array<size_t, 4> kRates = {10, 200, 5'000, Link::kAtOnce};
      constexpr std::array<size_t, 4> kPieces = {1, 50, 2'000, SIZE_MAX};
      return wire.set_terms({.delay_ms = choices().OneIn(2) ? 0 : choices().Below(300),
                             .bytes_per_ms = kRates[choices().Below(kRates.size())],
                             .piece = kPieces[choices().Below(kPieces.size())]});
    }
  }
}

void ReplicaScenario::SetLimit() {
  const std::vector<testing::Words> limits = {
      {"repl-backlog-size", "16384"},
      {"repl-backlog-size", "1mb"},
      {"repl-timeout", std::to_string(2 + choices().Below(8))},
      {"client-output-buffer-limit", "replica 100000 0 0"},
      {"client-output-buffer-limit", "replica 0 20000 2"},
      {"client-output-buffer-limit", "replica 0 0 0"},
      {"min-replicas-to-write", choices().OneIn(4) ? "1" : "0"},
  };
  const testing::Words& limit = limits[choices().Below(limits.size())];
  const size_t n = AnyDaemon();
  fleet_.Run(n, {"CONFIG", "SET", limit[0], limit[1]});
  // A replica has what its master has, and evicts nothing.
  if (n != 0 && kind_ == Kind::kLinks)
    fleet_.Run(n, {"CONFIG", "SET", "maxkeys", choices().OneIn(2) ? "5" : "0"});
}

// Also several at once.
void ReplicaScenario::ChangeRoles() {
  for (size_t left = 1 + choices().Below(3); left != 0; --left) {
    const size_t n = AnyDaemon();
    const size_t other = AnyDaemon();
    if (n == other)
      fleet_.Run(n, {"REPLICAOF", "NO", "ONE"});
    else
      Follow(n, other);
  }
}

void ReplicaScenario::HandOver() {
  const size_t n = AnyMaster();
  if (fleet_.at(n).link.follows()) return;
  const std::string timeout_ms = std::to_string(1 + choices().Below(3'000));
  if (fleet_.Run(n, {"FAILOVER", "TIMEOUT", timeout_ms}) == testing::Ok()) ++tally_.handovers;
  if (choices().OneIn(2)) fleet_.Pass(choices().Below(1'000));
  // Later, an operator would look whether the replica is the master.
  const bool may_abort = fleet_.Info(n, "master_failover_state") == "waiting-for-sync";
  if (choices().OneIn(4) && may_abort) fleet_.Run(n, {"FAILOVER", "ABORT"});
}

// ---- the end

void ReplicaScenario::ArrangeRoles() {
  const size_t master = AnyDaemon();
  for (size_t n = 0; n < kDaemons; ++n) {
    if (n == master)
      fleet_.Run(n, {"REPLICAOF", "NO", "ONE"});
    else
      Follow(n, choices().OneIn(3) && (n + 1) % kDaemons != master && n > 0 ? n - 1 : master);
  }
  // Whoever follows a replica that leads to nobody follows the master.
  for (size_t n = 0; n < kDaemons; ++n) {
    size_t at = n;
    for (size_t hops = 0; hops < kDaemons && at != master; ++hops)
      at = fleet_.at(at).link.port - Fleet::kFirstPort;
    if (at != master) Follow(n, master);
  }
}

bool ReplicaScenario::AllInStep() {
  for (size_t n = 0; n < kDaemons; ++n) {
    if (!fleet_.IsInStep(n)) return false;
  }
  return true;
}

void ReplicaScenario::BecomeQuiet() {
  slow_connects_ = false;
  fleet_.world.set_look_cost_us(0);
  for (const auto& wire : fleet_.world.wires()) {
    wire->set_stalled(false);
    wire->set_terms({});
  }
  for (size_t n = 0; n < kDaemons; ++n) {
    fleet_.disk(n).FailAt(0, 0);
    fleet_.Run(n, {"CONFIG", "SET", "client-output-buffer-limit", "replica 0 0 0"});
  }
  if (kind_ == Kind::kRoles) ArrangeRoles();
  fleet_.Pass(10'000);  // longer than the deadlines of random writes, and any repl-timeout
  if (!fleet_.PassUntil(kQuietMs, [&] { return AllInStep(); })) {
    for (size_t n = 0; n < kDaemons; ++n) {
      if (!fleet_.IsInStep(n))
        fleet_.world.Fail("daemon " + std::to_string(n) + " does not come up to its master on port " +
                          std::to_string(fleet_.at(n).link.port));
    }
  }
}

void ReplicaScenario::CheckStates() {
  std::vector<std::vector<std::string>> states;
  for (size_t n = 0; n < kDaemons; ++n) states.push_back(fleet_.StateOf(n));
  for (size_t n = 0; n < kDaemons; ++n) {
    if (!fleet_.at(n).link.follows()) continue;
    const size_t master = fleet_.at(n).link.port - Fleet::kFirstPort;
    if (states[n] != states[master])
      fleet_.world.Fail("daemon " + std::to_string(n) + " has " + Difference(states[n], states[master]) +
                        ", as its master " + std::to_string(master) + " has");
  }
}

// Where roles change by REPLICAOF, the writes of a master that follows another one are lost.
void ReplicaScenario::CheckLedger() {
  if (kind_ == Kind::kRoles) return;
  for (size_t n = 0; n < kDaemons; ++n) {
    fleet_.Run(n, {"SELECT", kLedgerDatabase});
    for (const uint64_t key : ledger_.acknowledged) {
      if (fleet_.Run(n, {"EXISTS", std::to_string(key)}) == testing::Integer(0))
        fleet_.world.Fail("daemon " + std::to_string(n) + " lacks write " + std::to_string(key) +
                          ", which was acknowledged");
    }
  }
}

// Without replicas the streams end, and their memory is free.
void ReplicaScenario::CheckEndOfStreams() {
  for (size_t n = 0; n < kDaemons; ++n) {
    fleet_.Run(n, {"REPLICAOF", "NO", "ONE"});
    fleet_.Run(n, {"CONFIG", "SET", "repl-backlog-ttl", "1"});
  }
  fleet_.Pass(5'000);
  for (size_t n = 0; n < kDaemons; ++n) {
    const ReplicaFigures& figures = fleet_.at(n).followers;
    if (figures.active || figures.backlog_bytes != 0 || !figures.lines.empty())
      fleet_.world.Fail("daemon " + std::to_string(n) + " keeps a stream for nobody");
  }
  if (!fleet_.world.wires().empty()) fleet_.world.Fail("a connection is left");
}

}  // namespace mayfly::sim
