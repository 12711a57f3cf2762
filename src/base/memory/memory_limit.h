// The memory that this process may use, from RAM and cgroup: the base of `maxmemory auto` and `maxmemory 75%`.
//
// The cgroup's limit is the smallest one from the process's own cgroup up to the root, because a parent's
// limit binds its children. Understands version 2 (memory.max) and version 1 (memory.limit_in_bytes).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mayfly {

struct MemoryLimit {
  std::optional<uint64_t> ram_bytes;     // nullopt: unknown
  std::optional<uint64_t> cgroup_bytes;  // nullopt: no limit

  // The smaller of the known limits; nullopt if none is known.
  std::optional<uint64_t> Smaller() const noexcept;
};

// The files of /proc and /sys with the limits. The files are found once, because finding takes a lock of all cgroups in the
// kernel. Reading the files again takes no such lock.
class MemoryLimitFiles {
 public:
  // Finds the files below `root`; a test can provide files of its own.
  explicit MemoryLimitFiles(const std::string& root = "");

  // The present limits. Returns nullopt if a file cannot be opened for a passing reason, such as too many open files: an
  // unread limit must not count as no limit. Throws std::bad_alloc.
  std::optional<MemoryLimit> Read() const;

 private:
  // Adds `file` of `cgroup` and of its parents.
  void AddUpwards(const std::string& mount, std::string cgroup, const char* file);

  std::string meminfo_;
  std::vector<std::string> of_cgroups_;  // some files may not exist
};

// Finds the files and reads them once. After a failure no limit is known.
MemoryLimit ReadMemoryLimit(const std::string& root = "");

}  // namespace mayfly
