#include "replication/replicas.h"

#include <algorithm>
#include <limits>
#include <new>
#include <optional>
#include <random>
#include <utility>

#include "base/log/log.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "replication/replica_wait.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"
#include "snapshot/saver.h"
#include "snapshot/snapshots.h"

namespace mayfly {
namespace {

// The address without the port.
std::string_view AddressOf(std::string_view peer) noexcept {
  std::string_view address = peer.substr(0, peer.rfind(':'));
  if (address.starts_with('[')) address = address.substr(1, address.size() - 2);
  return address;
}

// In ms; a number of seconds without an end in sight stays one.
constexpr uint64_t Seconds(int64_t s) noexcept {
  return std::min(static_cast<uint64_t>(s), uint64_t{INT32_MAX}) * kMsPerSecond;
}

}  // namespace

Replicas::Replicas(Server& server)
    : TurnEnds::Listener(server.hubs.turn_ends),
      Alarm(server.hubs.alarms),
      ClientEnds::Listener(server.hubs.client_ends),
      server_(server),
      stream_(server, backlog_),
      account_(server.hubs.accounts, account_bytes_) {
  server.options.FollowFromNow([this](const config::Settings&) { GateWrites(server_.clock.Read()); },
                               &config::Settings::min_replicas_to_write,
                               &config::Settings::min_replicas_max_lag_s);
}

Replicas::~Replicas() = default;

Replicas& Replicas::Of(Server& server) {
  if (server.replicas == nullptr) server.replicas = std::make_unique<Replicas>(server);
  return *IfMade(server);
}

std::string_view Replicas::history() const noexcept { return server_.followers.history; }

Replicas::Replica* Replicas::Find(const Session& session) noexcept {
  const auto found =
      std::ranges::find_if(replicas_, [&](const auto& replica) { return replica->session == &session; });
  return found != replicas_.end() ? found->get() : nullptr;
}

const Replicas::Replica* Replicas::Find(const Session& session) const noexcept {
  return const_cast<Replicas*>(this)->Find(session);
}

// ---- the stream

std::string Replicas::DrawHistory() {
  if (!std::exchange(named_, true)) return server_.run_id;
  std::uniform_int_distribution<size_t> digit(0, 15);
  std::string history;
  while (history.size() < server_.run_id.size()) history += "0123456789abcdef"[digit(server_.random)];
  return history;
}

void Replicas::StartStream() {
  if (source_ != Source::kNone) return;
  server_.followers.history = DrawHistory();
  server_.followers.old_history.clear();
  backlog_.Begin(backlog_.end());              // no offset is used twice: Sentinel compares offsets
  last_change_ = last_word_ = backlog_.end();  // a master that was followed meanwhile had other places
  stream_.Start(/*anew=*/true);
  source_ = Source::kChanges;
}

void Replicas::DropAll(std::string_view why) noexcept {
  for (const auto& replica : replicas_) Drop(*replica, why);
}

void Replicas::EndStream(std::string_view why, Now now) noexcept {
  DropAll(why);
  stream_.Stop();
  source_ = Source::kNone;
  backlog_.Begin(backlog_.end());
  server_.followers.history.clear();
  server_.followers.old_history.clear();
  Publish(now);
}

void Replicas::Break(Now now) noexcept {
  if (server_.log != nullptr)
    server_.log->Warning("out of memory for the stream of commands: the replicas are dropped");
  EndStream("the stream has ended", now);
}

void Replicas::Rename(std::string history) {
  ReplicaFigures& figures = server_.followers;
  figures.old_history = std::exchange(figures.history, std::move(history));
  figures.old_offset = backlog_.end();
}

bool Replicas::IsKnown(std::string_view history, int64_t place) const noexcept {
  const ReplicaFigures& figures = server_.followers;
  if (source_ == Source::kNone || !backlog_.Has(place)) return false;
  return history == figures.history || (history == figures.old_history && place <= figures.old_offset);
}

bool Replicas::IsBeyondLimit(int64_t place) const noexcept {
  const uint64_t hard = server_.options.settings().client_output_buffer_limit.replica.hard_bytes;
  return hard != 0 && static_cast<uint64_t>(backlog_.end() - place) >= hard;
}

bool Replicas::MayUseCutoffs() const noexcept {
  return stream_.exact() && backlog_.begin() >= last_without_cutoffs_ &&
         std::ranges::all_of(replicas_, [](const auto& replica) { return replica->takes_cutoffs; });
}

// ---- the master's stream

void Replicas::StandStill(Now now) noexcept {
  if (source_ == Source::kChanges) {
    try {
      server_.databases.FinishPromised(now);  // no later reader of this stream would hear of it
      Flush(now);
    } catch (const std::bad_alloc&) {
      return Break(now);
    }
  }
  DropAll("this server follows another one");
  const Now cutoff = stream_.cutoff();
  stream_.Stop();
  FreeCutOff(cutoff, now);  // as the next master has done
  source_ = Source::kNone;
  Publish(now);
}

void Replicas::BeginRelay(const Relayed& stream, Now now) {
  relayed_database_ = stream.database;
  DropAll("the stream is another one");
  backlog_.Begin(stream.place);
  server_.followers.history = stream.history;
  server_.followers.old_history.clear();
  source_ = Source::kRelay;
  relay_may_cut_off_ = stream.may_cut_off;
  cutoff_place_ = last_without_cutoffs_ = 0;
  stream_.ForgetTold();
  Publish(now);
}

// Dropped replicas come back at once, and learn the new name.
void Replicas::ResumeRelaying(std::string_view history, bool may_cut_off, Now now) {
  if (history != server_.followers.history) {
    DropAll("the stream has another name");
    Rename(std::string(history));
  }
  source_ = Source::kRelay;
  relay_may_cut_off_ = may_cut_off;
  Publish(now);
}

void Replicas::Relay(std::string_view bytes, unsigned database, bool has_cutoff) noexcept {
  if (source_ != Source::kRelay) return;
  relayed_database_ = database;
  AskForTurn();
  const int64_t end = backlog_.end() + static_cast<int64_t>(bytes.size());
  try {
    backlog_.Append(bytes);
  } catch (const std::bad_alloc&) {
    DropAll("out of memory for the stream");
    backlog_.Begin(end);  // a part may be there
  }
  if (has_cutoff) cutoff_place_ = backlog_.end();
}

void Replicas::Forget(Now now) noexcept { EndStream("the stream has ended", now); }

void Replicas::TakeOver(bool had_cutoff, Now now) noexcept {
  const bool known = !server_.followers.history.empty();
  DropAll("the stream has another name");
  source_ = Source::kNone;
  if (!known) return Publish(now);
  try {
    Rename(DrawHistory());
    stream_.Start(/*anew=*/false);
  } catch (const std::bad_alloc&) {
    return Break(now);
  }
  stream_.SelectAnew();
  if (had_cutoff) stream_.SendNoCutoff();
  source_ = Source::kChanges;
  last_change_ = last_word_ = backlog_.end();  // replicas may lack the last bytes of the old master
  ChooseCutoffs();
  lonely_since_mono_ms_ = now.mono_ms;
  tick_mono_ms_ = now.mono_ms + kTickMs;
  Publish(now);
}

// ---- confirmations

int64_t Replicas::PlaceOfNow(Now now) {
  if (!stream_.running()) return 0;
  try {
    Flush(now);
  } catch (const std::bad_alloc&) {
    Break(now);
  }
  return last_change_;
}

bool Replicas::IsComplete(uint64_t doom) const noexcept {
  return source_ != Source::kChanges || server_.databases.IsDone(doom);
}

uint64_t Replicas::last_doom() const noexcept { return server_.databases.dooms(); }

void Replicas::GivePlaces() noexcept {
  for (ReplicaWait* const wait : waits_) {
    if (wait->settled() || !IsComplete(wait->doom())) continue;
    wait->SetPlace(last_change_);
    AskToConfirm();
    WakeIfReached(*wait);
  }
}

bool Replicas::AnyUnsettled() const noexcept {
  return std::ranges::any_of(waits_, [](const ReplicaWait* wait) { return !wait->settled(); });
}

void Replicas::WakeIfReached(ReplicaWait& wait) noexcept {
  if (wait.Reached() >= wait.terms().replicas && wait.session().parked != nullptr)
    server_.parking.Wake(*wait.session().parked, WakeReason::kReady);
}

void Replicas::Flush(Now now) {
  const int64_t before = backlog_.end();
  stream_.Flush(now);
  if (backlog_.end() != before) last_change_ = last_word_ = backlog_.end();
  if (stream_.TakeWroteCutoff()) cutoff_place_ = backlog_.end();
}

size_t Replicas::Confirmed(int64_t place) const noexcept {
  return static_cast<size_t>(std::ranges::count_if(
      replicas_, [&](const auto& replica) { return replica->counts() && replica->confirmed >= place; }));
}

size_t Replicas::ConfirmedDurable(int64_t place) const noexcept {
  return static_cast<size_t>(std::ranges::count_if(
      replicas_, [&](const auto& replica) { return replica->counts() && replica->durable >= place; }));
}

size_t Replicas::Lagging(int64_t place) const noexcept {
  return static_cast<size_t>(std::ranges::count_if(replicas_, [&](const auto& replica) {
    return replica->confirms && (replica->state != State::kOnline || replica->confirmed < place);
  }));
}

void Replicas::TellOfLagging(Log& log) const {
  for (const auto& replica : replicas_) {
    const std::string name = replica->address + ":" + std::to_string(replica->port);
    if (replica->state != State::kOnline)
      log.Warning("the replica ", name, " does not have all keys yet");
    else if (replica->confirms && replica->confirmed < last_change_)
      log.Warning("the replica ", name, " lacks the last ", last_change_ - replica->confirmed, " bytes");
  }
  log.Notice(Confirmed(last_change_), " of ", replicas_.size(), " replicas have everything");
}

// A redis-server's answer to a question to confirm does not count the question itself: the question must be on its way at
// least.
std::optional<config::MasterAddress> Replicas::FindComplete(
    const std::optional<config::MasterAddress>& wanted) const {
  for (const auto& replica : replicas_) {
    if (wanted && (wanted->host != replica->address || wanted->port != replica->port)) continue;
    const bool is_sent = replica->place == backlog_.end() && replica->session->output.empty();
    const bool has_all =
        replica->plain ? is_sent && replica->confirmed >= last_word_ : replica->confirmed >= backlog_.end();
    if (replica->counts() && has_all)
      return config::MasterAddress{.host = replica->address, .port = replica->port};
  }
  return std::nullopt;
}

const Replicas::Replica* Replicas::FindAt(const config::MasterAddress& address) const noexcept {
  const auto found = std::ranges::find_if(replicas_, [&](const auto& replica) {
    return replica->address == address.host && replica->port == address.port;
  });
  return found != replicas_.end() ? found->get() : nullptr;
}

bool Replicas::IsOnline(const config::MasterAddress& address) const noexcept {
  const Replica* const replica = FindAt(address);
  return replica != nullptr && replica->state == State::kOnline;
}

// ---- replicas

Replicas::Replica& Replicas::Add(Session& session, const SyncWish& wish, State state, Now now) {
  std::string address = wish.address.empty() ? std::string(AddressOf(session.peer)) : wish.address;
  replicas_.push_back(std::make_unique<Replica>(Replica{.session = &session,
                                                        .state = state,
                                                        .plain = !wish.is_mayfly,
                                                        .takes_cutoffs = wish.takes_cutoffs,
                                                        .confirms = true,
                                                        .address = std::move(address),
                                                        .port = wish.listening_port,
                                                        .place = 0,
                                                        .confirmed = 0,
                                                        .durable = -1,
                                                        .heard_mono_ms = now.mono_ms}));
  session.Set(Mode::kReplica);
  server_.sessions.LimitOutput(session);
  ChooseCutoffs();
  tick_mono_ms_ = std::min(tick_mono_ms_, now.mono_ms + kTickMs);
  return *replicas_.back();
}

bool Replicas::Continue(Session& session, const SyncWish& wish, std::string_view history, int64_t place,
                        Now now) {
  ReplicaFigures& figures = server_.followers;
  static_cast<void>(PlaceOfNow(now));
  const bool has = IsKnown(history, place) && !IsBeyondLimit(place);
  if (!has || (!wish.takes_cutoffs && !IsFreeOfCutoffs(place))) {
    ++figures.refused_syncs;
    return false;
  }
  Replica& replica = Add(session, wish, State::kOnline, now);
  replica.place = replica.confirmed = place;
  ++figures.partial_syncs;
  if (server_.log != nullptr)
    server_.log->Notice("the replica ", replica.address, ":", replica.port, " goes on, with ",
                        backlog_.end() - place, " bytes that it has missed");
  Publish(now);
  AskForTurn();
  return true;
}

void Replicas::SendAll(Session& session, const SyncWish& wish, bool partial, Now now) {
  StartStream();
  Add(session, wish, State::kWaits, now).confirms = partial;
  Publish(now);
  AskForTurn();
}

bool Replicas::IsAwaited(const Session& session) const noexcept {
  const Replica* const replica = Find(session);
  return replica != nullptr && (replica->state == State::kWaits || replica->state == State::kSending);
}

void Replicas::Confirm(const Session& session, int64_t place, int64_t durable, Now now) {
  Replica* const replica = Find(session);
  if (replica == nullptr) return;
  replica->heard_mono_ms = now.mono_ms;
  replica->confirmed = std::max(replica->confirmed, std::min(place, backlog_.end()));
  replica->durable = std::max(replica->durable, std::min(durable, backlog_.end()));
  if (replica->state == State::kLoads) {
    replica->state = State::kOnline;
    if (server_.log != nullptr)
      server_.log->Notice("the replica ", replica->address, ":", replica->port, " has loaded the snapshot");
    AskForTurn();
  }
  Publish(now);
  for (ReplicaWait* const wait : waits_) WakeIfReached(*wait);
}

void Replicas::Drop(Replica& replica, std::string_view why) noexcept {
  if (replica.session->closes()) return;
  if (server_.log != nullptr)
    server_.log->Warning("the replica ", replica.address, ":", replica.port, " is dropped: ", why);
  replica.session->Set(Mode::kDropped);
  server_.sessions.MarkDirty(*replica.session);
}

void Replicas::OnClientEnd(Session& session) noexcept {
  const Replica* const replica = Find(session);
  if (replica == nullptr) return;
  const Now now = server_.executor->now();
  if (!replica->takes_cutoffs) last_without_cutoffs_ = backlog_.end();
  std::erase_if(replicas_, [&](const auto& other) { return other.get() == replica; });
  if (replicas_.empty()) lonely_since_mono_ms_ = now.mono_ms;
  Publish(now);
}

// ---- all keys

void Replicas::ContinueSending(Now now) {
  Snapshots& snapshots = Snapshots::Of(server_);
  for (const auto& replica : replicas_) {
    if (replica->state == State::kSending && !snapshots.IsSentTo(*replica->session)) {
      replica->state = State::kLoads;
      replica->heard_mono_ms = now.mono_ms;
      if (Parked* const parked = replica->session->parked) server_.parking.Wake(*parked, WakeReason::kReady);
      Publish(now);
    }
  }
  const auto next = std::ranges::find_if(replicas_, [&](const auto& replica) {
    return replica->state == State::kWaits && !replica->session->closes() &&
           (replica->takes_cutoffs || IsFreeOfCutoffs(backlog_.end()));
  });
  // A snapshot must not have keys that are cut off: the replica's stream begins after the cutoff.
  const bool may = !snapshots.saving() && !snapshots.loading() && !server_.link.frees_cut_off;
  if (next != replicas_.end() && may) BeginSnapshot(**next, now);
}

void Replicas::FreeCutOff(Now cutoff, Now now) {
  if (cutoff.wall_ms == 0) return;
  server_.databases.FreeCutOff(cutoff, /*expires=*/true, now, std::numeric_limits<size_t>::max() / 2);
}

void Replicas::BeginSnapshot(Replica& replica, Now now) {
  ReplicaFigures& figures = server_.followers;
  if (source_ == Source::kChanges) {
    // While nothing expires (Failover), a snapshot would have due keys, and the stream does not report due keys again.
    if (server_.databases.expired_keys() == ExpiredKeys::kHidden) FreeCutOff(stream_.cutoff(), now);
    Flush(now);
    stream_.SelectAnew();
  }
  replica.place = replica.confirmed = backlog_.end();
  const std::string place = std::to_string(replica.place);
  const StreamTerms terms{
      .greeting = replica.confirms ? "+FULLRESYNC " + figures.history + " " + place + "\r\n" : "",
      .ends_client = false,
      .plain = replica.plain,
      .database = source_ == Source::kRelay ? std::optional(relayed_database_) : std::nullopt};
  std::string_view problem;
  try {
    problem = Snapshots::Of(server_).SendSoon(*replica.session, terms, now);
  } catch (const std::bad_alloc&) {
    problem = "out of memory";
  }
  if (!problem.empty()) return Drop(replica, problem);
  replica.state = State::kSending;
  ++figures.full_syncs;
  Publish(now);
}

// ---- output

void Replicas::PumpTo(Replica& replica, Now now) {
  OutputChain& output = replica.session->output;
  while (replica.place < backlog_.end() && output.size() < kInOutput)
    replica.place += static_cast<int64_t>(backlog_.Feed(replica.place, kInOutput - output.size(), output));
  if (!output.empty()) server_.sessions.MarkDirty(*replica.session);
  if (replica.place < backlog_.end()) behind_ = true;
  if (IsTooFarBehind(replica, now)) Drop(replica, "it is too far behind (client-output-buffer-limit)");
}

bool Replicas::IsTooFarBehind(Replica& replica, Now now) const noexcept {
  const config::OutputLimit& limit = server_.options.settings().client_output_buffer_limit.replica;
  const bool has_stream = replica.state == State::kOnline;  // otherwise its output has a snapshot
  const auto bytes = static_cast<uint64_t>(backlog_.end() - replica.place) +
                     (has_stream ? replica.session->output.size() : 0);
  if (limit.hard_bytes != 0 && bytes >= limit.hard_bytes) return true;
  if (limit.soft_bytes == 0 || bytes < limit.soft_bytes) {
    replica.above_soft_since_mono_ms = 0;
    return false;
  }
  if (replica.above_soft_since_mono_ms == 0) replica.above_soft_since_mono_ms = now.mono_ms;
  return now.mono_ms - replica.above_soft_since_mono_ms >= Seconds(limit.soft_seconds);
}

void Replicas::Pump(Now now) {
  const config::Settings& settings = server_.options.settings();
  behind_ = false;
  int64_t needed = backlog_.end() - static_cast<int64_t>(settings.repl_backlog_bytes);
  for (const auto& replica : replicas_) {
    if (replica->session->closes() || replica->state == State::kWaits) continue;
    if (replica->state == State::kOnline) {
      try {
        PumpTo(*replica, now);
      } catch (const std::bad_alloc&) {
        Drop(*replica, "out of memory");
      }
    } else if (IsTooFarBehind(*replica, now)) {
      Drop(*replica, "it is too far behind (client-output-buffer-limit)");
    }
    needed = std::min(needed, replica->place);
  }
  backlog_.Forget(needed);
  CountBacklog();
}

void Replicas::CountBacklog() noexcept {
  account_bytes_ = backlog_.bytes();
  server_.followers.offset = backlog_.end();
  server_.followers.backlog_begin = backlog_.begin();
  server_.followers.backlog_bytes = backlog_.bytes();
  std::vector<ReplicaFigures::Line>& lines = server_.followers.lines;
  for (size_t i = 0; i < std::min(lines.size(), replicas_.size()); ++i) {
    const Replica& replica = *replicas_[i];
    lines[i].needs = replica.state == State::kWaits ? backlog_.end() : replica.place;
  }
}

bool Replicas::AnyAwaitsKeys() const noexcept {
  return std::ranges::any_of(replicas_, [](const auto& replica) {
    return replica->state == State::kWaits || replica->state == State::kSending;
  });
}

[[gnu::noinline]] void Replicas::SendAtTurnEnd(Now now) noexcept {
  if (source_ == Source::kNone) asked_ = busy_ = behind_ = false;
  if (source_ == Source::kNone || server_.Busy()) return;
  const bool looks = std::exchange(asked_, false) || busy_;
  try {
    const bool asks = std::exchange(asks_, false);
    if (source_ == Source::kChanges) {
      Flush(now);
      GivePlaces();
      if (std::exchange(asks_, false) || asks) stream_.SendAlone({"REPLCONF", "GETACK", "*"}, now);
    }
    if (looks && !replicas_.empty()) ContinueSending(now);
    Pump(now);
    busy_ = behind_ || (looks && AnyAwaitsKeys()) || AnyUnsettled();
  } catch (const std::bad_alloc&) {
    Break(now);
  }
}

// ---- time

uint64_t Replicas::NextWake() const noexcept {
  if (source_ == Source::kNone) return Alarms::kNever;
  return behind_ ? server_.executor->now().mono_ms + kLookMs : tick_mono_ms_;
}

void Replicas::OnWake(Now now, Log*) {
  if (source_ == Source::kNone) return;
  AskForTurn();
  if (now.mono_ms < tick_mono_ms_) return;
  ChooseCutoffs();
  tick_mono_ms_ = now.mono_ms + kTickMs;
  try {
    Tick(now);
  } catch (const std::bad_alloc&) {
    Break(now);
  }
}

void Replicas::Tick(Now now) {
  const config::Settings& settings = server_.options.settings();
  for (const auto& replica : replicas_) {
    if (IsSilent(*replica, now)) Drop(*replica, "no word came within repl-timeout");
  }
  if (now.mono_ms - pinged_mono_ms_ >= Seconds(settings.repl_ping_period_s) && !replicas_.empty()) {
    pinged_mono_ms_ = now.mono_ms;
    // A relay has the master's signs of life.
    if (source_ == Source::kChanges && !server_.Busy()) {
      Flush(now);
      stream_.SendAlone({"PING"}, now);
      last_word_ = backlog_.end();
    }
    for (const auto& replica : replicas_) {
      if (replica->state != State::kWaits) continue;
      replica->session->output.Append("\n");
      server_.sessions.MarkDirty(*replica->session);
    }
  }
  const uint64_t ttl_ms = Seconds(settings.repl_backlog_ttl_s);
  if (source_ == Source::kChanges && replicas_.empty() && ttl_ms != 0 &&
      now.mono_ms - lonely_since_mono_ms_ >= ttl_ms) {
    if (server_.log != nullptr)
      server_.log->Notice("there has been no replica for repl-backlog-ttl: the stream ends");
    EndStream("", now);
  }
  Publish(now);
}

// While a replica waits, this server has to send signs of life. ClientStream checks a replica that gets a snapshot.
bool Replicas::IsSilent(const Replica& replica, Now now) const noexcept {
  if (!replica.confirms || (replica.state != State::kOnline && replica.state != State::kLoads)) return false;
  const uint64_t heard = std::max(replica.heard_mono_ms, replica.session->active_mono_ms);
  return now.mono_ms - heard > Seconds(server_.options.settings().repl_timeout_s);
}

// ---- what others see

void Replicas::Publish(Now now) noexcept {
  ReplicaFigures& figures = server_.followers;
  try {
    figures.lines.clear();
    for (const auto& replica : replicas_) {
      const bool online = replica->state == State::kOnline;
      figures.lines.push_back({.address = replica->address,
                               .port = replica->port,
                               .state = online                              ? "online"
                                        : replica->state == State::kSending ? "send_bulk"
                                        : replica->state == State::kLoads   ? "send_bulk"
                                                                            : "wait_bgsave",
                               .offset = replica->confirmed,
                               .heard_mono_ms = replica->heard_mono_ms,
                               .online = online,
                               .client = replica->session->id});
    }
  } catch (const std::bad_alloc&) {  // the figures show fewer replicas
  }
  figures.active = source_ != Source::kNone;
  CountBacklog();
  GateWrites(now);
}

void Replicas::GateWrites(Now now) noexcept {
  const config::Settings& settings = server_.options.settings();
  const uint64_t lag_ms = Seconds(settings.min_replicas_max_lag_s);
  const auto good = std::ranges::count_if(replicas_, [&](const auto& replica) {
    return replica->state == State::kOnline && now.mono_ms - replica->heard_mono_ms <= lag_ms;
  });
  const bool refuse = settings.min_replicas_to_write != 0 && lag_ms != 0 && !server_.link.follows() &&
                      good < settings.min_replicas_to_write;
  server_.modes = (server_.modes & ~BitOf(Mode::kFewReplicas)) | (refuse ? BitOf(Mode::kFewReplicas) : 0);
}

}  // namespace mayfly
