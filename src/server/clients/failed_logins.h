// Failed logins: the delay after repeated failures, and the lines for the log.
//
// Waiting. The first kAtOnce failures of a connection are answered at once: people mistype. From then on each
// login of that connection waits before its password is looked at, whether it is right or wrong, and longer
// each time. Only a right password ends that; RESET does not. So a connection gets about one try a second,
// however many it sends ahead.
//
// Addresses are not counted, on purpose. Clients behind one address cannot be told apart before they have sent
// a password, and those with the right one are not to wait because of a neighbour. If they are let in at once,
// silence tells a guesser as much as an error does: it leaves and connects anew, and a delay does not hold it
// up. Connecting anew for every few tries is what guessing costs, and the log tells.
//
// The log. The first failure is reported at once. Those that follow are summed up, one line in kLogMs; the
// last sum is reported when that time is over, though nobody fails any more.
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
  // Failures in a row that cost nothing: enough for a mistyped password and for a library that tries HELLO
  // first and AUTH next.
  static constexpr uint32_t kAtOnce = 3;
  // A person hardly notices the first wait; the longest one stays below the timeouts of client libraries.
  static constexpr uint64_t kFirstWaitMs = 100;
  static constexpr uint64_t kLongestWaitMs = 1000;
  static constexpr uint64_t kLogMs = 10'000;

  explicit FailedLogins(Alarms& alarms) : Alarm(alarms) {}

  // How long the next login waits after that many failures in a row.
  static constexpr uint64_t WaitMs(uint32_t failures) noexcept {
    if (failures < kAtOnce) return 0;
    constexpr uint32_t kMostDoublings = 10;
    return std::min(kFirstWaitMs << std::min(failures - kAtOnce, kMostDoublings), kLongestWaitMs);
  }

  // A login of `session` as `user` has failed. `log` may be null.
  void Note(Session& session, std::string_view user, uint64_t now_mono_ms, Log* log) noexcept;
  // When something is to be reported; kNever if there is nothing.
  uint64_t NextWake() const noexcept override { return throttle_.NextReport(); }

 private:
  void OnWake(Now now, Log* log) noexcept override { Report(now.mono_ms, log); }
  void AtEnd(Log* log) noexcept override { Report(kNever, log); }
  // Reports what was not reported yet, if it is time.
  void Report(uint64_t now_mono_ms, Log* log) noexcept;

  LogThrottle throttle_{kLogMs};
};

}  // namespace mayfly
