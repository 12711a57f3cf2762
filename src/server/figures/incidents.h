// Incidents for the log: refused writes, refused clients and closed clients. An operator should read of incidents while the
// server works.
//
// The first incident of a kind is logged at once. Later incidents are summed up, one line in kLogMs; the last sum is logged
// at the end of kLogMs, even without a further incident.
//
// Refused writes are a state. The log says when the state begins and when the state ends: there is room, and no write has
// been refused for kCalmMs. A server at its limit, with room for some writes and not for others, thus logs two lines in all
// and not two for each write.
//
// Allocates no memory, because there may be none. Loop thread only. Times are monotonic ms.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/log/log.h"
#include "base/log/log_throttle.h"
#include "server/hubs/alarms.h"

namespace mayfly {

class Incidents final : private Alarms::Alarm {
 public:
  enum class Kind : uint8_t {
    kTooManyClients,  // refused because of maxclients
    kProtected,       // refused because of protected-mode
    kHttp,            // closed because the client speaks HTTP
    kUnreadReplies,   // closed because of a limit on output
    kLongRequest,     // closed because of client-query-buffer-limit
    kHandshake,       // closed because its handshake failed or was not finished in time
    kClientMemory,    // closed because of maxmemory-clients
    kOnlyExempt,      // not closed: clients after CLIENT NO-EVICT hold maxmemory-clients
    kNoMemory,        // a request or a client for which an allocation failed
  };
  static constexpr size_t kKinds = 9;
  static constexpr uint64_t kNever = LogThrottle::kNever;
  static constexpr uint64_t kLogMs = 10'000;
  static constexpr uint64_t kCalmMs = 10'000;

  explicit Incidents(Alarms& alarms) : Alarm(alarms) {}

  // An incident has happened; `pieces` are the line, as for Log::Warning. `log` may be null.
  template <typename... Pieces>
  void Tell(Kind kind, uint64_t now_mono_ms, Log* log, const Pieces&... pieces) noexcept {
    const uint64_t times = throttles_[static_cast<size_t>(kind)].Note(now_mono_ms);
    FindNextReport();
    if (times == 0 || log == nullptr) return;
    if (times == 1) return log->Warning(pieces...);
    log->Warning(pieces..., " (and ", times - 1, " more before)");
  }

  // A write was refused, while `used` bytes of `most` are used.
  void TellRefusedWrite(uint64_t now_mono_ms, Log* log, uint64_t used, uint64_t most) noexcept;
  // True while the state of refused writes lasts.
  bool refuses_writes() const noexcept { return refused_writes_ != 0; }
  // Called in each turn while writes are refused. `has_room`: a write would find room now.
  void LookForRoom(uint64_t now_mono_ms, Log* log, bool has_room) noexcept;

  // The time of the next sum, or of work for LookForRoom; kNever if there is neither.
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) noexcept override { Report(now.mono_ms, log); }

 private:
  void AtEnd(Log* log) noexcept override { Report(kNever, log); }
  // Logs the sums with a passed time.
  void Report(uint64_t now_mono_ms, Log* log) noexcept;
  void FindNextReport() noexcept;

  std::array<LogThrottle, kKinds> throttles_{LogThrottle(kLogMs), LogThrottle(kLogMs), LogThrottle(kLogMs),
                                             LogThrottle(kLogMs), LogThrottle(kLogMs), LogThrottle(kLogMs),
                                             LogThrottle(kLogMs), LogThrottle(kLogMs), LogThrottle(kLogMs)};
  uint64_t next_report_mono_ms_ = kNever;
  uint64_t refused_writes_ = 0;  // since the state began
  uint64_t refusing_since_mono_ms_ = 0;
  uint64_t last_refused_mono_ms_ = 0;
  bool waits_for_room_ = false;  // kCalmMs are over: the first turn with room ends the state
};

}  // namespace mayfly
