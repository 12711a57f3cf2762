#include "net/process/process.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "net/socket/limits.h"
#include "support/catch.h"
#include "support/fake_root.h"

#include <sys/resource.h>

namespace mayfly::net {
namespace {

TEST_CASE("the pidfile holds the process id as long as its owner exists") {
  const std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mayfly-pid-test-" + std::to_string(getpid()));
  {
    PidFile file(path.string());
    CHECK_FALSE(file.Write());
    int pid = 0;
    std::ifstream(path) >> pid;
    CHECK(pid == getpid());
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("for a pidfile that cannot be written, the error names the path and the reason") {
  PidFile file("/no/such/directory/pid");
  CHECK(file.Write() == "cannot write the pidfile /no/such/directory/pid: No such file or directory");
}

TEST_CASE("an empty path is no pidfile") {
  PidFile file("");
  CHECK_FALSE(file.Write());
}

TEST_CASE("the longest backlog is what the kernel says, or unknown") {
  const testing::FakeRoot root;
  CHECK(LongestBacklog(root.path()) == 0);
  root.Put("/proc/sys/net/core/somaxconn", "128\n");
  CHECK(LongestBacklog(root.path()) == 128);
}

TEST_CASE("the limit of open files is raised for the clients; if that is refused, fewer clients fit") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  constexpr uint64_t kClients = 100;
  rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &low) == 0);
  CHECK(RaiseFileLimit(kClients) == kClients);
  rlimit raised{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &raised) == 0);
  CHECK(raised.rlim_cur == kClients + kOwnFiles + kLingeringMax);
  // More than any kernel allows.
  constexpr uint64_t kTooMany = uint64_t{1} << 40;
  const uint64_t fits = RaiseFileLimit(kTooMany);
  CHECK(fits < kTooMany);
  CHECK(fits > 0);
  CHECK(fits == ClientsThatFit(before.rlim_max, kTooMany));
  REQUIRE(getrlimit(RLIMIT_NOFILE, &raised) == 0);
  CHECK(raised.rlim_cur == before.rlim_max);
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("as many clients fit into a limit of open files as Redis serves with it") {
  CHECK(ClientsThatFit(20'000, 10'000) == 10'000);
  CHECK(ClientsThatFit(10'032, 10'000) == 10'000);
  CHECK(ClientsThatFit(64, 10'000) == 32);
  CHECK(ClientsThatFit(33, 10'000) == 1);
  CHECK(ClientsThatFit(32, 10'000) == 0);
  CHECK(ClientsThatFit(20, 10'000) == 0);
}

TEST_CASE("connections linger in what the limit leaves beside the clients and the daemon's own descriptors") {
  CHECK(LingeringThatFit(20'000, 10'000) == kLingeringMax);
  CHECK(LingeringThatFit(64, 32) == 8);
  CHECK(LingeringThatFit(40, 32) == 0);
  CHECK(LingeringThatFit(UINT64_MAX, 4'294'967'295) == kLingeringMax);
}

}  // namespace
}  // namespace mayfly::net
