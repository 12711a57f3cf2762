#include "base/memory/memory_limit.h"

#include <filesystem>

#include "support/fake_root.h"

#include <sys/resource.h>

namespace mayfly {
namespace {

class FakeRoot : public testing::FakeRoot {
 public:
  MemoryLimit Read() const { return ReadMemoryLimit(path()); }
};

constexpr uint64_t kRam = 16000 * 1024;

}  // namespace

TEST_CASE("without a cgroup the limit is the machine's memory") {
  const FakeRoot root;
  CHECK(root.Read().ram_bytes == kRam);
  CHECK_FALSE(root.Read().cgroup_bytes);
  CHECK(root.Read().Smaller() == kRam);
}

TEST_CASE("with cgroup version 2 the limit is the smallest one of the cgroup and its parents") {
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

TEST_CASE("with cgroup version 2 in a container the mount's root is the process's cgroup") {
  const FakeRoot root;
  root.Put("/sys/fs/cgroup/memory.max", "4096\n");
  for (const char* line : {"0::/\n", "0::/system.slice/of/the/host\n", "0::/../..\n"}) {
    root.Put("/proc/self/cgroup", line);
    CHECK(root.Read().Smaller() == 4096);
  }
}

TEST_CASE("with cgroup version 1 the memory controller limits, and its huge default is no limit") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "12:cpu,cpuacct:/x\n7:hugetlb,memory:/docker/1\n0::/\n");
  root.Put("/sys/fs/cgroup/memory/docker/1/memory.limit_in_bytes", "9223372036854771712\n");
  CHECK_FALSE(root.Read().cgroup_bytes);
  root.Put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "8192\n");
  CHECK(root.Read().Smaller() == 8192);
}

TEST_CASE("with cgroup version 1 a parent's limit binds, too") {
  const FakeRoot root;
  const std::string mount = "/sys/fs/cgroup/memory";
  root.Put("/proc/self/cgroup", "3:memory:/kubepods/pod1/c1\n");
  root.Put(mount + "/memory.limit_in_bytes", "9223372036854771712\n");
  root.Put(mount + "/kubepods/memory.limit_in_bytes", "9000000\n");
  root.Put(mount + "/kubepods/pod1/memory.limit_in_bytes", "4000000\n");
  root.Put(mount + "/kubepods/pod1/c1/memory.limit_in_bytes", "5000000\n");
  CHECK(root.Read().Smaller() == 4'000'000);
}

TEST_CASE("the files are found once and may be read again and again") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "0::/a/b\n");
  root.Put("/sys/fs/cgroup/a/b/memory.max", "max\n");
  const MemoryLimitFiles files(root.path());
  const auto smaller = [&] { return files.Read().value().Smaller(); };
  CHECK(smaller() == kRam);
  root.Put("/sys/fs/cgroup/a/b/memory.max", "7000\n");
  CHECK(smaller() == 7000);
  root.Put("/sys/fs/cgroup/a/memory.max", "5000\n");  // there was no such file
  CHECK(smaller() == 5000);
  root.Put("/sys/fs/cgroup/a/memory.max", "max\n");
  root.Put("/sys/fs/cgroup/a/b/memory.max", "8000\n");
  CHECK(smaller() == 8000);
  std::filesystem::remove(root.path() + "/sys/fs/cgroup/a/b/memory.max");
  root.Put("/proc/meminfo", "MemTotal:       17 kB\n");
  CHECK(smaller() == 17 * 1024);
}

TEST_CASE("a limit that cannot be read for want of descriptors is not taken for none") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "0::/\n");
  root.Put("/sys/fs/cgroup/memory.max", "7000\n");
  const MemoryLimitFiles files(root.path());
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const std::optional<MemoryLimit> limit = files.Read();
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(limit);
  CHECK(files.Read().value().Smaller() == 7000);
}

TEST_CASE("a cgroup limit above the machine's memory does not raise the limit") {
  const FakeRoot root;
  root.Put("/proc/self/cgroup", "0::/\n");
  root.Put("/sys/fs/cgroup/memory.max", "99999999999\n");
  CHECK(root.Read().Smaller() == kRam);
}

TEST_CASE("malformed files count as missing") {
  const FakeRoot root;
  root.Put("/proc/meminfo", "MemTotal: lots kB\n");
  root.Put("/proc/self/cgroup", "rubbish\n:\n0::\n\n");
  root.Put("/sys/fs/cgroup/memory.max", "-1\n");
  CHECK_FALSE(root.Read().Smaller());
  CHECK_FALSE(ReadMemoryLimit("/no/such/root").Smaller());
}

TEST_CASE("this machine's memory can be read") { CHECK(ReadMemoryLimit().Smaller().value_or(0) > 0); }

}  // namespace mayfly
