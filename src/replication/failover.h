// A planned handover: this master and one of its replicas change roles, and no write that was taken is lost (FAILOVER).
//
//   kNone --Begin: writers wait, nothing expires--> kWaits --a replica has everything--> kUnderWay: this server follows it
//     ^                                                |                                     |  PSYNC ... FAILOVER
//     |<------------- the time is over, or Abort ------+                                     |
//     +<------------- it says no, or cannot be reached, or Abort: a master as before --------+--> it is the master
//
// Writers who have waited get READONLY from the server that is a replica then, as after any change of masters. If the connection
// breaks after the question, the replica may be a master or not: the question is asked again until there is an answer.
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

class Failover final : public LatePart, private Alarms::Alarm, private TurnEnds::Ear {
 public:
  struct Terms {
    std::optional<config::MasterAddress> target = {};  // nothing: whichever replica has everything first
    bool force = false;                                // at the end of the time, also if it has not
    uint64_t timeout_ms = 0;                           // 0: none
  };

  explicit Failover(Server& server);
  ~Failover() override;
  // Of this server; makes it. Throws std::bad_alloc.
  static Failover& Of(Server& server);
  static Failover* IfMade(Server& server) noexcept { return static_cast<Failover*>(server.failover.get()); }

  static bool Runs(Server& server) noexcept {
    const Failover* const failover = IfMade(server);
    return failover != nullptr && failover->running();
  }

  bool running() const noexcept { return state_ != State::kNone; }
  // REQUIRES: !running(); the target, if there is one, is a replica that gets the stream, or `force`.
  void Begin(Terms&& terms, Now now);
  // REQUIRES: running().
  void Abort(Now now);
  // What the target has said (MasterLink).
  void OnAnswer(bool is_master, Now now);

 private:
  enum class State : uint8_t { kNone, kWaits, kUnderWay };

  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void OnTurnEnd(Now now) noexcept override;
  void Switch(const config::MasterAddress& target, Now now);
  // Lets writers go on.
  void End() noexcept;
  void Become(State state) noexcept;

  Server& server_;
  State state_ = State::kNone;
  Terms terms_;
  int64_t asked_at_ = -1;  // the place that replicas were asked to confirm
  uint64_t deadline_mono_ms_ = Alarms::kNever;
};

}  // namespace mayfly
