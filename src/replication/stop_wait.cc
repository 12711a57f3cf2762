#include "replication/stop_wait.h"

#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "replication/failover.h"
#include "replication/replicas.h"
#include "replication/replication_start.h"
#include "server/clients/session.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"
#include "server/hubs/hubs.h"

namespace mayfly {

StopWait::Client::Client(StopWait& wait, Session& session) : wait_(&wait), session_(session) {
  wait_->clients_.push_back(this);
}

StopWait::Client::~Client() {
  if (wait_ != nullptr) std::erase(wait_->clients_, this);
}

StopWait::StopWait(Server& server) : Alarm(server.hubs.alarms), Ear(server.hubs.turn_ends), server_(server) {}

StopWait::~StopWait() {
  for (Client* const client : clients_) client->wait_ = nullptr;
}

StopWait& StopWait::Of(Server& server) {
  if (server.stop_wait == nullptr) server.stop_wait = std::make_unique<StopWait>(server);
  return *IfMade(server);
}

// No wait while this server follows a master: the replicas can get everything from the master. No wait for a running script,
// either: the script may never end.
bool StopWait::IsNeeded(Server& server, Now now) {
  Replicas* const replicas = Replicas::IfMade(server);
  const bool may = replicas != nullptr && replicas->any() && !server.Busy() && !server.link.follows() &&
                   !Failover::Runs(server) && server.options.settings().shutdown_timeout_s != 0;
  return may && replicas->Lagging(replicas->PlaceOfNow(now)) != 0;
}

void StopWait::Begin(std::function<void()> stop, Now now) {
  stop_ = std::move(stop);
  asked_at_ = -1;
  const auto timeout_s = static_cast<uint64_t>(server_.options.settings().shutdown_timeout_s);
  end_mono_ms_ = now.mono_ms + timeout_s * kMsPerSecond;
  server_.followers.stop_mono_ms = end_mono_ms_;
  server_.parking.Pause(PauseOf::kWriters, ParkingLot::kForever);
  server_.databases.TreatExpired(ExpiredKeys::kHidden);
  state_ = State::kWaits;
  HearEachTurn(true);
  server_.hubs.turn_ends.Ask();
  if (server_.log != nullptr)
    server_.log->Notice("waiting for replicas before stopping: shutdown-timeout is ", timeout_s, " s");
}

void StopWait::Abort() noexcept {
  if (server_.log != nullptr) server_.log->Notice("the stop was given up: a client has sent SHUTDOWN ABORT");
  server_.stop_signal = 0;
  End();
}

void StopWait::GoOn() noexcept {
  if (state_ == State::kOver) End();
}

void StopWait::End() noexcept {
  state_ = State::kNone;
  server_.followers.stop_mono_ms = 0;
  if (!server_.link.follows()) server_.databases.TreatExpired(ExpiredKeys::kRemoved);
  server_.parking.Unpause();
  WakeClients();
}

void StopWait::WakeClients() noexcept {
  for (const Client* const client : clients_) {
    if (client->session_.parked != nullptr)
      server_.parking.Wake(*client->session_.parked, WakeReason::kReady);
  }
}

// Replicas must confirm changes after the last question as well.
void StopWait::OnTurnEnd(Now now) noexcept {
  HearEachTurn(state_ == State::kWaits);
  if (state_ != State::kWaits || server_.Busy()) return;
  server_.parking.Pause(PauseOf::kWriters, ParkingLot::kForever);  // CLIENT UNPAUSE may have ended the pause
  Replicas& replicas = *Replicas::IfMade(server_);
  const int64_t place = replicas.last_change();
  if (replicas.Lagging(place) == 0) {
    end_mono_ms_ = now.mono_ms;
  } else if (std::exchange(asked_at_, place) != place) {
    replicas.AskToConfirm();
  }
}

// A stop may save a snapshot, which takes too long for the end of a turn.
void StopWait::OnWake(Now now, Log* log) {
  if (state_ != State::kWaits || now.mono_ms < end_mono_ms_) return;
  if (log != nullptr) Replicas::IfMade(server_)->TellOfLagging(*log);
  state_ = State::kOver;
  stop_();
  if (state_ == State::kOver) WakeClients();
}

// ---- for main

bool MayStop(Server& server, bool waits_for_replicas, std::function<void()> stop) {
  if (StopWait::Runs(server)) return false;
  const Now now = server.executor->now();
  if (!waits_for_replicas || !StopWait::IsNeeded(server, now)) return true;
  StopWait::Of(server).Begin(std::move(stop), now);
  return false;
}

void GoOnServing(Server& server) noexcept {
  if (StopWait* const wait = StopWait::IfMade(server)) wait->GoOn();
}

}  // namespace mayfly
