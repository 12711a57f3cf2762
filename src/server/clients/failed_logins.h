// Failed logins: the delay after repeated failures, and the lines for the log.
//
// Waiting. The first kAtOnce failures of a connection are answered at once: people mistype. From then on each login of the
// connection waits before the server compares the password, right or wrong, and each wait is longer. Only a right password
// ends the waiting; RESET does not. A connection thus gets about one try a second, however many logins it sends ahead.
//
// Addresses are not counted, on purpose. Before the password, clients behind one address look the same, and a client with
// the right password must not wait because of a neighbour. With immediate answers to right passwords, silence tells a
// guesser as much as an error does: the guesser leaves and connects anew, and a delay does not help. The price of guessing
// is a new connection for every few tries, and the log reports the failures.
//
// The log. The first failure is reported at once. Later failures are summed up, one line in kLogMs; the last sum is reported
// at the end of kLogMs, even without a further failure.
//
// Loop thread only. Times are monotonic ms.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/log/log.h"
#include "base/log/log_throttle.h"
#include "server/clients/session.h"
#include "server/hubs/alarms.h"

namespace mayfly {

class FailedLogins final : private Alarms::Alarm {
 public:
  static constexpr uint64_t kNever = LogThrottle::kNever;
  // Failures in a row without a delay: enough for a mistyped password and for a library that tries HELLO first and AUTH
  // next.
  static constexpr uint32_t kAtOnce = 3;
  // A person hardly notices the first wait; the longest wait stays below the timeouts of client libraries.
  static constexpr uint64_t kFirstWaitMs = 100;
  static constexpr uint64_t kLongestWaitMs = 1000;
  static constexpr uint64_t kLogMs = 10'000;

  explicit FailedLogins(Alarms& alarms) : Alarm(alarms) {}

  // How long the next login waits after `failures` failures in a row.
  static constexpr uint64_t WaitMs(uint32_t failures) noexcept {
    if (failures < kAtOnce) return 0;
    constexpr uint32_t kMostDoublings = 10;
    return std::min(kFirstWaitMs << std::min(failures - kAtOnce, kMostDoublings), kLongestWaitMs);
  }

  // A login of `session` as `user` has failed. `log` may be null.
  void Note(Session& session, std::string_view user, uint64_t now_mono_ms, Log* log) noexcept;
  // The time of the next report; kNever if there is nothing to report.
  uint64_t NextWake() const noexcept override { return throttle_.NextReport(); }

 private:
  void OnWake(Now now, Log* log) noexcept override { Report(now.mono_ms, log); }
  void AtEnd(Log* log) noexcept override { Report(kNever, log); }
  // Logs the sum of unreported failures if its time has come.
  void Report(uint64_t now_mono_ms, Log* log) noexcept;

  LogThrottle throttle_{kLogMs};
};

}  // namespace mayfly
