#include "net/process/stop_deadline.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <climits>
#include <utility>

#include "base/log/log_time.h"

namespace mayfly::net {
namespace {

constexpr int kSignals[] = {SIGTERM, SIGINT};
constexpr size_t kSignalCount = sizeof kSignals / sizeof *kSignals;

// The state for the handlers. Static, because a handler has no argument for data.
struct Deadline {
  std::string logfile;
  LogTime times;
  unsigned seconds = 0;
  bool begun = false;
  bool held = false;
  const CrashDetails* details = nullptr;
  struct sigaction inner[kSignalCount];  // the handlers before Watch
};
Deadline* deadline = nullptr;

void StartAlarm() noexcept {
  if (deadline->held || std::exchange(deadline->begun, true)) return;
  alarm(deadline->seconds);
}

void OnStop(int number) noexcept {
  StartAlarm();
  const auto* const found = std::find(kSignals, kSignals + kSignalCount, number);
  deadline->inner[found - kSignals].sa_handler(number);
}

// The daemon may hold any lock, so the handler uses only the functions of a crash report.
void OnAlarm(int) noexcept {
  const int log = OpenLogInHandler(deadline->logfile);
  CrashText text(log, log == STDOUT_FILENO ? -1 : STDERR_FILENO);
  AppendLogHead(text, deadline->times);
  text.Line(
      "the daemon was told to stop ", deadline->seconds,
      " s ago and has not stopped (shutdown-timeout): it ends now, without writing what clients wait for");
  if (deadline->details != nullptr) deadline->details->Append(text);
  _exit(StopDeadline::kExitCode);
}

}  // namespace

StopDeadline::StopDeadline(std::string logfile, int64_t seconds) {
  assert(deadline == nullptr);
  deadline = new Deadline{.logfile = std::move(logfile), .times = LogTime(time(nullptr)), .inner = {}};
  set_seconds(seconds);
  struct sigaction action{};
  action.sa_handler = OnAlarm;
  action.sa_flags = SA_ONSTACK;  // a script may have used up its stack
  sigfillset(&action.sa_mask);
  sigaction(SIGALRM, &action, nullptr);
}

StopDeadline::~StopDeadline() {
  alarm(0);
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction now{};
    if (sigaction(kSignals[i], nullptr, &now) == 0 && now.sa_handler == OnStop)
      sigaction(kSignals[i], &deadline->inner[i], nullptr);
  }
  delete std::exchange(deadline, nullptr);
}

void StopDeadline::set_seconds(int64_t seconds) noexcept {
  deadline->seconds = static_cast<unsigned>(std::clamp<int64_t>(seconds, 1, INT_MAX));
}

void StopDeadline::Watch(const CrashDetails& details) noexcept {
  deadline->details = &details;
  for (size_t i = 0; i < kSignalCount; ++i) {
    struct sigaction& inner = deadline->inner[i];
    sigaction(kSignals[i], nullptr, &inner);
    assert(inner.sa_handler != SIG_DFL && inner.sa_handler != SIG_IGN);
    struct sigaction action = inner;
    action.sa_handler = OnStop;
    sigaction(kSignals[i], &action, nullptr);
  }
}

void StopDeadline::Hold() noexcept {
  deadline->held = true;
  deadline->begun = false;
  alarm(0);
}

void StopDeadline::Continue() noexcept { deadline->held = false; }

void StopDeadline::Restart() noexcept {
  Hold();
  Continue();
  StartAlarm();
}

void StopDeadline::Begin() noexcept {
  deadline->details = nullptr;
  StartAlarm();
}

}  // namespace mayfly::net
