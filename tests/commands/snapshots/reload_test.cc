// DEBUG RELOAD: saves, flushes and loads in one step.
#include <random>
#include <string>
#include <vector>

#include "support/oracle.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class ReloadTest : public SnapshotTest {
 public:
  // A text that is empty, a number, short or long.
  std::string Text() {
    switch (Draw(5)) {
      case 0:
        return "";
      case 1:
        return std::to_string(static_cast<int64_t>(random_()) >> Draw(64));
      case 2:
        return std::string(Draw(3000), static_cast<char>('a' + Draw(26)));
      default: {
        std::string text(Draw(40), 0);
        for (char& c : text) c = static_cast<char>(Draw(256));
        return text;
      }
    }
  }
  size_t Draw(size_t below) { return static_cast<size_t>(random_() % below); }
  // A request that makes or changes a value.
  std::vector<std::string> Write() {
    const std::string n = std::to_string(Draw(60));
    const std::string soon = std::to_string(1000 + Draw(100'000));
    switch (Draw(16)) {
      case 0:
        return {"SET", "string" + n, Text()};
      case 1:
        return {"SET", "string" + n, Text(), "PX", soon, "TAGS", "1", "tag" + n};
      case 2:
        return {"APPEND", "string" + n, Text()};
      case 3:
        return {"RPUSH", "list" + n, Text(), Text()};
      case 4:
        return {"LPUSH", "list" + n, Text()};
      case 5:
        return {"SADD", "set" + n, Text(), std::to_string(Draw(1000))};
      case 6:
        return {"SADDEX", "set" + n, "1000", Text()};
      case 7:
        return {"HSET", "hash" + n, Text(), Text(), "f", Text()};
      case 8:
        return {"HPEXPIRE", "hash" + n, soon, "FIELDS", "1", "f"};
      case 9:
        return {"ZADD", "zset" + n, std::to_string(Draw(100)) + ".25", Text()};
      case 10:
        return {"XADD", "stream" + n, "*", Text(), Text()};
      case 11:
        return {"PEXPIRE", "list" + n, soon};
      case 12:
        return {"DEL", "stream" + n};
      case 13:
        return {"PFADD", "hll" + n, Text()};
      case 14:
        return {"GEOADD", "geo" + n, "13.5", "52.5", Text()};
      default:
        return {"SELECT", std::to_string(Draw(3))};
    }
  }

 private:
  std::mt19937_64 random_{33};
};

}  // namespace

TEST_CASE_METHOD(ReloadTest, "random values of all types are the same after DEBUG RELOAD") {
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 300; ++i) {
      const Reply reply = Run(Write());
      CHECK(reply.kind != Reply::Kind::kError);
    }
    AdvanceTime(500);
    const Reply digest = Run({"DEBUG", "DIGEST"});
    REQUIRE(digest.kind == Reply::Kind::kSimple);
    const Reply keys = Run({"INFO", "keyspace"});
    REQUIRE(Run({"DEBUG", "RELOAD"}) == Ok());
    CHECK(Run({"DEBUG", "DIGEST"}) == digest);
    CHECK(Run({"INFO", "keyspace"}).text.substr(0, 40) == keys.text.substr(0, 40));
    CHECK(Run({"DEBUG", "VALIDATE"}) == Ok());
  }
}

TEST_CASE_METHOD(ReloadTest, "DEBUG RELOAD keeps libraries, databases and deadlines") {
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)"});
  Run({"SELECT", "2"});
  Run({"SET", "k", "v", "PX", "5000"});
  CHECK(Run({"DEBUG", "RELOAD"}) == Ok());
  CHECK(Run({"FCALL", "f", "0"}) == Integer(7));
  CHECK(Run({"PTTL", "k"}) == Integer(5000));
}

TEST_CASE_METHOD(ReloadTest, "NOSAVE loads the file that is there, and drops what is not in it") {
  Run({"SET", "k", "old"});
  Run({"SAVE"});
  Run({"SET", "k", "new"});
  Run({"SET", "later", "v"});
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)"});
  CHECK(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
  CHECK(Run({"GET", "k"}) == Bulk("old"));
  CHECK(Run({"DBSIZE"}) == Integer(1));
  CHECK(Run({"FUNCTION", "LIST"}) == Array({}));
}

TEST_CASE_METHOD(ReloadTest, "NOFLUSH keeps what is there; with MERGE the file wins") {
  const auto library = [](const std::string& answer) {
    return "#!lua name=l\nredis.register_function('f', function() return '" + answer + "' end)";
  };
  Run({"SET", "k", "file"});
  Run({"SET", "only", "file"});
  Run({"FUNCTION", "LOAD", library("file")});
  Run({"SAVE"});
  Run({"DEL", "only"});
  Run({"SET", "k", "now"});
  Run({"SET", "later", "now"});
  Run({"FUNCTION", "LOAD", "REPLACE", library("now")});
  CHECK(Run({"DEBUG", "RELOAD", "nosave", "noflush"}) == Ok());
  CHECK(Run({"MGET", "k", "only", "later"}) == Array({Bulk("now"), Bulk("file"), Bulk("now")}));
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("now"));
  CHECK(Run({"DEBUG", "RELOAD", "NOSAVE", "NOFLUSH", "MERGE"}) == Ok());
  CHECK(Run({"MGET", "k", "only", "later"}) == Array({Bulk("file"), Bulk("file"), Bulk("now")}));
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("file"));
}

TEST_CASE_METHOD(ReloadTest, "a file that cannot be saved or opened costs no key") {
  Run({"SET", "k", "v"});
  CHECK(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Error("ERR Error trying to load the RDB dump"));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
  disk.FailAt(1, EROFS);
  CHECK(Run({"DEBUG", "RELOAD"}).text.starts_with("ERR cannot make "));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(ReloadTest,
                 "of a damaged file the keys before the damage are loaded, and the client is told") {
  FillWith(100);
  Run({"SAVE"});
  const std::string whole = disk.files().at(kSnapshotPath);
  disk.Put(kSnapshotPath, whole.substr(0, whole.size() / 2));
  CHECK(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Error("ERR Error trying to load the RDB dump"));
  const int64_t keys = Run({"DBSIZE"}).integer;
  CHECK((keys > 10 && keys < 90));
  CHECK(disk.files().contains(kSnapshotPath + ".damaged"));
}

TEST_CASE_METHOD(ReloadTest,
                 "DEBUG RELOAD does not begin while a file is loaded, and takes known words only") {
  FillWith(100);
  Run({"SAVE"});
  disk.piece = 1;
  snapshots().LoadSoon(now());
  CHECK(Run({"DEBUG", "RELOAD"}) == Error("ERR the file is being loaded"));
  FinishLoad();
  Oracle oracle({"--enable-debug-command", "yes"});
  for (const Words& request : std::vector<Words>{{"DEBUG", "RELOAD", "x"},
                                                 {"DEBUG", "RELOAD", "NOSAVE", "x"},
                                                 {"DEBUG", "RELOAD", "NOSAVE", "NOSAVE"}}) {
    disk.Remove(kSnapshotPath);
    CHECK(Run(request) == TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0));
  }
}

}  // namespace mayfly::testing
