// Delays a stop until replicas and the snapshot file have everything (SHUTDOWN, SIGTERM, SIGINT), while readers are served.
//
//   kNone --Begin: writers wait, nothing expires--> kReplicas --all have confirmed, or shutdown-timeout is over--> kSave
//     ^                                                  |                                                           |
//     +---------- Abort, or the save has failed ---------+-------------------------- the file is whole --------------+--> kOver
//
// A step without work ends at once: kReplicas without a lagging replica, kSave if the stop saves nothing. Writers wait until
// the end, and after it: the server accepts no write that no replica and no file would get. The server does not wait for a replica without
// PSYNC, which never confirms by itself.
//
// Borrows the server. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "config/settings.h"
#include "replication/replication_start.h"
#include "server/hubs/alarms.h"
#include "server/hubs/turn_ends.h"
#include "server/server.h"
#include "server/waiting/parking.h"

namespace mayfly {

class StopWait final : public LatePart, private Alarms::Alarm, private TurnEnds::Listener {
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
    return wait != nullptr && wait->runs();
  }
  // True if a stop with these words has to wait now: a replica of this master lacks something, or the stop saves.
  static bool IsNeeded(Server& server, const config::ShutdownFlags& words, Now now);

  // Waits, and then calls one of `ends`. REQUIRES: IsNeeded, and not Runs.
  void Begin(const config::ShutdownFlags& words, StopEnds ends, Now now);
  // Another client asks for a stop with these words: NOSAVE and SAVE, the later one, and FORCE count. REQUIRES: Runs.
  void Join(const config::ShutdownFlags& words) noexcept;
  // A signal comes while the server waits for another request's stop: given_up and turns of a signal's ends are called, too.
  void AlsoTell(StopEnds ends) noexcept {
    if (!ends_.given_up) ends_.given_up = std::move(ends.given_up);
    if (!ends_.turns) ends_.turns = std::move(ends.turns);
  }
  // Gives the stop up. REQUIRES: Runs.
  void Abort() noexcept;
  // The save before the stop is under way.
  bool saves() const noexcept { return state_ == State::kSave; }
  // The server stops, and has nothing more to save.
  bool over() const noexcept { return state_ == State::kOver; }

 private:
  enum class State : uint8_t { kNone, kReplicas, kSave, kOver };

  static constexpr uint64_t kTurnsMs = 250;  // between calls of StopEnds::turns

  bool runs() const noexcept { return state_ == State::kReplicas || state_ == State::kSave; }
  uint64_t NextWake() const noexcept override {
    return runs() ? std::min(step_until_mono_ms_, tell_at_mono_ms_) : Alarms::kNever;
  }
  void TellThatLoop(bool turns) const {
    if (ends_.turns) ends_.turns(turns);
  }
  void OnWake(Now now, Log* log) override;
  void OnTurnEnd(Now now) noexcept override;
  void LookAtReplicas(Now now) noexcept;
  void BeginSave(Now now);
  void EndSave(Now now);
  void Stop();
  void GiveUp() noexcept;
  void WakeClients() noexcept;

  Server& server_;
  State state_ = State::kNone;
  config::ShutdownFlags words_;
  StopEnds ends_;
  std::vector<Client*> clients_;
  int64_t asked_at_ = -1;            // the last place that replicas were asked to confirm
  uint64_t step_until_mono_ms_ = 0;  // the end of the present step, if by time
  uint64_t tell_at_mono_ms_ = 0;     // that the loop turns
};

}  // namespace mayfly
