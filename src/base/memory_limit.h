// The memory that this process may use: the base of `maxmemory auto` and `maxmemory 75%`.
//
// The cgroup's limit is the smallest one from the process's own cgroup up to the root, because a parent's
// limit binds its children. Understands version 2 (memory.max) and version 1 (memory.limit_in_bytes).
// limit binds its children; version 2 (memory.max) and version 1 (memory.limit_in_bytes) are both understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mayfly {

struct MemoryLimit {
  std::optional<uint64_t> ram_bytes;     // nullopt: unknown
  std::optional<uint64_t> cgroup_bytes;  // nullopt: no limit

  // The smaller of the known limits; nullopt if none is known.
  std::optional<uint64_t> Smaller() const noexcept;
};

// Reads /proc and /sys below `root`, so that a test can provide its own files.
MemoryLimit ReadMemoryLimit(const std::string& root = "");

}  // namespace mayfly
