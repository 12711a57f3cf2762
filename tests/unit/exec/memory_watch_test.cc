#include "exec/memory/memory_watch.h"

#include <filesystem>
#include <fstream>
#include <string>

#include "base/log/log.h"
#include "exec/memory/resident_guard.h"
#include "support/command_test.h"
#include "support/fake_root.h"
#include "support/folder.h"

#include <sys/resource.h>

namespace mayfly::testing {
namespace {

constexpr uint64_t kMb = 1 << 20;
constexpr const char* kLimit = "/sys/fs/cgroup/pod/memory.max";

// A server in a cgroup, whose limit a test changes.
class MemoryWatchTest : public CommandTest {
 public:
  MemoryWatchTest() {
    root.Put("/proc/meminfo", "MemTotal:       8388608 kB\n");
    root.Put("/proc/self/cgroup", "0::/pod\n");
    SetLimit(std::to_string(1000 * kMb));
    watch.emplace(MemoryLimitFiles(root.path()), server().options, server().resident, nullptr, now_ms());
    Pass(MemoryWatch::kSpacingMs);
  }
  void SetLimit(const std::string& text) const { root.Put(kLimit, text + "\n"); }
  void Pass(uint64_t ms) {
    LetTimePass(ms);
    watch->Look(now_ms());
  }
  uint64_t now_ms() { return server().clock.Read().mono_ms; }
  std::string MaxMemory() { return server().options.Get("maxmemory").value_or(""); }

  FakeRoot root;
  std::optional<MemoryWatch> watch;
};

// A kernel that counts as many bytes as a test says.
struct WatchedMemory final : ProcessMemory {
  uint64_t ResidentBytes() noexcept override { return bytes; }
  void Purge() noexcept override {}
  void PurgeSoon() noexcept override {}
  void PurgeOld() noexcept override {}

  uint64_t bytes = 0;
};

}  // namespace

TEST_CASE_METHOD(MemoryWatchTest, "the guard of resident memory keeps below the cgroup's new limit") {
  WatchedMemory memory;
  ResidentGuard guard(&memory, 1000 * kMb);
  watch.emplace(MemoryLimitFiles(root.path()), server().options, guard, nullptr, now_ms());
  memory.bytes = 450 * kMb;
  const auto presses = [&] {
    guard.Look(0, 0, 300 * kMb);
    return guard.pressed();
  };
  CHECK_FALSE(presses());
  SetLimit(std::to_string(400 * kMb));
  Pass(MemoryWatch::kSpacingMs - 1);
  CHECK_FALSE(presses());
  Pass(1);
  CHECK(guard.Due(2 * kMb));
  CHECK(presses());
  CHECK(server().options.memory_bytes() == 400 * kMb);
  SetLimit(std::to_string(500 * kMb));
  Pass(MemoryWatch::kSpacingMs);
  CHECK_FALSE(presses());
}

TEST_CASE_METHOD(MemoryWatchTest, "a percentage follows the cgroup's limit down and up") {
  SetOption("maxmemory", "50%");
  CHECK(MaxMemory() == std::to_string(1000 * kMb / 100 * 50));
  SetLimit(std::to_string(400 * kMb));
  Pass(MemoryWatch::kSpacingMs - 1);
  CHECK(MaxMemory() == std::to_string(1000 * kMb / 100 * 50));
  Pass(1);
  CHECK(MaxMemory() == std::to_string(400 * kMb / 100 * 50));
  SetLimit("max");
  Pass(MemoryWatch::kSpacingMs);
  CHECK(MaxMemory() == std::to_string(8192 * kMb / 100 * 50));
}

TEST_CASE_METHOD(MemoryWatchTest, "auto follows, bytes stay, and what buffers may take follows both") {
  SetOption("maxmemory", GENERATE("auto", "100mb"));
  const bool is_auto = MaxMemory() != std::to_string(100 * kMb);
  SetLimit(std::to_string(2000 * kMb));
  Pass(MemoryWatch::kSpacingMs);
  CHECK(MaxMemory() == std::to_string(is_auto ? 2000 * kMb / 100 * 75 : 100 * kMb));
  const config::MaxMemory maxmemory = server().options.settings().maxmemory;
  CHECK(server().executor.output_pool().most_bytes == OutputPool::Of(maxmemory, 2000 * kMb).most_bytes);
}

TEST_CASE_METHOD(MemoryWatchTest, "the log says when the limit changes, and what maxmemory comes to then") {
  SetOption("maxmemory", "50%");
  const Folder folder;
  const std::string path = folder / "log";
  Log log(server().clock, Log::Level::kNotice, path);
  watch.emplace(MemoryLimitFiles(root.path()), server().options, server().resident, &log, now_ms());
  Pass(MemoryWatch::kSpacingMs);
  CHECK_FALSE(std::filesystem::exists(path));
  SetLimit(std::to_string(400 * kMb));
  Pass(MemoryWatch::kSpacingMs);
  Pass(MemoryWatch::kSpacingMs);
  std::ifstream file(path);
  std::string first;
  std::string second;
  std::string third;
  std::getline(file, first);
  std::getline(file, second);
  CHECK(first.ends_with("this process may now use 400.00M of memory"));
  CHECK(second.ends_with("maxmemory: 200.00M (50 % of 400.00M, the smaller of cgroup limit and RAM)"));
  CHECK_FALSE(std::getline(file, third));
}

TEST_CASE_METHOD(MemoryWatchTest, "while the limit cannot be read, the last one stays in force") {
  SetOption("maxmemory", "50%");
  const std::string before = MaxMemory();
  SetLimit(std::to_string(400 * kMb));
  rlimit files{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &files) == 0);
  const rlimit none{0, files.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  Pass(MemoryWatch::kSpacingMs);
  REQUIRE(setrlimit(RLIMIT_NOFILE, &files) == 0);
  CHECK(MaxMemory() == before);
  Pass(MemoryWatch::kSpacingMs);
  CHECK(MaxMemory() == std::to_string(400 * kMb / 100 * 50));
}

TEST_CASE("the log says what maxmemory comes to, and of what") {
  using Request = config::MaxMemory::Request;
  CHECK(DescribeMaxMemory({Request::kBytes, 0, 0}, kMb) == "maxmemory: no limit");
  CHECK(DescribeMaxMemory({Request::kBytes, 5 * kMb, 5 * kMb}, kMb) == "maxmemory: 5.00M");
  CHECK(DescribeMaxMemory({Request::kPercent, 60, 6 * kMb}, 10 * kMb) ==
        "maxmemory: 6.00M (60 % of 10.00M, the smaller of cgroup limit and RAM)");
}

}  // namespace mayfly::testing
