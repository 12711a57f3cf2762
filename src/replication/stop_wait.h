// Delays a master's stop until its replicas have everything, for shutdown-timeout at most (SHUTDOWN, SIGTERM, SIGINT).
//
//   kNone --Begin: writers wait, nothing expires--> kWaits --all have confirmed, or the time is over--> kOver: the server stops
//     ^                                                |                                                  |
//     +------------------- Abort ----------------------+-------------- GoOn: the save has failed ---------+
//
// Writers wait until the end: the server accepts no write that no replica would get. The server does not wait for a replica
// without PSYNC, which never confirms by itself.
//
// Borrows the server. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/time/clock.h"
#include "server/hubs/alarms.h"
#include "server/hubs/turn_ends.h"
#include "server/server.h"
#include "server/waiting/parking.h"

namespace mayfly {

class StopWait final : public LatePart, private Alarms::Alarm, private TurnEnds::Ear {
 public:
  // A client's request to stop, answered when the server has decided whether to stop.
  class Client final : public PendingWork {
   public:
    // Throws std::bad_alloc.
    Client(StopWait& wait, Session& session);
    ~Client() override;

   private:
    friend class StopWait;
    StopWait* wait_;  // null: the StopWait was destroyed before the client
    Session& session_;
  };

  // Throws std::bad_alloc.
  explicit StopWait(Server& server);
  ~StopWait() override;
  // This server's wait, made on first use. Throws std::bad_alloc.
  static StopWait& Of(Server& server);
  static StopWait* IfMade(Server& server) noexcept { return static_cast<StopWait*>(server.stop_wait.get()); }
  static bool Runs(Server& server) noexcept {
    const StopWait* const wait = IfMade(server);
    return wait != nullptr && wait->state_ == State::kWaits;
  }
  // True if a stop now has to wait: this server is a master, and a replica lacks something.
  static bool IsNeeded(Server& server, Now now);

  // Waits, and then calls `stop`, which may call GoOn. REQUIRES: IsNeeded, and not Runs.
  void Begin(std::function<void()> stop, Now now);
  // Gives the stop up. REQUIRES: Runs.
  void Abort() noexcept;
  // Gives the stop up after the call of `stop`; no effect otherwise.
  void GoOn() noexcept;
  // `stop` was called, and the server stops.
  bool over() const noexcept { return state_ == State::kOver; }

 private:
  enum class State : uint8_t { kNone, kWaits, kOver };

  uint64_t NextWake() const noexcept override {
    return state_ == State::kWaits ? end_mono_ms_ : Alarms::kNever;
  }
  void OnWake(Now now, Log* log) override;
  void OnTurnEnd(Now now) noexcept override;
  void End() noexcept;
  void WakeClients() noexcept;

  Server& server_;
  State state_ = State::kNone;
  std::function<void()> stop_;
  std::vector<Client*> clients_;
  int64_t asked_at_ = -1;  // the last place that replicas were asked to confirm
  uint64_t end_mono_ms_ = 0;
};

}  // namespace mayfly
