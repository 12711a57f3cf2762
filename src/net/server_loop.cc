#include "net/server_loop.h"

#include <csignal>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "config/sources/candidate.h"
#include "config/sources/options.h"
#include "net/process/process.h"
#include "net/socket/descriptor.h"
#include "server/acl/users.h"
#include "server/clients/failed_logins.h"
#include "server/cluster/cluster.h"
#include "server/figures/incidents.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"
#include "server/waiting/parking.h"

namespace mayfly::net {
namespace {

template <typename Handle>
void CloseHandle(Handle& handle) {
  uv_close(reinterpret_cast<uv_handle_t*>(&handle), nullptr);
}

config::Problem RaiseLimitForClients(const config::Settings& wanted) {
  const auto clients = static_cast<uint64_t>(wanted.maxclients);
  const uint64_t fits = RaiseFileLimit(clients);
  if (fits == clients) return std::nullopt;
  return "The operating system is not able to handle the specified number of clients, try with " +
         std::to_string(fits);
}

}  // namespace

ServerLoop::UvLoop::UvLoop() {
  const int error = uv_loop_init(&loop);
  if (error != 0) throw std::runtime_error(std::string("cannot make an event loop: ") + uv_strerror(error));
}

ServerLoop::UvLoop::~UvLoop() { uv_loop_close(&loop); }

ServerLoop::ServerLoop(Server& server, Executor& executor, Log& log)
    : server_(server),
      log_(log),
      turn_(server, executor),
      outgoing_(uv_.loop, [this] { turn_.Begin(); }),
      tls_(server.databases.heap(), server.stats.tls_bytes, server.stats.tls),
      outgoing_by_tls_(
          uv_.loop, [this] { turn_.Begin(); }, &tls_),
      tls_account_(server.hubs.accounts, server.stats.tls_bytes),
      clients_(server, executor, turn_, log),
      listeners_(uv_.loop, log, {.plain = resp_, .tls = resp_over_tls_},
                 [this](int descriptor, Connection::Kind kind, const Service& service) {
                   clients_.Accept(uv_.loop, descriptor, kind, service);
                 }),
      timekeeper_(uv_.loop, server, executor, turn_, clients_) {
  uv_prepare_init(&uv_.loop, &prepare_);
  uv_check_init(&uv_.loop, &check_);
  uv_idle_init(&uv_.loop, &stay_awake_);
  uv_timer_init(&uv_.loop, &stop_timer_);
  uv_timer_init(&uv_.loop, &watchdog_timer_);
  uv_async_init(&uv_.loop, &signal_from_thread_, [](uv_async_t* handle) {
    auto& loop = *static_cast<ServerLoop*>(handle->data);
    loop.turn_.Begin();
    loop.server_.hubs.wakes.Tell();
  });
  signal_from_thread_.data = this;
  server.outgoing = &outgoing_;
  server.outgoing_by_tls = &outgoing_by_tls_;
  server.hubs.wakes.set_turn([this] { uv_async_send(&signal_from_thread_); });
  prepare_.data = check_.data = stop_timer_.data = watchdog_timer_.data = this;
  turn_.OnWork([this] { CallPrepare(true); });
  CallPrepare(true);
  uv_check_start(&check_, [](uv_check_t* handle) { static_cast<ServerLoop*>(handle->data)->Check(); });
  WatchSignals();
  clients_.StartWatch(uv_.loop);
  clients_.OnFullTurn([this] { EndFullTurn(); });
  FollowOptions();
  if (server.cluster != nullptr && !server.cluster->emulated())
    cluster_ = std::make_unique<ClusterReload>(server);
}

ServerLoop::~ServerLoop() {
  if (phase_ == Phase::kClosed) return;
  Close();
  Run();  // lets libuv process the closed handles
}

void ServerLoop::WatchSignals() {
  // The result of a write reports a gone client, and a gone terminal is no reason to stop.
  std::signal(SIGPIPE, SIG_IGN);
  constexpr std::array<int, 3> kWatched = {SIGTERM, SIGINT, SIGHUP};
  for (size_t i = 0; i < signals_.size(); ++i) {
    uv_signal_init(&uv_.loop, &signals_[i]);
    signals_[i].data = this;
    uv_signal_start(
        &signals_[i],
        [](uv_signal_t* handle, int number) { static_cast<ServerLoop*>(handle->data)->OnSignal(number); },
        kWatched[i]);
  }
}

config::Problem ServerLoop::Listen(std::vector<InheritedSocket> inherited) {
  const config::Settings& settings = server_.options.settings();
  LetLinger(settings);
  listeners_.Inherit(std::move(inherited));
  if (TlsTransports::Uses(settings)) {
    if (config::Problem problem = LoadTls(settings)) return problem;
    tls_.Commit();
  }
  if (config::Problem problem = listeners_.Open(settings)) return problem;
  WarnIfOpen();
  if (config::Problem problem = ListenForObservers()) return problem;
  return listeners_.CheckInherited();
}

config::Problem ServerLoop::ListenFor(const Service& service, const std::string& host, uint16_t port) {
  return listeners_.OpenFor(service, {.host = host}, port,
                            static_cast<int>(server_.options.settings().tcp_backlog));
}

config::Problem ServerLoop::ListenForObservers() {
  const config::Settings& settings = server_.options.settings();
  if (settings.metrics_port == 0) return std::nullopt;
  http_ = std::make_unique<const HttpService>(server_);
  for (const config::BindAddress& address : settings.metrics_bind) {
    const auto port = static_cast<uint16_t>(settings.metrics_port);
    if (config::Problem problem =
            listeners_.OpenFor(*http_, address, port, static_cast<int>(settings.tcp_backlog)))
      return problem;
  }
  return std::nullopt;
}

// ---- CONFIG SET

void ServerLoop::FollowOptions() {
  using config::Settings;
  config::Options& options = server_.options;
  options.Follow([this](const Settings&) { clients_.LookAtAll(); }, &Settings::timeout_seconds,
                 &Settings::client_output_buffer_limit);
  options.Follow([this](const Settings& settings) { log_.set_least(LevelOf(settings.loglevel)); },
                 &Settings::loglevel);
  options.Prepare({.prepare = RaiseLimitForClients}, &Settings::maxclients);
  options.Follow([this](const Settings& settings) { LetLinger(settings); }, &Settings::maxclients);
  options.Prepare({.prepare = [this](const Settings& wanted) { return PrepareTls(wanted); },
                   .adopt = [this] { tls_.Commit(); },
                   .drop = [this] { tls_.Abandon(); }},
                  &Settings::tls_port, &Settings::tls_cert_file, &Settings::tls_key_file,
                  &Settings::tls_key_file_pass, &Settings::tls_client_cert_file,
                  &Settings::tls_client_key_file, &Settings::tls_client_key_file_pass,
                  &Settings::tls_replication, &Settings::tls_cluster, &Settings::tls_dh_params_file,
                  &Settings::tls_ca_cert_file, &Settings::tls_ca_cert_dir, &Settings::tls_auth_clients,
                  &Settings::tls_protocols, &Settings::tls_ciphers, &Settings::tls_ciphersuites,
                  &Settings::tls_prefer_server_ciphers, &Settings::tls_session_caching,
                  &Settings::tls_session_cache_size, &Settings::tls_session_cache_timeout_seconds);
  FollowAddresses();
  // The listeners' candidate calls WarnIfOpen, too.
  options.Follow([this](const Settings&) { WarnIfOpen(); }, &Settings::requirepass, &Settings::protected_mode,
                 &Settings::tls_auth_clients);
}

// Whichever of port, tls-port and bind is named first opens the sockets for all of them. So the error names that one, as in
// Redis, but no port that stays the same.
void ServerLoop::FollowAddresses() {
  using config::Settings;
  config::Options& options = server_.options;
  config::Candidate listeners{.prepare = {},
                              .adopt =
                                  [this] {
                                    listeners_.Commit();
                                    WarnIfOpen();
                                  },
                              .drop = [this] { listeners_.Abandon(); }};
  for (int64_t Settings::* const port : {&Settings::port, &Settings::tls_port}) {
    listeners.prepare = [this, port, &now = options.settings()](const Settings& wanted) -> config::Problem {
      if (wanted.*port == now.*port || PrepareListeners(wanted)) return std::nullopt;
      return "Unable to listen on this port. Check server logs.";
    };
    options.Prepare(config::Candidate(listeners), port);
  }
  listeners.prepare = [this](const Settings& wanted) -> config::Problem {
    if (PrepareListeners(wanted)) return std::nullopt;
    return "Failed to bind to specified addresses.";
  };
  options.Prepare(std::move(listeners), &Settings::bind);
}

void ServerLoop::LetLinger(const config::Settings& settings) noexcept {
  clients_.set_lingering_max(LingeringThatFit(FileLimit(), static_cast<uint64_t>(settings.maxclients)));
}

void ServerLoop::WarnIfOpen() noexcept {
  const config::Settings& settings = server_.options.settings();
  const bool by_tls = settings.tls_auth_clients != config::TlsAuthClients::kYes;
  const bool no_login = server_.users.Newcomer() != nullptr && !settings.protected_mode;
  const bool open = no_login && listeners_.ReachedByOthers(by_tls);
  if (open && !open_to_all_)
    log_.Warning(
        "everybody who reaches this machine may use this server: there is no password, and protected-mode is "
        "off; requirepass sets a password");
  open_to_all_ = open;
}

config::Problem ServerLoop::LoadTls(const config::Settings& settings) {
  config::Problem problem = tls_.Prepare(settings);
  if (problem) return problem;
  for (const std::string& warning : tls_.Warnings(turn_.now().wall_ms / kMsPerSecond)) log_.Warning(warning);
  return std::nullopt;
}

config::Problem ServerLoop::PrepareTls(const config::Settings& wanted) {
  if (!TlsTransports::Uses(wanted)) return std::nullopt;
  const config::Problem problem = LoadTls(wanted);
  if (!problem) return std::nullopt;
  log_.Warning("TLS stays as it is: ", *problem);
  return "Unable to update TLS configuration. " + *problem;
}

void ServerLoop::ReloadCertificates() {
  const config::Settings& settings = server_.options.settings();
  if (!TlsTransports::Uses(settings)) return;
  if (const config::Problem problem = LoadTls(settings))
    return log_.Warning("TLS stays as it is: ", *problem);
  tls_.Commit();
  log_.Notice("the certificates were loaded again");
}

bool ServerLoop::PrepareListeners(const config::Settings& wanted) {
  if (listeners_.prepared()) return true;
  const config::Problem problem = listeners_.Prepare(wanted);
  if (problem) log_.Warning(*problem);
  return !problem;
}

void ServerLoop::ReportTo(ServiceManager& manager) {
  manager_ = &manager;
  if (manager.watchdog_ms() != 0) FeedWatchdog();
}

void ServerLoop::FeedWatchdog() {
  manager_->StillAlive();
  uv_timer_start(
      &watchdog_timer_, [](uv_timer_t* handle) { static_cast<ServerLoop*>(handle->data)->FeedWatchdog(); },
      manager_->watchdog_ms(), /*repeat=*/0);
}

void ServerLoop::Run() { uv_run(&uv_.loop, UV_RUN_DEFAULT); }

// ---- turns

void ServerLoop::FinishTurn() {
  clients_.FinishTurn();
  if (listeners_.HandOver()) clients_.FinishTurn();
}

void ServerLoop::Check() {
  FinishTurn();
  turn_.SetFinished();
  if (phase_ != Phase::kServing) return ContinueStopping();
  if (server_.shutdown_requested || stop_asked_) return StopSoon();
  const bool is_quiet = turn_.only_reads() && !staying_awake_ && !AnyLeft() && timekeeper_.HasNothingNew();
  if (is_quiet) turn_.End(/*memory_is_same=*/true);
  CallPrepare(!is_quiet);
}

bool ServerLoop::AnyLeft() const noexcept {
  return clients_.PlaintextWaits() || server_.sessions.AnyDirty() || server_.parking.AnyReady() ||
         server_.parking.AnyWoken() || server_.hubs.turn_ends.asked();
}

void ServerLoop::CallPrepare(bool on) {
  if (on == calls_prepare_ || phase_ == Phase::kClosed) return;
  calls_prepare_ = on;
  if (on)
    uv_prepare_start(&prepare_,
                     [](uv_prepare_t* handle) { static_cast<ServerLoop*>(handle->data)->Prepare(); });
  else
    uv_prepare_stop(&prepare_);
}

// Mostly nothing has happened since Check, and Check has left nothing.
void ServerLoop::Prepare() {
  const bool idle =
      turn_.finished() && phase_ == Phase::kServing && !server_.shutdown_requested && !stop_asked_;
  if (!idle || AnyLeft()) FinishTurn();
  // Tested here, too, because dropped connections are gone only now, and the poll would wait.
  if (phase_ == Phase::kFlushing && clients_.guests() == 0) EndScrapers();
  if (phase_ == Phase::kLastAnswers && clients_.count() == 0) return Close();
  timekeeper_.BeforePoll();
  // Evictions may have told subscribers of something, or woken readers of the log, after the others' replies were written.
  const bool stops =
      phase_ == Phase::kServing && (server_.shutdown_requested || stop_asked_);  // by a slice of work
  StayAwake(stops || phase_ == Phase::kLastReads || clients_.PlaintextWaits() || clients_.HandshakesWait() ||
            server_.sessions.AnyDirty() || server_.parking.AnyWoken() ||
            server_.parking.keys().AnySwapped() || server_.hubs.turn_ends.asked());
  turn_.End();
}

void ServerLoop::EndFullTurn() {
  if (phase_ != Phase::kServing) return;  // the turn ends with the poll
  FinishTurn();
  timekeeper_.CatchUp();
  Prepare();
}

void ServerLoop::StayAwake(bool on) {
  if (on == staying_awake_) return;
  staying_awake_ = on;
  if (on)
    uv_idle_start(&stay_awake_, [](uv_idle_t*) {});
  else
    uv_idle_stop(&stay_awake_);
}

// ---- the end

void ServerLoop::OnSignal(int number) {
  turn_.Begin();
  if (number == SIGHUP) return Reload();
  log_.Notice("received ", number == SIGINT ? "SIGINT" : "SIGTERM", ", stopping");
  if (phase_ != Phase::kServing) return;
  server_.stop_signal = number;
  if (may_stop_ && !may_stop_()) return;
  StopSoon();
}

// The terminal may be gone, or the log rotated: this line creates the logfile if the old file was renamed.
void ServerLoop::Reload() {
  constexpr uint64_t kNsPerUs = 1000;
  const uint64_t began_us = uv_hrtime() / kNsPerUs;  // of CLOCK_MONOTONIC, as required by systemd
  log_.Notice("received SIGHUP: the logfile is open");
  try {
    ReloadCertificates();
    if (cluster_ != nullptr) cluster_->Reload();
    if (manager_ != nullptr) manager_->Reloaded(began_us);
  } catch (const std::bad_alloc&) {
    log_.Warning("out of memory while loading anew: what was in force stays");
  }
}

// Requests that have reached this machine are still served: the next polls do not wait and bring the requests.
[[gnu::noinline, gnu::cold]] void ServerLoop::StopSoon() {
  if (phase_ != Phase::kServing) return;
  phase_ = Phase::kLastReads;
  stop_asked_ = false;
  turn_.Begin();
  last_reads_until_mono_ms_ = turn_.now().mono_ms + kLastReadsMs;
  clients_.set_stopping(true);
  listeners_.TakeWaiting(static_cast<size_t>(server_.options.settings().tcp_backlog) + 1);
  last_work_waits_ = last_work_.is_due && last_work_.is_due();
  last_work_waits_ ? listeners_.Hold() : Leave();
}

// From here on the end is certain.
void ServerLoop::Leave() {
  if (manager_ != nullptr) manager_->Stopping();
  listeners_.Stop();
}

[[gnu::noinline, gnu::cold]] void ServerLoop::ContinueStopping() {
  if (phase_ != Phase::kLastReads) return;
  turn_.Begin();
  if (turn_.now().mono_ms >= last_reads_until_mono_ms_ || !clients_.InputWaits()) StopNow();
}

void ServerLoop::StopNow() {
  clients_.EndAll();
  if (last_work_waits_) {
    clients_.FinishTurn();  // replies and ends are on their way before the work, which takes long
    const bool done = last_work_.run();
    uv_update_time(&uv_.loop);  // timers count from here, not from before the work
    turn_.Begin();
    if (!done) return ContinueServing();
    Leave();
  }
  phase_ = Phase::kFlushing;
  uv_timer_start(
      &stop_timer_, [](uv_timer_t* handle) { static_cast<ServerLoop*>(handle->data)->GiveUpClients(); },
      kStopMs, /*repeat=*/0);
}

void ServerLoop::ContinueServing() {
  phase_ = Phase::kServing;
  server_.stop_signal = 0;
  clients_.set_stopping(false);
  listeners_.Continue();
}

void ServerLoop::GiveUpClients() {
  const Clients::Undelivered lost = clients_.CountUndelivered();
  if (lost.clients != 0)
    log_.Warning(lost.clients, " clients did not read their replies in time: ", lost.bytes,
                 " bytes are lost");
  clients_.DropGuests();
}

// Scrapers get a moment to notice the end of their connections.
void ServerLoop::EndScrapers() {
  phase_ = Phase::kLastAnswers;
  listeners_.Close();
  clients_.EndScrapers();
  uv_timer_start(
      &stop_timer_, [](uv_timer_t* handle) { static_cast<ServerLoop*>(handle->data)->clients_.DropAll(); },
      kStopObserversMs, /*repeat=*/0);
}

void ServerLoop::Close() {
  phase_ = Phase::kClosed;
  server_.hubs.alarms.End(&log_);
  clients_.DropAll();
  clients_.CloseWatch();
  listeners_.Close();
  server_.outgoing = nullptr;
  outgoing_.Close();
  server_.outgoing_by_tls = nullptr;
  outgoing_by_tls_.Close();
  timekeeper_.Close();
  CloseHandle(prepare_);
  CloseHandle(check_);
  CloseHandle(stay_awake_);
  CloseHandle(stop_timer_);
  CloseHandle(watchdog_timer_);
  server_.hubs.wakes.set_turn({});
  CloseHandle(signal_from_thread_);
  for (uv_signal_t& signal : signals_) CloseHandle(signal);
}

}  // namespace mayfly::net
