// Snapshot files of real redis-servers, and ours: each server loads what the other has saved.
#include <fstream>
#include <functional>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "differential/real_time.h"
#include "support/folder.h"
#include "support/oracle.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

std::string BytesOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), {});
}

class SnapshotBesideRedis : public SnapshotTest {
 public:
  SnapshotBesideRedis() { StepWallClock(RealMs() - WallMs()); }

  void Exchange(const std::string& program) {
    INFO(program);
    const Folder folder;
    const Words options{"--dir", folder.path(), "--enable-debug-command", "yes"};
    Run({"FLUSHALL"});
    Run({"FUNCTION", "FLUSH"});
    std::string digest;
    {
      Oracle oracle(options, program);
      const auto redis = [&oracle](const Words& request) {
        return TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
      };
      Fill(redis);
      digest = redis({"DEBUG", "DIGEST"}).text;
      REQUIRE(redis({"SAVE"}) == Ok());
    }
    disk.Put(kSnapshotPath, BytesOf(folder / "dump.rdb"));
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(Run({"DEBUG", "DIGEST"}) == Simple(digest));
    CHECK(Run({"FCALL", "f", "0"}) == Bulk("one"));
    CHECK(Run({"FCALL", "g", "0"}) == Bulk("two"));

    REQUIRE(Run({"SAVE"}) == Ok());
    std::ofstream(folder / "dump.rdb", std::ios::binary) << disk.files().at(kSnapshotPath);
    Oracle oracle(options, program);
    const auto redis = [&oracle](const Words& request) {
      return TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
    };
    CHECK(redis({"DEBUG", "DIGEST"}) == Simple(digest));
    CHECK(redis({"FCALL", "f", "0"}) == Bulk("one"));
    CHECK(redis({"FCALL", "g", "0"}) == Bulk("two"));
    CHECK(redis({"PEXPIRETIME", "expires"}) == Run({"PEXPIRETIME", "expires"}));
  }

 private:
  static void Fill(const std::function<Reply(const Words&)>& ask) {
    Words list{"RPUSH", "list"};
    Words set{"SADD", "set"};
    for (int i = 0; i < 1000; ++i) {
      list.push_back("element " + std::to_string(i));
      set.push_back("member " + std::to_string(i));
    }
    for (const Words& request : std::vector<Words>{
             {"SET", "string", "text"},
             {"SET", "long", std::string(30'000, 'x')},
             {"SET", "number", "-17"},
             {"SET", "expires", "v", "EX", "100000"},
             list,
             set,
             {"SADD", "numbers", "1", "2", "300000"},
             {"HSET", "hash", "f", "v", "g", "7"},
             {"ZADD", "zset", "1.5", "a", "-inf", "b"},
             {"XADD", "stream", "5-1", "f", "v"},
             {"PFADD", "hll", "a", "b"},
             {"FUNCTION", "LOAD", "#!lua name=a\nredis.register_function('f', function() return 'one' end)"},
             {"FUNCTION", "LOAD", "#!lua name=b\nredis.register_function('g', function() return 'two' end)"},
             {"SELECT", "3"},
             {"SET", "elsewhere", "v"},
             {"SELECT", "0"}})
      REQUIRE(ask(request).kind != Reply::Kind::kError);
  }
};

}  // namespace

TEST_CASE_METHOD(SnapshotBesideRedis, "redis-server and we load each other's files, with functions") {
  Exchange(Oracle::kProgram);
  if (Oracle::Exists(Oracle::kNewerProgram)) {
    Exchange(Oracle::kNewerProgram);
  } else {
    std::cout << "left out: there is no " << Oracle::kNewerProgram << " to compare with" << std::endl;
  }
}

}  // namespace mayfly::testing
