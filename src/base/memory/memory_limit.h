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

// The files of /proc and /sys that hold these limits. They are found once, because the kernel takes a lock of all
// cgroups for that. Reading them again takes no such lock.
class MemoryLimitFiles {
 public:
  // Finds them below `root`, so that a test can provide its own files.
  explicit MemoryLimitFiles(const std::string& root = "");

  // What they hold now. Nothing if a file cannot be opened for a reason that passes, such as too many open files: a
  // limit that is not seen must not count as none. Throws std::bad_alloc.
  std::optional<MemoryLimit> Read() const;

 private:
  // Adds `file` of `cgroup` and of its parents.
  void AddUpwards(const std::string& mount, std::string cgroup, const char* file);

  std::string meminfo_;
  std::vector<std::string> of_cgroups_;  // some of them may not exist
};

// Finds the files and reads them once. If that is not possible, nothing is known.
MemoryLimit ReadMemoryLimit(const std::string& root = "");

}  // namespace mayfly
