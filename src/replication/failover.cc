#include "replication/failover.h"

#include <new>
#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "replication/expired_by_role.h"
#include "replication/master_link.h"
#include "replication/replicas.h"
#include "server/figures/replica_figures.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"

namespace mayfly {

Failover::Failover(Server& server)
    : Alarm(server.hubs.alarms), Listener(server.hubs.turn_ends), server_(server) {}

Failover::~Failover() = default;

Failover& Failover::Of(Server& server) {
  if (server.failover == nullptr) server.failover = std::make_unique<Failover>(server);
  return *IfMade(server);
}

void Failover::Begin(Terms&& terms, Now now) {
  terms_ = std::move(terms);
  asked_at_ = -1;
  deadline_mono_ms_ = terms_.timeout_ms != 0 ? now.mono_ms + terms_.timeout_ms : Alarms::kNever;
  server_.parking.Pause(PauseOf::kWriters, ParkingLot::kForever);
  server_.databases.TreatExpired(ExpiredKeys::kHidden);
  Become(State::kWaits);
  HearEachTurn(true);
  server_.hubs.turn_ends.Ask();
  if (server_.log != nullptr) server_.log->Notice("handing over: waiting for a replica that has everything");
}

void Failover::Abort(Now now) noexcept {
  const bool followed = state_ == State::kUnderWay;
  End();
  if (followed) MasterLink::Of(server_).FollowNone(now);
  if (server_.log != nullptr) server_.log->Warning("the handover was given up");
}

void Failover::OnAnswer(bool is_master, Now now) noexcept {
  if (state_ != State::kUnderWay) return;
  if (!is_master) return Abort(now);
  try {
    server_.options.FollowMaster(*terms_.target);
  } catch (const std::bad_alloc&) {
    if (server_.log != nullptr)
      server_.log->Warning("out of memory: the option replicaof does not show the new master");
  }
  End();
}

void Failover::End() noexcept {
  Become(State::kNone);
  deadline_mono_ms_ = Alarms::kNever;
  TreatExpiredByRole(server_);
  server_.parking.Unpause();
}

void Failover::Become(State state) noexcept {
  state_ = state;
  server_.followers.failover = state == State::kNone    ? "no-failover"
                               : state == State::kWaits ? "waiting-for-sync"
                                                        : "failover-in-progress";
}

// Replicas must confirm changes and signs of life after the last question as well: a replica that lacks a PING could not send
// this server the stream from its place on, and would send all keys.
void Failover::OnTurnEnd(Now now) noexcept {
  HearEachTurn(state_ == State::kWaits);
  if (state_ != State::kWaits || server_.Busy()) return;
  Replicas& replicas = *Replicas::IfMade(server_);
  try {
    // Writes the changes of this turn into the stream first.
    static_cast<void>(replicas.PlaceOfNow(now));
    const auto target = replicas.FindComplete(terms_.target);
    if (target && replicas.IsComplete()) return Switch(*target, now);
    if (std::exchange(asked_at_, replicas.last_word()) != replicas.last_word()) replicas.AskToConfirm();
  } catch (const std::bad_alloc&) {
    Abort(now);
  }
}

void Failover::Switch(const config::MasterAddress& target, Now now) {
  terms_.target = target;
  Become(State::kUnderWay);
  deadline_mono_ms_ = Alarms::kNever;
  if (server_.log != nullptr)
    server_.log->Notice("handing over to the replica ", target.host, ":", target.port);
  MasterLink::Of(server_).FollowAndHandOver(target, now);
}

uint64_t Failover::NextWake() const noexcept { return deadline_mono_ms_; }

void Failover::OnWake(Now now, Log*) noexcept {
  if (now.mono_ms < deadline_mono_ms_) return;
  if (!terms_.force) return Abort(now);
  try {
    Switch(config::MasterAddress(*terms_.target), now);
  } catch (const std::bad_alloc&) {
    Abort(now);
  }
}

}  // namespace mayfly
