// A planned handover (FAILOVER): this master and one of its replicas change roles, and no accepted write is lost.
//
//   kNone --Begin: writers wait, nothing expires--> kWaits --a replica has everything--> kUnderWay: follows the replica
//     ^                                                |                                     |  PSYNC ... FAILOVER
//     |<------------- the time is over, or Abort ------+                                     |
//     +<-- the replica refuses or cannot be reached, or Abort: a master as before -----------+--> the replica is the master
//
// Writers that have waited get READONLY, as after any change of masters: this server is a replica by then. If the connection
// breaks after the question, the replica may have become the master or not: this server asks again until there is an answer.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "config/settings.h"
#include "server/hubs/alarms.h"
#include "server/hubs/turn_ends.h"
#include "server/server.h"

namespace mayfly {

class Failover final : public LatePart, private Alarms::Alarm, private TurnEnds::Listener {
 public:
  struct Terms {
    std::optional<config::MasterAddress> target = {};  // empty: the first replica that has everything
    bool force = false;       // switch at the timeout, even if the target lacks something
    uint64_t timeout_ms = 0;  // 0: no timeout
  };

  explicit Failover(Server& server);
  ~Failover() override;
  // This server's failover, made on first use. Throws std::bad_alloc.
  static Failover& Of(Server& server);
  static Failover* IfMade(Server& server) noexcept { return static_cast<Failover*>(server.failover.get()); }

  static bool Runs(Server& server) noexcept {
    const Failover* const failover = IfMade(server);
    return failover != nullptr && failover->running();
  }

  bool running() const noexcept { return state_ != State::kNone; }
  // REQUIRES: !running(); a target, if given, is a replica that gets the stream, or `force`.
  void Begin(Terms&& terms, Now now);
  // REQUIRES: running().
  void Abort(Now now) noexcept;
  // Takes the target's answer from MasterLink.
  void OnAnswer(bool is_master, Now now) noexcept;

 private:
  enum class State : uint8_t { kNone, kWaits, kUnderWay };

  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) noexcept override;
  void OnTurnEnd(Now now) noexcept override;
  void Switch(const config::MasterAddress& target, Now now);
  // Lets writers go on.
  void End() noexcept;
  void Become(State state) noexcept;

  Server& server_;
  State state_ = State::kNone;
  Terms terms_;
  int64_t asked_at_ = -1;  // the last place that replicas were asked to confirm
  uint64_t deadline_mono_ms_ = Alarms::kNever;
};

}  // namespace mayfly
