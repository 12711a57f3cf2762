#include "base/memory_limit.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <catch2/catch.hpp>

namespace mayfly {
namespace {

// A root directory with the files that a test puts there.
class FakeRoot {
 public:
  FakeRoot() {
    std::string name = (std::filesystem::temp_directory_path() / "mayfly-root-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
    Put("/proc/meminfo", "MemTotal:       16000 kB\nMemFree:        1 kB\n");
  }
  ~FakeRoot() { std::filesystem::remove_all(path_); }
  FakeRoot(const FakeRoot&) = delete;
  FakeRoot& operator=(const FakeRoot&) = delete;

  void Put(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(path_ + name).parent_path());
    std::ofstream(path_ + name) << text;
  }
  MemoryLimit Read() const { return ReadMemoryLimit(path_); }

 private:
  std::string path_;
};

constexpr uint64_t kRam = 16000 * 1024;

}  // namespace

TEST_CASE("without a cgroup the machine's memory counts") {
  const FakeRoot root;
  CHECK(root.Read().ram_bytes == kRam);
  CHECK_FALSE(root.Read().cgroup_bytes);
  CHECK(root.Read().Smaller() == kRam);
}

TEST_CASE("cgroup version 2: the smallest limit on the way to the root counts") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "0::/a/b/c\n");
  root.Put("/sys/fs/cgroup/a/b/c/memory.max", "max\n");
  CHECK_FALSE(root.Read().cgroup_bytes);
  root.Put("/sys/fs/cgroup/a/b/memory.max", "5000\n");
  root.Put("/sys/fs/cgroup/a/memory.max", "7000\n");
  CHECK(root.Read().cgroup_bytes == 5000);
  root.Put("/sys/fs/cgroup/a/memory.max", "3000\n");
  CHECK(root.Read().Smaller() == 3000);
}

TEST_CASE("cgroup version 2 inside a container: the mount's root is the process's own cgroup") {
  const FakeRoot root;
  root.Put("/sys/fs/cgroup/memory.max", "4096\n");
  for (const char* line : {"0::/\n", "0::/system.slice/of/the/host\n", "0::/../..\n"}) {
    root.Put("/proc/self/cgroup", line);
    CHECK(root.Read().Smaller() == 4096);
  }
}

TEST_CASE("cgroup version 1: the memory controller's limit counts, and its huge number means none") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n7:hugetlb,memory:/docker/1\n0::/\n");
  root.Put("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK_FALSE(root.Read().cgroup_bytes);
  root.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  CHECK(root.Read().Smaller() == 8192);
}

TEST_CASE("a limit above the machine's memory does not raise it") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "0::/\n");
  root.Put("/sys/fs/cgroup/memory.max", "99999999999\n");
  CHECK(root.Read().Smaller() == kRam);
}

TEST_CASE("files that make no sense count as missing") {
  const FakeRoot root;
  root.Put("/proc/meminfo", "MemTotal: lots kB\n");
  root.Put("/proc/self/cgroup", "rubbish\n:\n0::\n\n");
  root.Put("/sys/fs/cgroup/memory.max", "-1\n");
  CHECK_FALSE(root.Read().Smaller());
  CHECK_FALSE(ReadMemoryLimit("/no/such/root").Smaller());
}

TEST_CASE("this machine's memory can be read") { CHECK(ReadMemoryLimit().Smaller().value_or(0) > 0); }

}  // namespace mayfly
