#include "base/memory/memory_limit.h"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string_view>

#include "base/text/numbers.h"

namespace mayfly {
namespace {

// Version 1 reports "no limit" as the largest multiple of a page. No real limit comes near it.
constexpr uint64_t kNoLimit = 1ULL << 60;

// Returns false if the file cannot be opened now, but perhaps later. A missing or forbidden file counts as empty.
bool Open(const std::string& path, std::ifstream& file) {
  errno = 0;
  file.open(path);
  if (file.is_open()) return true;
  return errno != EMFILE && errno != ENFILE && errno != ENOMEM && errno != EINTR && errno != EIO;
}

bool ReadRam(const std::string& path, std::optional<uint64_t>& bytes) {
  std::ifstream file;
  if (!Open(path, file)) return false;
  std::string name;
  std::string amount;
  std::string rest;
  while (file >> name >> amount && std::getline(file, rest)) {
    if (name != "MemTotal:") continue;
    const std::optional<uint64_t> kilobytes = ParseUnsigned(amount);
    if (kilobytes && *kilobytes <= kNoLimit / 1024) bytes = *kilobytes * 1024;
    break;
  }
  return true;
}

// Lowers `limit` to the limit in the file.
bool ReadLimit(const std::string& path, std::optional<uint64_t>& limit) {
  std::ifstream file;
  if (!Open(path, file)) return false;
  std::string text;
  if (!std::getline(file, text)) return true;
  const std::optional<uint64_t> bytes = ParseUnsigned(text);  // "max" is not a number: no limit
  if (bytes && *bytes < kNoLimit) limit = limit ? std::min(*limit, *bytes) : *bytes;
  return true;
}

}  // namespace

std::optional<uint64_t> MemoryLimit::Smaller() const noexcept {
  if (ram_bytes && cgroup_bytes) return std::min(*ram_bytes, *cgroup_bytes);
  return ram_bytes ? ram_bytes : cgroup_bytes;
}

MemoryLimitFiles::MemoryLimitFiles(const std::string& root) : meminfo_(root + "/proc/meminfo") {
  std::ifstream file(root + "/proc/self/cgroup");
  std::string line;  // "0::/path" (version 2) or "7:cpu,memory:/path" (version 1)
  while (std::getline(file, line)) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    std::string controllers = line.substr(first, second - first + 1);  // with a colon at both ends
    std::replace(controllers.begin(), controllers.end(), ':', ',');
    const std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      AddUpwards(root + "/sys/fs/cgroup", path, "memory.max");
    } else if (controllers.find(",memory,") != std::string::npos) {
      AddUpwards(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
    }
  }
}

// Inside a container the path may be the host's path and missing here. Then the walk ends at the root of the mount, the
// container's cgroup.
void MemoryLimitFiles::AddUpwards(const std::string& mount, std::string cgroup, const char* file) {
  if (cgroup.find("..") != std::string::npos) cgroup.clear();  // outside our cgroup namespace
  while (!cgroup.empty() && cgroup.back() == '/') cgroup.pop_back();
  for (;;) {
    of_cgroups_.push_back(mount + cgroup + "/" + file);
    if (cgroup.empty()) return;
    const size_t slash = cgroup.rfind('/');
    cgroup.resize(slash == std::string::npos ? 0 : slash);
  }
}

std::optional<MemoryLimit> MemoryLimitFiles::Read() const {
  MemoryLimit limit;
  if (!ReadRam(meminfo_, limit.ram_bytes)) return std::nullopt;
  for (const std::string& path : of_cgroups_) {
    if (!ReadLimit(path, limit.cgroup_bytes)) return std::nullopt;
  }
  return limit;
}

MemoryLimit ReadMemoryLimit(const std::string& root) {
  return MemoryLimitFiles(root).Read().value_or(MemoryLimit{});
}

}  // namespace mayfly
