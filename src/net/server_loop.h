// The libuv loop of a server: listeners, clients, time and signals, wired into turns.
//
//   poll -> reads, writes, arrivals, signals -> check: FinishTurn
//        -> timers, slices -> prepare: FinishTurn, BeforePoll -> poll ...
//
// Replies are written in `check` for what I/O brought, and in `prepare` for what time brought: one write per
// connection and turn. One poll of libuv's may bring reads of tens of thousands of clients. Then it is several turns: when
// one has read as much as the loop's buffer takes, it ends (EndFullTurn), and the next one begins within the same poll. Ends on SIGTERM, SIGINT or when Server::shutdown_requested is set: what has been
// received is run, replies are written and every connection lingers, at most kStopMs, then every handle is
// closed. The metrics port answers until the clients are gone, so that whoever asks sees that the server stops. Loop thread only; one loop per server.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <uv.h>

#include "base/log/log.h"
#include "config/problem.h"
#include "exec/cluster/cluster_reload.h"
#include "net/client/clients.h"
#include "net/client/listener.h"
#include "net/client/resp_client.h"
#include "net/client/service.h"
#include "net/client/turn.h"
#include "net/http/http_service.h"
#include "net/process/service_manager.h"
#include "net/timekeeper.h"
#include "net/tls/tls_transports.h"

namespace mayfly::net {

class ServerLoop {
 public:
  // Borrows the parts. Throws std::runtime_error if the loop cannot be made.
  ServerLoop(Server& server, Executor& executor, Log& log);
  ServerLoop(const ServerLoop&) = delete;
  ServerLoop& operator=(const ServerLoop&) = delete;
  ~ServerLoop();

  // Opens the listeners; on a problem (one line for a person) the loop can only be destroyed.
  [[nodiscard]] config::Problem Listen();
  // Opens another TCP address, for a service of its own, which must outlive this. A problem is one line for a person.
  [[nodiscard]] config::Problem ListenFor(const Service& service, const std::string& host, uint16_t port);
  // Tells this service manager of reloads, of the end and, if it asks for that, that the loop still turns. Borrowed.
  void ReportTo(ServiceManager& manager);
  std::vector<std::string> listening_on() const { return listeners_.names(); }
  // Serves until a signal or a client stops it.
  void Run();

 private:
  // kLastReads: no new connections; what has arrived is still run. kFlushing: replies are written, and
  // connections linger. kLastAnswers: only observers (net/client/service.h) are left, who are served until then.
  enum class Phase : uint8_t { kServing, kLastReads, kFlushing, kLastAnswers, kClosed };

  // A loop that is closed when everything that lives on it is gone.
  struct UvLoop {
    UvLoop();
    ~UvLoop();
    uv_loop_t loop;
  };

  // Opens the metrics port, if there is to be one.
  config::Problem ListenForObservers();
  // CONFIG SET: what has to be made ready before this option is in force.
  config::Problem BeforeSet(const config::Settings& wanted, std::string_view name);
  // Of port, tls-port or bind.
  config::Problem PrepareListeners(const config::Settings& wanted, std::string_view name);
  // Of any option of TLS.
  config::Problem LoadTls(const config::Settings& settings);
  config::Problem PrepareTls(const config::Settings& wanted);
  void AfterSet(bool accepted) noexcept;
  // Logs a warning when everybody who reaches a port may use the server from now on.
  void WarnIfOpen() noexcept;
  // SIGHUP.
  void ReloadCertificates();
  void FinishTurn();
  void Check();
  void Prepare();
  // Ends the turn in the middle of a poll: replies are written, and what is due by now is done.
  void EndFullTurn();
  void OnSignal(int number);
  void Reload();
  void FeedWatchdog();
  void StopSoon();
  void GoOnStopping();
  void StopNow();
  void GiveUpClients();
  void EndObservers();
  void Close();
  void WatchSignals();
  // The next poll does not wait.
  void StayAwake(bool on);

  Server& server_;
  Log& log_;
  UvLoop uv_;
  Turn turn_;
  TlsTransports tls_;
  const Accounts::Account tls_account_;
  Clients clients_;
  const RespService resp_;
  const RespService resp_over_tls_{&tls_};
  std::unique_ptr<const HttpService> http_;  // null: no metrics port
  std::unique_ptr<ClusterReload> cluster_;   // null: no cluster with a file
  Listeners listeners_;
  Timekeeper timekeeper_;
  uv_prepare_t prepare_;
  uv_check_t check_;
  uv_idle_t stay_awake_;
  uv_timer_t stop_timer_;
  uv_timer_t watchdog_timer_;
  ServiceManager* manager_ = nullptr;
  std::array<uv_signal_t, 3> signals_;
  bool staying_awake_ = false;
  bool open_to_all_ = false;  // WarnIfOpen has said so
  uint64_t last_reads_until_mono_ms_ = 0;
  Phase phase_ = Phase::kServing;
};

}  // namespace mayfly::net
