#include "exec/memory/memory_watch.h"

#include <new>
#include <utility>

#include "base/log/log.h"
#include "base/text/numbers.h"
#include "exec/memory/resident_guard.h"

namespace mayfly {

MemoryWatch::MemoryWatch(MemoryLimitFiles files, config::Options& options, ResidentGuard& resident, Log* log,
                         uint64_t now_mono_ms)
    : files_(std::move(files)),
      options_(options),
      resident_(resident),
      log_(log),
      next_look_mono_ms_(now_mono_ms + kSpacingMs) {}

void MemoryWatch::ReadAgain(uint64_t now_mono_ms) noexcept {
  next_look_mono_ms_ = now_mono_ms + kSpacingMs;
  try {
    const std::optional<MemoryLimit> limit = files_.Read();
    const uint64_t bytes = limit ? limit->Smaller().value_or(0) : 0;
    if (bytes == 0 || bytes == options_.memory_bytes()) return;
    resident_.SetLimit(bytes);
    options_.SetMemoryBytes(bytes);
    if (log_ == nullptr) return;
    log_->Notice("this process may now use ", FormatBytesHuman(bytes), " of memory");
    log_->Notice(DescribeMaxMemory(options_.settings().maxmemory, bytes));
  } catch (const std::bad_alloc&) {  // the next reading will tell
  }
}

std::string DescribeMaxMemory(const config::MaxMemory& maxmemory, uint64_t memory_bytes) {
  if (maxmemory.bytes == 0) return "maxmemory: no limit";
  std::string text = "maxmemory: " + FormatBytesHuman(maxmemory.bytes);
  if (maxmemory.request == config::MaxMemory::Request::kBytes) return text;
  const bool is_auto = maxmemory.request == config::MaxMemory::Request::kAuto;
  return text + " (" + (is_auto ? "auto" : std::to_string(maxmemory.amount) + " %") + " of " +
         FormatBytesHuman(memory_bytes) + ", the smaller of cgroup limit and RAM)";
}

}  // namespace mayfly
