#include "replication/master_link.h"

#include <algorithm>
#include <new>
#include <system_error>
#include <utility>

#include "base/log/log.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/dispatch/executor.h"
#include "replication/expired_by_role.h"
#include "replication/failover.h"
#include "replication/replicas.h"
#include "server/clients/session.h"
#include "server/clients/sessions.h"
#include "server/cluster/cluster.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"
#include "snapshot/disk/disk.h"
#include "snapshot/loader.h"
#include "snapshot/snapshots.h"

namespace mayfly {
namespace {

// As in Redis: blocked clients get an error, since the awaited events do not happen here any more.
void EndWaits(Server& server) {
  for (const auto& [id, session] : server.sessions.by_id()) {
    const Parked* const parked = session->parked;
    if (parked == nullptr || parked->paused || parked->delayed || session->Has(Mode::kReplica)) continue;
    if (parked->reason != WakeReason::kNone) continue;  // the request runs again: a cluster redirects it
    server.parking.Leave(*session);
    try {
      session->reply.Error(
          "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)");
      session->Set(Mode::kEnding);
    } catch (const std::bad_alloc&) {  // OutputTooLong, too
      session->Set(Mode::kDropped);
    }
    server.sessions.MarkDirty(*session);
  }
}

std::string ReasonOf(const OutgoingConnection& connection) {
  const std::string_view problem = connection.problem();
  const std::string more = problem.empty() ? "" : ": " + std::string(problem);
  switch (connection.state()) {
    case OutgoingConnection::State::kNoAddress:
      return "its name is not known";
    case OutgoingConnection::State::kRefused:
      return "it cannot be connected to";
    case OutgoingConnection::State::kNoTls:
      return "the TLS handshake has failed" + more;
    default:
      return "the connection has ended" + more;
  }
}

}  // namespace

MasterLink::MasterLink(Server& server, Disk& disk)
    : Alarm(server.hubs.alarms),
      TurnEnds::Listener(server.hubs.turn_ends),
      Wakes::Listener(server.hubs.wakes),
      server_(server),
      disk_(disk),
      figures_(server.link),
      account_(server.hubs.accounts, account_bytes_),
      commands_(server),
      shown_(no_chunks_),
      stale_drop_(server) {
  server.options.Follow([this](const config::Settings&) { GateStaleData(); },
                        &config::Settings::replica_serve_stale_data);
  server.options.Follow(
      [this](const config::Settings&) {
        TreatExpiredByRole(server_);
        server_.executor->FollowRole();
      },
      &config::Settings::replica_read_only);
  server.options.Follow([this](const config::Settings&) { server_.executor->FollowRole(); },
                        &config::Settings::replica_ignore_maxmemory);
}

MasterLink::~MasterLink() { figures_.client = nullptr; }

MasterLink& MasterLink::Of(Server& server) {
  if (server.master_link == nullptr) server.master_link = std::make_unique<MasterLink>(server, Disk::Real());
  return *static_cast<MasterLink*>(server.master_link.get());
}

// ---- the role

void MasterLink::Change(const config::MasterAddress& master, Now now) {
  if (!figures_.follows()) EndWaits(server_);
  std::string host = master.host;
  // Perhaps of a master that was left meanwhile: see FollowNone.
  const bool loads =
      figures_.state == State::kLoading || (figures_.state == State::kNone && transfer_ != nullptr);
  if (loads) Snapshots::Of(server_).StopLoad();
  Drop();
  Replicas& replicas = Replicas::Of(server_);
  replicas.StandStill(now);
  figures_.history = replicas.history();
  figures_.offset = replicas.place();
  figures_.host = std::move(host);
  figures_.port = master.port;
  figures_.down_since_mono_ms = now.mono_ms;
  retry_mono_ms_ = now.mono_ms;
  pause_ms_ = 0;
  NoteMasterKeys(false);
  Become(State::kConnect, now);
  replicas.GateWrites(now);
  server_.executor->FollowRole();
  if (server_.log != nullptr) server_.log->Notice("following the master ", figures_.host, ":", figures_.port);
}

void MasterLink::TryNow(Now now) noexcept {
  if (std::exchange(pause_ms_, 0) != 0 && figures_.state == State::kConnect) retry_mono_ms_ = now.mono_ms;
}

// A load goes on: the file is complete. Clients wait for its end: the file's keys would take the place of what they write.
void MasterLink::FollowNone(Now now) noexcept {
  if (!figures_.follows()) return;
  const bool loading = figures_.state == State::kLoading;
  std::unique_ptr<Transfer> file = loading ? std::move(transfer_) : nullptr;
  Drop();
  handover_ = Handover::kNone;
  transfer_ = std::move(file);
  figures_.history.clear();
  NoteMasterKeys(false);
  Become(State::kNone, now);
  if (loading) server_.modes |= BitOf(Mode::kLoading);
  const bool had_cutoff = commands_.cutoff().any();
  commands_.cutoff().End(now);
  stale_drop_.End();
  Replicas::Of(server_).TakeOver(had_cutoff, now);
  server_.executor->FollowRole();
  if (server_.log != nullptr) server_.log->Notice("following no master any more");
}

void MasterLink::Become(State state, Now now) noexcept {
  if (state == State::kConnected) {
    shown_.id = server_.sessions.TakeId();
    shown_.created_mono_ms = now.mono_ms;
    shown_.net_input_bytes = shown_.net_output_bytes = 0;
    Show(0, now);
    logged_.clear();
    pause_ms_ = 0;
    NoteMasterKeys(true);
  }
  if (figures_.state == State::kConnected && state != State::kConnected)
    figures_.down_since_mono_ms = now.mono_ms;
  figures_.state = state;
  figures_.client = figures_.up() ? &shown_ : nullptr;
  shown_.modes = figures_.up() ? BitOf(Mode::kMaster) : 0;
  GateStaleData();
  TreatExpiredByRole(server_);
}

void MasterLink::Show(size_t received, Now now) noexcept {
  shown_.active_mono_ms = now.mono_ms;
  shown_.net_input_bytes += received;
  shown_.input_bytes = commands_.waiting_bytes();
  shown_.input_memory = commands_.bytes();
  shown_.db = commands_.database();
  shown_.last_command = commands_.session().last_command;
  shown_.commands = commands_.session().commands;
}

void MasterLink::NoteMasterKeys(bool has_them) noexcept {
  if (server_.cluster != nullptr) server_.cluster->NoteMasterKeys(has_them);
}

void MasterLink::GateStaleData() noexcept {
  const bool stale = figures_.follows() && !figures_.up();
  const bool refuse = stale && !server_.options.settings().replica_serve_stale_data;
  server_.modes = (server_.modes & ~BitOf(Mode::kNoMaster)) | (refuse ? BitOf(Mode::kNoMaster) : 0);
}

// ---- the connection

uint64_t MasterLink::timeout_ms() const noexcept {
  return static_cast<uint64_t>(server_.options.settings().repl_timeout_s) * kMsPerSecond;
}

uint64_t MasterLink::NextWake() const noexcept {
  if (shown_.closes()) return 0;
  switch (figures_.state) {
    case State::kNone:
      return Alarms::kNever;
    case State::kConnect:
      return retry_mono_ms_;
    case State::kConnecting:
    case State::kHandshake:
      return figures_.heard_mono_ms + timeout_ms();
    case State::kLoading:  // the master has to wait
      return told_mono_ms_ + kTellMs;
    case State::kTransfer:
    case State::kConnected:
      break;
  }
  return std::min(told_mono_ms_ + kTellMs, figures_.heard_mono_ms + timeout_ms());
}

void MasterLink::OnWake(Now now, Log*) noexcept {
  if (NextWake() > now.mono_ms) return;
  if (shown_.closes()) {
    Lose("a client has ended it (CLIENT KILL)", now);
    retry_mono_ms_ = now.mono_ms;  // as in Redis: the master can be reached
    return;
  }
  try {
    if (figures_.state == State::kConnect) return Connect(now);
    if (figures_.state != State::kLoading && now.mono_ms >= figures_.heard_mono_ms + timeout_ms()) {
      if (connection_->received().empty()) return Lose("no byte came within repl-timeout", now);
      figures_.heard_mono_ms = now.mono_ms;  // bytes wait here, for the disk or for the end of a script
    }
    if (GivesUpCutoffs(now)) return;
    told_mono_ms_ = now.mono_ms;
    Tell();
  } catch (const std::bad_alloc&) {
    Lose("out of memory", now);
  }
}

bool MasterLink::GivesUpCutoffs(Now now) {
  if (!gets_cutoffs_ || figures_.state != State::kConnected) return false;
  if (Replicas::Of(server_).MayUseCutoffs()) return false;
  if (server_.log != nullptr)
    server_.log->Notice("a replica of this server needs DELs for expired keys: asking the master for them");
  Drop();
  commands_.Cut();
  retry_mono_ms_ = now.mono_ms;
  Become(State::kConnect, now);
  return true;
}

// While a master sends all keys, an empty line is enough: the replica reads.
void MasterLink::Tell() {
  if (connection_ == nullptr) return;
  if (figures_.state != State::kConnected) return connection_->Send("\n");
  const std::string offset = std::to_string(figures_.offset);
  std::string line =
      "*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$" + std::to_string(offset.size()) + "\r\n" + offset + "\r\n";
  shown_.net_output_bytes += line.size();
  connection_->Send(std::move(line));
}

void MasterLink::Connect(Now now) {
  retry_mono_ms_ = now.mono_ms + kRetryMs;
  const bool by_tls = server_.options.settings().tls_replication;
  Outgoing* const outgoing = by_tls ? server_.outgoing_by_tls : server_.outgoing;
  if (outgoing == nullptr)
    return LogLoss(by_tls
                       ? "tls-replication is on, and this server has no TLS for connections to other servers"
                       : "this server makes no connections to other servers",
                   now);
  figures_.heard_mono_ms = now.mono_ms;
  const bool is_bare_ip6 = figures_.host.find(':') != std::string::npos;
  shown_.peer =
      (is_bare_ip6 ? '[' + figures_.host + ']' : figures_.host) + ':' + std::to_string(figures_.port);
  Become(State::kConnecting, now);
  connection_ = outgoing->Connect(figures_.host, figures_.port, *this);
  if (connection_->ended()) Lose(ReasonOf(*connection_), now);
}

HandshakeTerms MasterLink::Terms() const {
  const config::Settings& settings = server_.options.settings();
  // A master reached by TLS shows this server's address to users of TLS, too.
  const bool by_tls = settings.tls_replication && settings.tls_port != 0;
  const int64_t own = by_tls ? settings.tls_port : settings.port;
  std::string address = settings.replica_announce_ip;
  int64_t port = settings.replica_announce_port != 0 ? settings.replica_announce_port : own;
  if (server_.cluster != nullptr) {  // the master looks up this replica's line in the map
    const ClusterNode& self = server_.cluster->map().self();
    if (address.empty() && self.host != ClusterMap::kSameHost) address = self.host;
    if (settings.replica_announce_port == 0) port = self.port;
  }
  return {.user = settings.masteruser,
          .password = settings.masterauth,
          .announced_address = std::move(address),
          .listening_port = static_cast<uint16_t>(port),
          .history = figures_.history,
          .offset = figures_.offset,
          .takes_cutoffs = Replicas::Of(server_).MayUseCutoffs(),
          .hands_over = handover_ != Handover::kNone};
}

void MasterLink::OnNews() noexcept {
  const Now now = server_.executor->now();
  try {
    if (!connection_->received().empty()) figures_.heard_mono_ms = now.mono_ms;
    if (figures_.state == State::kConnecting && connection_->state() == OutgoingConnection::State::kOpen) {
      Become(State::kHandshake, now);
      handshake_.emplace(Terms());
      connection_->Send(handshake_->Begin());
    }
    Work(now);
    // While a file is loaded, a broken link does not matter: the file is complete.
    if (connection_ != nullptr && connection_->ended() && figures_.state != State::kLoading)
      Lose(ReasonOf(*connection_), now);
  } catch (const std::bad_alloc&) {
    Lose("out of memory", now, /*keeps_history=*/false);
  } catch (const std::system_error&) {
    Lose("the system allows no more threads", now);
  }
}

// The thread of the file has news, or a script has ended.
void MasterLink::OnSignal() noexcept {
  if (connection_ != nullptr && figures_.follows()) OnNews();
}

void MasterLink::Work(Now now) {
  while (figures_.state == State::kHandshake && connection_ != nullptr &&
         connection_->received().find('\n') != std::string_view::npos)
    Answer(now);
  if (connection_ == nullptr) return;
  if (figures_.state == State::kHandshake && connection_->received().size() > kMostLineBytes)
    return Lose("its answers are no lines of Redis's protocol", now);
  if (figures_.state == State::kTransfer) Receive(now);
  if (figures_.state == State::kConnected) Hear(now);
}

// ---- the handshake

void MasterLink::Answer(Now now) {
  const std::string_view received = connection_->received();
  const size_t end = received.find('\n');
  std::string_view line = received.substr(0, std::min(end, kMostLineBytes));
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::string next = handshake_->Take(line);
  connection_->Consume(end + 1);
  if (!next.empty()) connection_->Send(std::move(next));
  if (handover_ == Handover::kToAsk && handshake_->asks_for_keys()) handover_ = Handover::kAsked;
  if (handshake_->state() != Handshake::State::kUnderWay) EndHandshake(now);
}

void MasterLink::TellOfHandover(bool is_master, Now now) noexcept {
  handover_ = Handover::kNone;
  if (Failover* const failover = Failover::IfMade(server_)) failover->OnAnswer(is_master, now);
}

void MasterLink::EndHandshake(Now now) {
  const config::Settings& settings = server_.options.settings();
  commands_.TrustFacts(handshake_->is_mayfly());
  gets_cutoffs_ = handshake_->gets_cutoffs();
  const bool is_answer = handshake_->state() != Handshake::State::kLater &&
                         (handshake_->asks_for_keys() || handover_ == Handover::kToAsk);
  if (handover_ != Handover::kNone && is_answer) {
    // The replica may have become the master after an earlier question, and the answer was lost.
    const bool is_master = handshake_->state() != Handshake::State::kRefused ||
                           handshake_->problem().find("can't be sent to a master") != std::string::npos;
    TellOfHandover(is_master, now);
    if (!is_master) return;
  }
  switch (handshake_->state()) {
    case Handshake::State::kUnderWay:
      return;
    case Handshake::State::kLater:
    case Handshake::State::kRefused:
      return Lose(std::string(handshake_->problem()), now);
    case Handshake::State::kFull:
      figures_.transfer_bytes = 0;
      figures_.transfer_total = -1;
      told_mono_ms_ = now.mono_ms;
      transfer_ = std::make_unique<Transfer>(disk_, settings.dir.path, server_.run_id, settings.rdbchecksum,
                                             [&wakes = server_.hubs.wakes] { wakes.Signal(); });
      if (server_.log != nullptr && pause_ms_ == 0) server_.log->Notice("the master sends all its keys");
      return Become(State::kTransfer, now);
    case Handshake::State::kContinue:
      break;
  }
  stale_drop_.Begin();
  figures_.history = handshake_->history();
  Replicas::Of(server_).ResumeRelaying(figures_.history, gets_cutoffs_, now);
  ++figures_.partial_syncs;
  commands_.Continue(figures_.offset);
  told_mono_ms_ = 0;
  if (server_.log != nullptr) server_.log->Notice("the master goes on at byte ", figures_.offset);
  Become(State::kConnected, now);
}

// ---- all keys

void MasterLink::Receive(Now now) {
  while (!connection_->received().empty()) {
    const size_t taken = transfer_->Take(connection_->received());
    if (taken == 0) break;
    connection_->Consume(taken);
  }
  figures_.transfer_bytes = transfer_->received_bytes();
  figures_.transfer_total = transfer_->total_bytes();
  account_bytes_ = transfer_->waiting_bytes();
  const Transfer::State state = transfer_->state();
  if (state == Transfer::State::kFailed)
    Lose("its snapshot is of no use: " + transfer_->problem(), now);
  else if (state == Transfer::State::kDone && !server_.Busy())
    Load(now);  // it takes the place of the functions, too: a function that runs ends before
}

void MasterLink::Load(Now now) {
  account_bytes_ = 0;
  const std::string problem = Snapshots::Of(server_).LoadReceived(
      transfer_->path(), /*quiet=*/pause_ms_ != 0 && left_out_told_,
      [this](const LoadResult& result) { OnLoaded(result); }, now);
  if (!problem.empty()) return Lose("its snapshot cannot be loaded: " + problem, now);
  stale_drop_.Begin();
  commands_.cutoff().Forget();
  figures_.history.clear();  // while the load runs, the keys belong to no stream
  Replicas::Of(server_).Forget(now);
  Become(State::kLoading, now);
  if (server_.log != nullptr && pause_ms_ == 0)
    server_.log->Notice("received ", figures_.transfer_bytes, " bytes, which are loaded now");
}

void MasterLink::OnLoaded(const LoadResult& result) {
  if (figures_.state != State::kLoading) {
    if (figures_.state == State::kNone) transfer_.reset();
    return;
  }
  transfer_.reset();
  const Now now = server_.executor->now();
  if (result.not_known) return PutOff(result, now);
  if (!result.problem.empty()) return Lose("its snapshot cannot be loaded", now);
  try {
    BeginStream(result, now);
  } catch (const std::bad_alloc&) {
    return Lose("out of memory", now, /*keeps_history=*/false);
  }
  OnNews();
}

void MasterLink::BeginStream(const LoadResult& result, Now now) {
  figures_.history = handshake_->history();
  figures_.offset = handshake_->offset();
  ++figures_.full_syncs;
  figures_.failures = 0;
  commands_.Begin(figures_.offset, result.stream_database);
  Replicas::Of(server_).BeginRelay({.history = figures_.history,
                                    .place = figures_.offset,
                                    .database = result.stream_database,
                                    .may_cut_off = gets_cutoffs_},
                                   now);
  told_mono_ms_ = now.mono_ms;
  figures_.heard_mono_ms = now.mono_ms;
  Become(State::kConnected, now);
  if (server_.log != nullptr)
    server_.log->Notice(
        "the link to the master is up: its keys have taken the place of all others, and its "
        "stream begins at byte ",
        figures_.offset);
  Tell();  // the master then starts the stream
}

// ---- the stream

void MasterLink::Hear(Now now) {
  if (server_.Busy()) return;
  commands_.cutoff().Continue();
  // The last bytes of a broken link have no next turn.
  const size_t most = connection_->ended() ? SIZE_MAX : kMostHeard - heard_;
  const std::string_view received = connection_->received().substr(0, most);
  if (received.empty()) return;
  const size_t size = received.size();
  heard_ = std::min(heard_ + size, kMostHeard);
  server_.hubs.turn_ends.Ask();
  const bool good = commands_.Feed(received, now);
  connection_->Consume(size);
  Show(size, now);
  figures_.offset = commands_.offset();
  account_bytes_ = commands_.bytes();
  if (!good) return Lose("its stream is not in Redis's protocol", now, /*keeps_history=*/false);
  if (commands_.TakeWish()) Tell();
}

void MasterLink::OnTurnEnd(Now) noexcept {
  if (std::exchange(heard_, 0) == 0 || figures_.state != State::kConnected || server_.Busy()) return;
  if (!connection_->received().empty()) server_.hubs.wakes.Signal();
}

void MasterLink::Drop() noexcept {
  connection_.reset();
  handshake_.reset();
  transfer_.reset();
  account_bytes_ = 0;
}

// Logs a long absence of the master once a minute.
void MasterLink::LogLoss(std::string_view why, Now now) noexcept {
  const bool again = logged_ == why && now.mono_ms < logged_mono_ms_ + kLogAgainMs;
  if (again || server_.log == nullptr) return;
  server_.log->Warning("no link to the master ", figures_.host, ":", figures_.port, ": ", why);
  logged_mono_ms_ = now.mono_ms;
  try {
    logged_ = why;
  } catch (const std::bad_alloc&) {
    logged_.clear();  // the next loss is logged, too
  }
}

// The reason has the pause, so that LogLoss logs each longer one.
void MasterLink::PutOff(const LoadResult& result, Now now) noexcept {
  pause_ms_ = pause_ms_ == 0 ? kRetryMs : std::min(2 * pause_ms_, kMostRetryMs);
  left_out_told_ = result.leaves_out();
  try {
    const std::string loaded =
        result.keys != 0 ? " (after " + std::to_string(result.keys) + " keys, which are loaded)" : "";
    Lose("its snapshot cannot be loaded: " + result.problem + loaded + "; the next attempt is in " +
             std::to_string(pause_ms_ / kMsPerSecond) + " s",
         now);
  } catch (const std::bad_alloc&) {
    Lose("its snapshot cannot be loaded", now);
  }
  retry_mono_ms_ = now.mono_ms + pause_ms_;
}

void MasterLink::Lose(std::string_view why, Now now, bool keeps_history) noexcept {
  LogLoss(why, now);
  if (handover_ == Handover::kToAsk) return TellOfHandover(/*is_master=*/false, now);
  if (!keeps_history) {
    figures_.history.clear();
    Replicas::Of(server_).Forget(now);
  }
  Drop();
  commands_.Cut();
  retry_mono_ms_ = now.mono_ms + kRetryMs;
  Become(State::kConnect, now);
}

}  // namespace mayfly
