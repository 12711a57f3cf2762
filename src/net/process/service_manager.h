// Reports the state of the daemon to the service manager (option `supervised`).
//
// systemd's protocol is one datagram of NAME=value lines to the socket in the variable NOTIFY_SOCKET: READY=1 when clients
// are served, RELOADING=1 and READY=1 around a reload, STOPPING=1 at the end, STATUS= for people, and WATCHDOG=1 at least
// every WATCHDOG_USEC microseconds if set. systemd's own library is libsystemd; one datagram is not worth another library
// loaded at each start, so this file writes the datagram itself. Upstart's protocol: the daemon stops itself with SIGSTOP
// when ready.
//
// If the option is `no`, or the manager's variable is missing, each call does nothing. Loop thread only.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/log/log.h"
#include "config/settings.h"

namespace mayfly::net {

class ServiceManager {
 public:
  static constexpr uint64_t kSaveS = 3600;

  // The variables are "NAME=value" texts. Borrows the log, and warns there if the option names an absent manager.
  ServiceManager(config::Supervised wanted, std::span<const std::string> environment, pid_t pid, Log& log);
  ServiceManager(const ServiceManager&) = delete;
  ServiceManager& operator=(const ServiceManager&) = delete;

  // Clients are served from now on. Under Upstart, returns when Upstart lets the daemon go on.
  void Ready();
  // A reload has begun at `began_us` of CLOCK_MONOTONIC, and has ended.
  void Reloaded(uint64_t began_us);
  void Stopping();
  // The daemon saves before its end, for kSaveS at most: systemd, which may have given the order, waits. The loop need not turn
  // meanwhile.
  void SavingAtEnd();
  // The save has failed, and clients are served again.
  void ServingAgain();
  void StillAlive();
  // The time between calls of StillAlive: half of the manager's time. 0: the manager wants no calls.
  uint64_t watchdog_ms() const noexcept { return watchdog_ms_; }

 private:
  void Tell(std::string_view text, unsigned patience_s = 1);

  Log& log_;
  std::string socket_;  // empty: systemd does not listen
  bool upstart_ = false;
  uint64_t watchdog_ms_ = 0;
};

}  // namespace mayfly::net
