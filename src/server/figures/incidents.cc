#include "server/figures/incidents.h"

#include <algorithm>
#include <string_view>

#include "base/time/clock.h"

namespace mayfly {
namespace {

constexpr std::array<std::string_view, Incidents::kKinds> kSums = {
    "clients refused because of maxclients",
    "clients refused because of protected-mode",
    "clients closed because they speak HTTP",
    "clients closed because of unread replies",
    "clients closed because of client-query-buffer-limit",
    "clients closed because of their TLS handshake",
    "clients closed because of maxmemory-clients",
    "turns in which maxmemory-clients was exceeded by clients with CLIENT NO-EVICT alone",
    "requests or clients for which there was no memory",
};

}  // namespace

void Incidents::TellRefusedWrite(uint64_t now_mono_ms, Log* log, uint64_t used, uint64_t most) noexcept {
  last_refused_mono_ms_ = now_mono_ms;
  waits_for_room_ = false;
  if (refused_writes_++ != 0) return;
  refusing_since_mono_ms_ = now_mono_ms;
  if (log == nullptr) return;
  log->Warning("writes are refused (OOM): keys and values take ", used, " bytes of ", most,
               ", and maxmemory-policy finds nothing to evict");
}

void Incidents::LookForRoom(uint64_t now_mono_ms, Log* log, bool has_room) noexcept {
  if (refused_writes_ == 0 || now_mono_ms - last_refused_mono_ms_ < kCalmMs) return;
  waits_for_room_ = !has_room;
  if (!has_room) return;
  const uint64_t seconds = (last_refused_mono_ms_ - refusing_since_mono_ms_) / kMsPerSecond;
  if (log != nullptr)
    log->Warning("writes are accepted again: ", refused_writes_, " were refused within ", seconds,
                 " seconds");
  refused_writes_ = 0;
}

void Incidents::Report(uint64_t now_mono_ms, Log* log) noexcept {
  if (now_mono_ms < next_report_mono_ms_) return;
  for (size_t kind = 0; kind < kKinds; ++kind) {
    const uint64_t times = throttles_[kind].Due(now_mono_ms);
    if (times != 0 && log != nullptr) log->Warning(kSums[kind], ": ", times, " more");
  }
  FindNextReport();
}

uint64_t Incidents::NextWake() const noexcept {
  const bool looks = refused_writes_ != 0 && !waits_for_room_;
  return std::min(next_report_mono_ms_, looks ? last_refused_mono_ms_ + kCalmMs : kNever);
}

void Incidents::FindNextReport() noexcept {
  next_report_mono_ms_ = kNever;
  for (const LogThrottle& throttle : throttles_)
    next_report_mono_ms_ = std::min(next_report_mono_ms_, throttle.NextReport());
}

}  // namespace mayfly
