#include "net/process/service_manager.h"

#include <algorithm>
#include <csignal>
#include <cstring>
#include <optional>

#include "base/text/numbers.h"
#include "net/socket/descriptor.h"

namespace mayfly::net {
namespace {

// The value of a variable; nothing if unset or empty.
std::optional<std::string> Find(std::span<const std::string> environment, std::string_view name) {
  for (const std::string& variable : environment) {
    if (!variable.starts_with(name) || variable.size() <= name.size() + 1 || variable[name.size()] != '=')
      continue;
    return variable.substr(name.size() + 1);
  }
  return std::nullopt;
}

constexpr uint64_t kUsPerS = 1'000'000;
constexpr uint64_t kUsPerHalfMs = 2000;

uint64_t ReadWatchdogMs(std::span<const std::string> environment, pid_t pid) {
  const std::optional<std::string> whom = Find(environment, "WATCHDOG_PID");
  if (whom && ParseUnsigned(*whom) != static_cast<uint64_t>(pid)) return 0;  // for another process
  const std::optional<uint64_t> us = ParseUnsigned(Find(environment, "WATCHDOG_USEC").value_or("0"));
  if (!us || *us == 0) return 0;
  return std::max<uint64_t>(*us / kUsPerHalfMs, 1);
}

}  // namespace

ServiceManager::ServiceManager(config::Supervised wanted, std::span<const std::string> environment, pid_t pid,
                               Log& log)
    : log_(log) {
  using config::Supervised;
  const std::optional<std::string> socket = Find(environment, "NOTIFY_SOCKET");
  const bool job = Find(environment, "UPSTART_JOB").has_value();
  if (wanted == Supervised::kAuto)
    wanted = job ? Supervised::kUpstart : socket ? Supervised::kSystemd : Supervised::kNo;
  if (wanted == Supervised::kUpstart) {
    if (!job) log_.Warning("upstart supervision requested, but UPSTART_JOB not found!");
    upstart_ = job;
  } else if (wanted == Supervised::kSystemd) {
    if (!socket) log_.Warning("systemd supervision error: NOTIFY_SOCKET not found!");
    socket_ = socket.value_or("");
    if (socket) watchdog_ms_ = ReadWatchdogMs(environment, pid);
  }
}

void ServiceManager::Tell(std::string_view text, unsigned patience_s) {
  if (socket_.empty()) return;
  const int error = SendDatagram(socket_, text, patience_s);
  if (error != 0) log_.Warning("systemd supervision error: ", socket_, ": ", std::strerror(error));
}

void ServiceManager::Ready() {
  Tell("READY=1\nSTATUS=Ready to accept connections");
  if (!upstart_) return;
  log_.Notice("supervised by upstart, will stop to signal readiness.");
  std::raise(SIGSTOP);
}

void ServiceManager::Reloaded(uint64_t began_us) {
  Tell("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(began_us));
  Tell("READY=1");
}

// Of a stop that systemd has not ordered, it only needs to know that it must not miss signs of life.
void ServiceManager::SavingAtEnd() {
  const std::string us = std::to_string(kSaveS * kUsPerS);
  Tell("STATUS=Saving before the end\nEXTEND_TIMEOUT_USEC=" + us +
       (watchdog_ms_ != 0 ? "\nWATCHDOG_USEC=" + us : std::string()));
}

void ServiceManager::ServingAgain() {
  Tell(
      "STATUS=Ready to accept connections" +
      (watchdog_ms_ != 0 ? "\nWATCHDOG_USEC=" + std::to_string(watchdog_ms_ * kUsPerHalfMs) : std::string()));
}

void ServiceManager::Stopping() { Tell("STOPPING=1\nSTATUS=Stopping"); }

// Clients do not wait for a slow manager: the next sign of life follows anyway.
void ServiceManager::StillAlive() { Tell("WATCHDOG=1", 0); }

}  // namespace mayfly::net
