// The libuv loop of a server: listeners, clients, time and signals, wired into turns.
//
//   poll -> reads, writes, arrivals, signals -> check: FinishTurn
//        -> timers, slices -> prepare: FinishTurn, BeforePoll -> poll ...
//
// Replies are written in `check` after I/O, and in `prepare` after timers: one write per connection and turn. After a `check`
// that leaves nothing to do there is no `prepare`, unless a timer begins another turn. One poll of
// libuv may bring reads of tens of thousands of clients, and then consists of several turns: a turn that has filled the
// loop's buffer ends (EndFullTurn), and the next turn begins within the same poll. The loop ends on SIGTERM, SIGINT or when
// Server::shutdown_requested is set: received requests run, replies are written and every connection ends, the last work is
// done (a save), connections linger, at most kStopMs, then every handle is closed. The metrics port answers until the clients
// are gone, to show that the server stops.
//
// Clients learn of the end before the last work, so that none sends a request to a server that will not answer. They come
// again and wait in the kernel's queues. If the work fails the loop goes on, and they are accepted. If not, those at an
// inherited socket wait for the next daemon, and the others' connections are closed.
// Loop thread only; one loop per server.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
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
#include "net/outgoing_connections.h"
#include "net/process/inherited_sockets.h"
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

  // What has to be done when the received requests have run, and clients were told of the end. No client is served meanwhile.
  struct LastWork {
    std::function<bool()> is_due;
    std::function<bool()> run;  // false: the server must not stop
  };
  void BeforeEnd(LastWork work) { last_work_ = std::move(work); }
  // Called when a signal tells the server to stop. False: it goes on serving until Stop, or for good.
  void BeforeStop(std::function<bool()> may_stop) { may_stop_ = std::move(may_stop); }
  // Stops as after a signal, at the end of the turn.
  void Stop() noexcept { stop_asked_ = true; }
  // Opens the listeners, with these sockets of a service manager's; after a problem (one line for a person) the loop can only be destroyed.
  [[nodiscard]] config::Problem Listen(std::vector<InheritedSocket> inherited = {});
  // Opens another TCP address for a separate service. The service must outlive the loop. A problem is one line for a person.
  [[nodiscard]] config::Problem ListenFor(const Service& service, const std::string& host, uint16_t port);
  // Reports to this service manager: reloads, the end and, if the manager wants signs of life, that the loop still turns.
  // Borrowed.
  void ReportTo(ServiceManager& manager);
  std::vector<std::string> listening_on() const { return listeners_.names(); }
  // Serves until a signal or a client stops it.
  void Run();

 private:
  // kLastReads: no new connections; received requests still run. kFlushing: replies are written, and connections linger.
  // kLastAnswers: only scrapers (net/client/service.h) are left and are still served.
  enum class Phase : uint8_t { kServing, kLastReads, kFlushing, kLastAnswers, kClosed };

  // A loop that is closed when all its handles are gone.
  struct UvLoop {
    UvLoop();
    ~UvLoop();
    uv_loop_t loop;
  };

  // Opens the metrics port, if configured.
  config::Problem ListenForObservers();
  // Does what CONFIG SET says from now on.
  void FollowOptions();
  void FollowAddresses();
  // False if they cannot be opened, and the log says why.
  bool PrepareListeners(const config::Settings& wanted);
  // Of any option of TLS.
  config::Problem LoadTls(const config::Settings& settings);
  config::Problem PrepareTls(const config::Settings& wanted);
  // As many connections linger as maxclients leaves descriptors for.
  void LetLinger(const config::Settings& settings) noexcept;
  // Logs a warning when everybody who reaches a port may use the server from now on.
  void WarnIfOpen() noexcept;
  // SIGHUP.
  void ReloadCertificates();
  void FinishTurn();
  void Check();
  void Prepare();
  // Something waits for FinishTurn.
  bool AnyLeft() const noexcept;
  // Prepare is called before the next polls, or is not.
  void CallPrepare(bool on);
  // Ends the turn in the middle of a poll: replies are written, and due work is done.
  void EndFullTurn();
  void OnSignal(int number);
  void Reload();
  void FeedWatchdog();
  void StopSoon();
  void Leave();
  void ContinueStopping();
  void StopNow();
  // The last work has failed.
  void ContinueServing();
  void GiveUpClients();
  void EndScrapers();
  void Close();
  void WatchSignals();
  // The next poll does not wait.
  void StayAwake(bool on);

  Server& server_;
  Log& log_;
  UvLoop uv_;
  Turn turn_;
  OutgoingConnections outgoing_;
  TlsTransports tls_;
  OutgoingConnections outgoing_by_tls_;
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
  uv_async_t signal_from_thread_;
  ServiceManager* manager_ = nullptr;
  std::array<uv_signal_t, 3> signals_;
  bool staying_awake_ = false;
  bool calls_prepare_ = false;
  bool open_to_all_ = false;  // WarnIfOpen has warned
  uint64_t last_reads_until_mono_ms_ = 0;
  std::function<bool()> may_stop_;  // empty: always
  bool stop_asked_ = false;
  LastWork last_work_;  // empty functions: none
  bool last_work_waits_ = false;
  Phase phase_ = Phase::kServing;
};

}  // namespace mayfly::net
