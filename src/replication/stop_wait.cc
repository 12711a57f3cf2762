#include "replication/stop_wait.h"

#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "replication/expired_by_role.h"
#include "replication/failover.h"
#include "replication/replicas.h"
#include "replication/replication_start.h"
#include "server/clients/session.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"
#include "server/hubs/hubs.h"
#include "snapshot/snapshots.h"

namespace mayfly {
namespace {

// No wait while this server follows a master: the replicas can get everything from the master.
bool ReplicasLag(Server& server, Now now) {
  Replicas* const replicas = Replicas::IfMade(server);
  const bool may = replicas != nullptr && replicas->any() && !server.link.follows() &&
                   server.options.settings().shutdown_timeout_s != 0;
  if (!may) return false;
  const bool lag = replicas->Lagging(replicas->PlaceOfNow(now)) != 0;
  return lag || (!replicas->IsComplete() && replicas->Lagging(INT64_MAX) != 0);
}

}  // namespace

StopWait::Client::Client(StopWait& wait, Session& session) : wait_(&wait), session_(session) {
  wait_->clients_.push_back(this);
}

StopWait::Client::~Client() {
  if (wait_ != nullptr) std::erase(wait_->clients_, this);
}

StopWait::StopWait(Server& server)
    : Alarm(server.hubs.alarms), Listener(server.hubs.turn_ends), server_(server) {}

StopWait::~StopWait() {
  for (Client* const client : clients_) client->wait_ = nullptr;
}

StopWait& StopWait::Of(Server& server) {
  if (server.stop_wait == nullptr) server.stop_wait = std::make_unique<StopWait>(server);
  return *IfMade(server);
}

bool StopWait::IsNeeded(Server& server, const config::ShutdownFlags& words, Now now) {
  // A running script may never end, and a failover ends soon, in one way or the other.
  const StopWait* const wait = IfMade(server);
  const bool stops_already = wait != nullptr && wait->over();
  if (words.now || stops_already || server.Busy() || Failover::Runs(server)) return false;
  return ReplicasLag(server, now) || Snapshots::Of(server).SavesToStop(words);
}

void StopWait::Begin(const config::ShutdownFlags& words, StopEnds ends, Now now) {
  static_cast<void>(Snapshots::Of(server_));  // made, from here on
  words_ = words;
  ends_ = std::move(ends);
  asked_at_ = -1;
  step_until_mono_ms_ = tell_at_mono_ms_ = now.mono_ms;
  if (ReplicasLag(server_, now)) {
    const auto timeout_s = static_cast<uint64_t>(server_.options.settings().shutdown_timeout_s);
    step_until_mono_ms_ += timeout_s * kMsPerSecond;
    server_.followers.stop_mono_ms = step_until_mono_ms_;
    if (server_.log != nullptr)
      server_.log->Notice("waiting for replicas before stopping: shutdown-timeout is ", timeout_s, " s");
  }
  state_ = State::kReplicas;
  server_.waits_to_stop = true;
  server_.parking.HoldWriters(true);
  TreatExpiredByRole(server_);
  HearEachTurn(true);
  server_.hubs.turn_ends.Ask();
}

void StopWait::Join(const config::ShutdownFlags& words) noexcept {
  if (words.save || words.nosave) {
    words_.save = words.save;
    words_.nosave = words.nosave;
  }
  words_.force = words_.force || words.force;
}

void StopWait::Abort() noexcept {
  if (server_.log != nullptr) server_.log->Notice("a client has given the stop up");
  Snapshots& snapshots = *Snapshots::IfMade(server_);
  if (saves() && snapshots.saving_file()) static_cast<void>(snapshots.Cancel());
  GiveUp();
}

void StopWait::Stop() {
  state_ = State::kOver;
  ends_.stop();
  WakeClients();
}

void StopWait::GiveUp() noexcept {
  state_ = State::kNone;
  server_.waits_to_stop = false;
  server_.stop_signal = 0;
  server_.followers.stop_mono_ms = 0;
  TreatExpiredByRole(server_);
  server_.parking.HoldWriters(false);
  WakeClients();
  if (ends_.given_up) ends_.given_up();
}

void StopWait::WakeClients() noexcept {
  for (const Client* const client : clients_) {
    if (client->session_.parked != nullptr)
      server_.parking.Wake(*client->session_.parked, WakeReason::kReady);
  }
}

void StopWait::OnTurnEnd(Now now) noexcept {
  HearEachTurn(runs());
  if (state_ == State::kReplicas && !server_.Busy()) return LookAtReplicas(now);
  if (state_ == State::kSave && Snapshots::IfMade(server_)->stop_save() != Snapshots::StopSave::kRuns)
    step_until_mono_ms_ = now.mono_ms;
}

// Replicas must confirm changes after the last question as well.
void StopWait::LookAtReplicas(Now now) noexcept {
  Replicas* const replicas = Replicas::IfMade(server_);
  const int64_t place = replicas != nullptr ? replicas->PlaceOfNow(now) : 0;
  const bool done = replicas == nullptr || replicas->Lagging(INT64_MAX) == 0 ||
                    (replicas->IsComplete() && replicas->Lagging(place) == 0);
  if (done) {
    step_until_mono_ms_ = now.mono_ms;
  } else if (std::exchange(asked_at_, place) != place) {
    replicas->AskToConfirm();
  }
}

// The begin of a save takes too long for the end of a turn.
void StopWait::OnWake(Now now, Log* log) {
  if (!runs()) return;
  if (now.mono_ms >= tell_at_mono_ms_) {
    tell_at_mono_ms_ = now.mono_ms + kTurnsMs;
    TellThatLoop(/*turns=*/true);
  }
  if (now.mono_ms < step_until_mono_ms_) return;
  if (server_.shutdown_requested) {  // another request stops the server at once
    state_ = State::kOver;
    return;
  }
  if (state_ == State::kSave) return EndSave(now);
  if (std::exchange(server_.followers.stop_mono_ms, 0) != 0 && log != nullptr)
    Replicas::IfMade(server_)->TellOfLagging(*log);
  BeginSave(now);
}

void StopWait::BeginSave(Now now) {
  Snapshots& snapshots = *Snapshots::IfMade(server_);
  if (!snapshots.SavesToStop(words_)) return Stop();
  state_ = State::kSave;
  step_until_mono_ms_ = Alarms::kNever;
  TellThatLoop(/*turns=*/false);
  snapshots.SaveToStop(now);
  TellThatLoop(/*turns=*/true);
  server_.hubs.turn_ends.Ask();
}

// Clients change nothing during the save, but the server may, for instance by a MIGRATE under way: then a master saves once
// more, at once. A replica saves again only if its first save failed. Later commands come again from the master after the
// restart.
void StopWait::EndSave(Now now) {
  Snapshots& snapshots = *Snapshots::IfMade(server_);
  // A master's keys, or a flush, have taken the place of the saved ones; the stop is given up otherwise (Abort).
  if (snapshots.stop_save() == Snapshots::StopSave::kCancelled) return BeginSave(now);
  const bool saved = snapshots.stop_save() == Snapshots::StopSave::kDone;
  const bool saves_again = server_.link.follows() ? !saved : saved && snapshots.Unsaved() != 0;
  if (saves_again) TellThatLoop(/*turns=*/false);
  const bool ready =
      saves_again && !server_.Busy() ? snapshots.ReadyToStop(words_) : snapshots.StopsAfter(saved, words_);
  ready ? Stop() : GiveUp();
}

// ---- for main

bool MayStop(Server& server, const config::ShutdownFlags& words, StopEnds ends) {
  if (StopWait::Runs(server)) {
    StopWait::Of(server).AlsoTell(std::move(ends));
    return false;
  }
  const Now now = server.executor->now();
  if (!StopWait::IsNeeded(server, words, now)) return true;
  StopWait::Of(server).Begin(words, std::move(ends), now);
  return false;
}

bool IsReadyToStop(Server& server) noexcept {
  const StopWait* const wait = StopWait::IfMade(server);
  return wait != nullptr && wait->over();
}

}  // namespace mayfly
