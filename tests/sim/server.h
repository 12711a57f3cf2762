// The daemon in a simulated world: the parts that main puts together, with the real src/net, and the verbs of
// tests and fuzz targets.
//
//   SimulatedServer server;
//   Peer& peer = server.Connect();
//   peer.Request({"PING"});
//   server.Settle();
//   CHECK(peer.Take() == "+PONG\r\n");
//
// Nothing happens, and no time passes, except in a verb.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/log/log.h"
#include "net/client/resp_client.h"
#include "net/server_loop.h"
#include "sim/peer.h"
#include "sim/toy_transport.h"
#include "sim/world.h"
#include "support/loopless_server.h"

namespace mayfly::sim {

class SimulatedServer {
 public:
  struct Start {
    // As on the command line. For options that are fixed at the start; Set changes the others.
    std::vector<std::string> options = {};
    Choices choices = Choices(1);
    bool logs = false;           // into a temporary file: see Log
    bool has_step_timer = true;  // see World
    uint64_t uv_phase_us = 0;
    // Clients come through a ToyTransport, by a port of its own: kSealedAddress.
    bool sealed = false;
    net::ServerLoop::LastWork last_work = {};
    net::ServiceManager* manager = nullptr;  // is told of what the loop does, and outlives the server
  };
  static constexpr uint16_t kSealedPort = 6380;
  static constexpr const char* kSealedAddress = "127.0.0.1:6380";

  SimulatedServer() : SimulatedServer(Start{}) {}
  explicit SimulatedServer(const Start& start);
  ~SimulatedServer();

  // ---- control
  // At most `n` turns of the loop, fewer if it would sleep before. Returns how many there were.
  uint64_t Turn(uint64_t n = 1);
  // One turn. If there is nothing to do, time passes until there is.
  void WaitForTurn();
  // Turns until there is nothing to do.
  void Settle();
  // Both clocks advance, and the loop does what is due meanwhile.
  void AdvanceTime(uint64_t ms);
  // Sends a signal, and settles. The loop may have ended then.
  void Raise(int signal);
  // The loop has ended and everything is closed.
  bool ended() const noexcept { return world.loop_ended(); }
  // Milliseconds since the start.
  uint64_t elapsed_ms() const { return (world.now_ns() - started_ns_) / World::kNsPerMs; }

  // ---- clients
  // Connects, and lets the server accept. The peer lives as long as the server.
  Peer& Connect(const std::string& from_host = "127.0.0.1");
  // Connects, but the server has not accepted yet. `to` as in World::Connect. Null if nobody listens there.
  Peer* TryConnect(const std::string& from_host = "127.0.0.1", const std::string& to = "");
  // Sends a request of this peer and returns its reply. REQUIRES: it reads, and it waits for nothing else.
  testing::Reply Ask(Peer& peer, const std::vector<std::string>& words);
  // The same with a client of its own.
  testing::Reply Run(const std::vector<std::string>& words);

  // ---- the server
  // Opens 127.0.0.1:`port` for this service, which must outlive the server.
  void ListenFor(const net::Service& service, uint16_t port);
  // As CONFIG SET. Throws SimulationError for an invalid name or value.
  void Set(std::string_view name, std::string_view value);
  // The number of an INFO field; -1 if there is no such field.
  int64_t Info(const std::string& field);
  // A field of this peer's line of CLIENT LIST.
  std::string ClientField(const Peer& peer, const std::string& field);
  std::string Log() const;
  Stats& stats() noexcept { return parts.stats; }
  ExpiryStats& expiry_stats() noexcept { return parts.databases.expiry_stats(); }
  size_t keys() const noexcept { return parts.databases.total_keys(); }

  World world;
  // Cycles are nanoseconds.
  testing::LooplessServer parts{1000};

 private:
  void Go(const Leash& leash);

  const uint64_t started_ns_;
  std::string logfile_;
  mayfly::Log log_;
  std::vector<std::unique_ptr<Peer>> peers_;
  const ToyTransports transports_{};
  const net::RespService sealed_service_{&transports_};
  const bool sealed_;
  std::optional<net::ServerLoop> loop_;
  Peer* operator_ = nullptr;
};

}  // namespace mayfly::sim
