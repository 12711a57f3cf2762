// How much memory this process may use: what `maxmemory auto` and `maxmemory 75%` are taken of.
//
// The cgroup's limit is the smallest one on the way from the own cgroup up to the root, since a parent's
// limit binds its children; version 2 (memory.max) and version 1 (memory.limit_in_bytes) are both understood.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace mayfly {

struct MemoryLimit {
  std::optional<uint64_t> ram_bytes;     // nothing: could not be read
  std::optional<uint64_t> cgroup_bytes;  // nothing: no limit

  // The smaller of those that are known; nothing when neither is.
  std::optional<uint64_t> Smaller() const noexcept;
};

// `root` stands before /proc and /sys, so that a test can show a tree of its own.
MemoryLimit ReadMemoryLimit(const std::string& root = "");

}  // namespace mayfly
