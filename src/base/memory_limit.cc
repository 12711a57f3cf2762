#include "base/memory_limit.h"

#include <algorithm>
#include <fstream>
#include <string_view>

#include "base/numbers.h"

namespace mayfly {
namespace {

// Version 1 reports "no limit" as the largest multiple of a page. No real limit comes near it.
constexpr uint64_t kNoLimit = 1ULL << 60;

void Lower(std::optional<uint64_t>& limit, std::optional<uint64_t> other) {
  if (other && *other < kNoLimit) limit = limit ? std::min(*limit, *other) : *other;
}

std::optional<uint64_t> ReadNumber(const std::string& path) {
  std::ifstream file(path);
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  return ParseUnsigned(text);  // "max" is not a number: no limit
}

std::optional<uint64_t> ReadRam(const std::string& root) {
  std::ifstream file(root + "/proc/meminfo");
  std::string name;
  std::string amount;
  std::string rest;
  while (file >> name >> amount && std::getline(file, rest)) {
    if (name != "MemTotal:") continue;
    const std::optional<uint64_t> kilobytes = ParseUnsigned(amount);
    if (!kilobytes || *kilobytes > kNoLimit / 1024) return std::nullopt;
    return *kilobytes * 1024;
  }
  return std::nullopt;
}

// Lowers `limit` to the smallest limit in `file` of `cgroup` and its parents. Inside a container the path may
// be the host's and missing here. Then the walk ends at the root of the mount, which is the container's
// cgroup.
void WalkUp(const std::string& mount, std::string cgroup, const char* file, std::optional<uint64_t>& limit) {
  if (cgroup.find("..") != std::string::npos) cgroup.clear();  // outside our cgroup namespace
  while (!cgroup.empty() && cgroup.back() == '/') cgroup.pop_back();
  for (;;) {
    Lower(limit, ReadNumber(mount + cgroup + "/" + file));
    if (cgroup.empty()) return;
    const size_t slash = cgroup.rfind('/');
    cgroup.resize(slash == std::string::npos ? 0 : slash);
  }
}

}  // namespace

std::optional<uint64_t> MemoryLimit::Smaller() const noexcept {
  if (ram_bytes && cgroup_bytes) return std::min(*ram_bytes, *cgroup_bytes);
  return ram_bytes ? ram_bytes : cgroup_bytes;
}

MemoryLimit ReadMemoryLimit(const std::string& root) {
  MemoryLimit limit;
  limit.ram_bytes = ReadRam(root);
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
      WalkUp(root + "/sys/fs/cgroup", path, "memory.max", limit.cgroup_bytes);
    } else if (controllers.find(",memory,") != std::string::npos) {
      WalkUp(root + "/sys/fs/cgroup/memory", path, "memory.limit_in_bytes", limit.cgroup_bytes);
    }
  }
  return limit;
}

}  // namespace mayfly
