// Notices a change of the memory limit of this process, by cgroup or machine. The cgroup's limit changes by `docker
// update` or when a pod is resized in place. Then `maxmemory auto` and percentages are computed again, and
// ResidentGuard keeps below the new limit.
//
// Linux reports no such change, so the files are read again: in turns that the loop makes anyway, at most once in
// kSpacingMs; an idle server is not woken for a reading. If the limit cannot be read for now, the last limit stays in force.
// Loop thread only.
#pragma once

#include <cstdint>

#include "base/memory/memory_limit.h"
#include "config/sources/options.h"

namespace mayfly {

class Log;
class ResidentGuard;

class MemoryWatch {
 public:
  static constexpr uint64_t kSpacingMs = 5'000;

  // Borrows options, resident and log; log may be null.
  MemoryWatch(MemoryLimitFiles files, config::Options& options, ResidentGuard& resident, Log* log,
              uint64_t now_mono_ms);

  bool Due(uint64_t now_mono_ms) const noexcept { return now_mono_ms >= next_look_mono_ms_; }
  void Look(uint64_t now_mono_ms) noexcept {
    if (Due(now_mono_ms)) [[unlikely]]
      ReadAgain(now_mono_ms);
  }

 private:
  void ReadAgain(uint64_t now_mono_ms) noexcept;

  const MemoryLimitFiles files_;
  config::Options& options_;
  ResidentGuard& resident_;
  Log* const log_;
  uint64_t next_look_mono_ms_;
};

// One line for the log: the value of maxmemory, and its base.
std::string DescribeMaxMemory(const config::MaxMemory& maxmemory, uint64_t memory_bytes);

}  // namespace mayfly
