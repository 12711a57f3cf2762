// The daemon is killed at random moments of a save: what it leaves is the old file or the new one, whole.
#include <signal.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"

namespace mayfly {
namespace {

constexpr int kKills = 200;
constexpr int kLanes = 4;  // daemons at the same time
constexpr int kKeys = 1500;
constexpr size_t kMostRequests = 1'000'000;

// All keys have the version in their values. Values of several types, so that the file has records of all kinds.
const std::string kWrite =
    "for i = 1, tonumber(ARGV[2]) do"
    "  redis.call('SET', 'text:' .. i, ARGV[1] .. string.rep('x', i % 300), 'EX', 10000)"
    "  if i % 10 == 0 then"
    "    redis.call('DEL', 'hash:' .. i, 'set:' .. i)"
    "    for n = 1, 20 do redis.call('HSET', 'hash:' .. i, 'f' .. n, ARGV[1]) end"
    "    redis.call('SADD', 'set:' .. i, ARGV[1], 'other')"
    "  end "
    "end return redis.call('DBSIZE')";
// Answers the version, or -1 if the keys are not those of one version.
const std::string kRead =
    "local version = string.match(redis.call('GET', 'text:1') or '-1', '^%-?%d+')"
    "for i = 1, tonumber(ARGV[1]) do"
    "  if redis.call('GET', 'text:' .. i) ~= version .. string.rep('x', i % 300) then return -1 end"
    "  if i % 10 == 0 then"
    "    for n = 1, 20 do if redis.call('HGET', 'hash:' .. i, 'f' .. n) ~= version then return -1 end end"
    "    if redis.call('SISMEMBER', 'set:' .. i, version) ~= 1 then return -1 end"
    "    if redis.call('SCARD', 'set:' .. i) ~= 2 then return -1 end"
    "  end "
    "end return tonumber(version)";

// A folder with a file, in which one daemon after the other saves and is killed.
class Lane {
 public:
  explicit Lane(unsigned seed) : random_(seed) {
    std::string pattern = (std::filesystem::temp_directory_path() / "mayfly-kills-XXXXXX").string();
    if (mkdtemp(pattern.data()) != nullptr) folder_ = pattern;
  }
  ~Lane() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Runs on a thread of its own, where no assertion may be made.
  void Work(std::atomic<int>& kills) noexcept {
    try {
      Begin();
      while (problem.empty() && kills.fetch_sub(1) > 0) KillOne();
      if (problem.empty()) Check();
      for (const auto& file : std::filesystem::directory_iterator(folder_)) {
        const std::string name = file.path().filename().string();
        // The last start has removed what the kills had left half written.
        if (name.ends_with(".damaged") || name.ends_with(".unknown") || name.starts_with("temp-"))
          problem += " there is a file " + name;
      }
    } catch (const std::exception& error) {
      problem = error.what();
    }
  }

  std::string problem;  // "": none
  int old_files = 0;
  int new_files = 0;

 private:
  std::vector<std::string> Options() const { return {"--dir", folder_, "--load-mode", "wait"}; }
  static std::string Write(Client& client, int64_t version) {
    return client.Run({"EVAL", kWrite, "0", std::to_string(version), std::to_string(kKeys)});
  }
  // The version that a new daemon loads; -1: it is none.
  static int64_t Loaded(Client& client) {
    if (!Eventually([&] { return client.Info("loading") == "0"; })) return -1;
    const std::string reply = client.Run({"EVAL", kRead, "0", std::to_string(kKeys)});
    return reply.starts_with(":") ? std::atoll(reply.c_str() + 1) : -1;
  }

  static bool Saves(Client& client) { return client.Info("rdb_bgsave_in_progress") == "1"; }

  // The first file, and how long a save takes now.
  void Begin() {
    Daemon daemon(Options());
    Client client(daemon);
    Write(client, 0);
    client.Run({"BGSAVE"});
    while (Saves(client) && requests_ < kMostRequests) ++requests_;
    if (requests_ == kMostRequests) problem = "no save ends";
    if (client.Run({"SAVE"}) != "OK") problem = "SAVE fails";
    daemon.Signal(SIGKILL);
    daemon.Wait();
  }

  // A daemon has to find the last version or, after a kill, the one before it.
  void Check() {
    Daemon daemon(Options());
    Client client(daemon);
    Take(Loaded(client), daemon);
  }
  void Take(int64_t loaded, const Daemon& daemon) {
    if (loaded == version_) {
      ++new_files;
      requests_ -= requests_ / 8;
    } else if (loaded >= 0 && loaded == before_) {
      ++old_files;
      requests_ += requests_ / 8 + 1;
    } else {
      problem = "version " + std::to_string(loaded) + " was loaded, and not " + std::to_string(before_) +
                " or " + std::to_string(version_) + ": " + daemon.log();
    }
    before_ = loaded;
  }

  void KillOne() {
    Daemon daemon(Options());
    Client client(daemon);
    Take(Loaded(client), daemon);
    if (!problem.empty()) return;
    version_ = ++written_;
    Write(client, version_);
    const std::string begun = client.Run({"BGSAVE"});
    if (begun != "Background saving started") problem = "BGSAVE answers " + begun;
    for (size_t n = random_() % (2 * requests_); n != 0; --n) Saves(client);
    daemon.Signal(SIGKILL);
    daemon.Wait();
  }

  std::string folder_;
  std::mt19937 random_;
  // As many as a client can send during a save. Follows the saves, which other programs on the machine make longer or shorter.
  size_t requests_ = 1;
  int64_t before_ = 0;   // the version of the old file
  int64_t version_ = 0;  // of the new one, if its save came to its end
  int64_t written_ = 0;
};

}  // namespace

TEST_CASE("a daemon that is killed at any moment of a save leaves the old file or the new one, whole") {
  std::atomic<int> kills = kKills;
  std::vector<std::unique_ptr<Lane>> lanes;
  for (unsigned seed = 1; seed <= kLanes; ++seed) lanes.push_back(std::make_unique<Lane>(seed));
  std::vector<std::thread> threads;
  for (const auto& lane : lanes) threads.emplace_back([&kills, &lane] { lane->Work(kills); });
  for (std::thread& thread : threads) thread.join();
  int old_files = 0;
  int new_files = 0;
  for (const auto& lane : lanes) {
    CHECK(lane->problem == "");
    old_files += lane->old_files;
    new_files += lane->new_files;
  }
  CAPTURE(old_files, new_files);
  CHECK(old_files > kKills / 20);
  CHECK(new_files > kKills / 20);
}

}  // namespace mayfly
