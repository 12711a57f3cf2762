// Snapshot files of real servers, in every encoding, and ours: each server loads what the other has saved. A server that is
// missing makes these tests fail: scripts/test unpacks it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "differential/real_time.h"
#include "support/made_values.h"
#include "support/oracle.h"
#include "support/snapshot_test.h"
#include "support/stream_info.h"

namespace mayfly::testing {
namespace {

const Words kForDebug{"--enable-debug-command", "yes"};

Words Joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

// A folder of this test, with a snapshot file.
class Folder {
 public:
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "mayfly-files-XXXXXX").string();
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path_ = pattern;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Words Option() const { return {"--dir", path_}; }
  std::string Read() const {
    std::ifstream file(path_ + "/dump.rdb", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void Write(const std::string& bytes) const {
    std::ofstream(path_ + "/dump.rdb", std::ios::binary | std::ios::trunc) << bytes;
  }

 private:
  std::string path_;
};

Reply AskOne(Oracle& oracle, const Words& request) {
  return TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0);
}

class FilesBesideServers : public SnapshotTest {
 public:
  FilesBesideServers() { StepWallClock(RealMs() - WallMs()); }

  // A server with these values, of which every other one has a deadline, saves, and we load the file; we save, and `readers`
  // load that. All have the same data.
  void Exchange(const std::string& program, const Words& options, const std::vector<Made>& values,
                const std::vector<std::string>& readers) {
    CAPTURE(program, options);
    Folder theirs;
    special_.clear();
    std::vector<Reply> deadlines;
    std::vector<Reply> streams;
    Reply digest;
    Reply others;
    {
      Oracle oracle(Joined(Joined(options, kForDebug), theirs.Option()), program);
      Make(oracle, values);
      digest = AskOne(oracle, {"DEBUG", "DIGEST"});
      deadlines = DeadlinesOf([&](const Words& words) { return AskOne(oracle, words); }, values.size());
      streams = StreamsOf([&](const Words& words) { return AskOne(oracle, words); }, values.size());
      REQUIRE(AskOne(oracle, {"SAVE"}) == Ok());
      others = DigestOfOthers([&](const Words& words) { return AskOne(oracle, words); });
    }
    disk.Put(kSnapshotPath, theirs.Read());
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(DeadlinesOf([&](const Words& words) { return Run(words); }, values.size()) == deadlines);
    CHECK(StreamsOf([&](const Words& words) { return Run(words); }, values.size()) == streams);
    REQUIRE(Run({"SAVE"}) == Ok());
    Folder ours;
    ours.Write(disk.files().at(kSnapshotPath));
    CHECK(DigestOfOthers([&](const Words& words) { return Run(words); }) == others);
    for (const std::string& reader : readers) {
      CAPTURE(reader);
      Oracle oracle(Joined(kForDebug, ours.Option()), reader);
      const auto ask = [&](const Words& words) { return AskOne(oracle, words); };
      CHECK(DeadlinesOf(ask, values.size()) == deadlines);
      CHECK(StreamsOf(ask, values.size()) == streams);
      if (reader == program) CHECK(ask({"DEBUG", "DIGEST"}) == digest);
      CHECK(DigestOfOthers(ask) == others);
    }
  }

  std::set<std::string> encodings;  // of the servers' values

 private:
  void Make(Oracle& oracle, const std::vector<Made>& values) {
    AskOne(oracle, {"DEBUG", "QUICKLIST-PACKED-THRESHOLD", "60kb"});  // longer elements are plain nodes
    for (size_t i = 0; i < values.size(); ++i) {
      const std::string key = "key:" + std::to_string(i);
      if (HasOwnDigest(values[i].requests)) special_.push_back(key);
      for (const Words& request : values[i].requests)
        REQUIRE(AskOne(oracle, request).kind != Reply::Kind::kError);
      encodings.insert(AskOne(oracle, {"OBJECT", "ENCODING", "k"}).text);
      REQUIRE(AskOne(oracle, {"RENAME", "k", key}) == Ok());
      if (i % 2 == 1)
        AskOne(oracle,
               {"PEXPIREAT", key, std::to_string(RealMs() + 1'000'000'000 + static_cast<int64_t>(i))});
    }
  }
  // The digest of all other values.
  template <typename Ask>
  Reply DigestOfOthers(Ask&& ask) {
    for (const std::string& key : special_) ask({"DEL", key});
    return ask({"DEBUG", "DIGEST"});
  }
  template <typename Ask>
  std::vector<Reply> DeadlinesOf(Ask&& ask, size_t keys) {
    std::vector<Reply> deadlines;
    for (size_t i = 0; i < keys; ++i) deadlines.push_back(ask({"PEXPIRETIME", "key:" + std::to_string(i)}));
    return deadlines;
  }

  // Entries, groups and consumers, which a digest does not tell.
  template <typename Ask>
  std::vector<Reply> StreamsOf(Ask&& ask, size_t keys) {
    std::vector<Reply> streams;
    for (size_t i = 0; i < keys; ++i) {
      const std::string key = "key:" + std::to_string(i);
      if (ask({"TYPE", key}) == Simple("stream"))
        streams.push_back(WithoutOwn(ask({"XINFO", "STREAM", key, "FULL", "COUNT", "0"})));
    }
    return streams;
  }

  std::vector<std::string> special_;  // keys
};

}  // namespace

TEST_CASE_METHOD(FilesBesideServers, "redis-server 7.0 and we load each other's files, in all encodings") {
  const std::vector<std::string> all{Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey};
  Exchange(Oracle::kProgram, {}, Values(), all);
  Exchange(Oracle::kProgram, LargeForms(), Values(), all);
  CHECK(encodings == std::set<std::string>{"embstr", "hashtable", "int", "intset", "listpack", "quicklist",
                                           "raw", "skiplist", "stream"});
}

TEST_CASE_METHOD(FilesBesideServers,
                 "redis-server 8 and we load each other's files, with deadlines of fields") {
  std::vector<Made> values = Values();
  for (Made& made : ValuesWithFieldDeadlines(RealMs())) values.push_back(std::move(made));
  const std::vector<std::string> newer{Oracle::kNewerProgram};
  Exchange(Oracle::kNewerProgram, {}, values, newer);
  Exchange(Oracle::kNewerProgram, Joined(LargeForms(), {"--set-max-listpack-entries", "0"}), values, newer);
  CHECK(encodings.contains("listpackex"));
  CHECK(encodings.contains("hashtable"));
}

TEST_CASE_METHOD(FilesBesideServers, "valkey-server and we load each other's files, in all encodings") {
  const std::vector<std::string> all{Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey};
  Exchange(Oracle::kValkey, {}, Values(), all);
  Exchange(Oracle::kValkey, Joined(LargeForms(), {"--set-max-listpack-entries", "0"}), Values(), all);
  CHECK(encodings == std::set<std::string>{"embstr", "hashtable", "int", "intset", "listpack", "quicklist",
                                           "raw", "skiplist", "stream"});
}

TEST_CASE_METHOD(FilesBesideServers, "all servers load a file with what only we know, and lose that") {
  StepWallClock(-60'000);  // for the other servers the stale value's deadline is long over
  Run({"SET", "terms", "v", "EX", "1000", "SLIDE", "TAGS", "1", "t"});
  Run({"SET", "stale", "v", "PX", "10", "STALE", "1000"});
  Run({"SADDEX", "set", "1000", "a", "b"});
  Run({"ZADD", "zset", "1", "a"});
  Run({"EXPIREMEMBER", "zset", "a", "1000"});
  SetOption("expire-log-size", "1mb");
  AdvanceTime(10);
  REQUIRE(Run({"SAVE"}) == Ok());
  Folder ours;
  ours.Write(disk.files().at(kSnapshotPath));
  for (const char* program : {Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey}) {
    CAPTURE(program);
    Oracle oracle(ours.Option(), program);
    CHECK(AskOne(oracle, {"DBSIZE"}) == Integer(3));
    CHECK(AskOne(oracle, {"GET", "terms"}) == Bulk("v"));
    CHECK(AskOne(oracle, {"SCARD", "set"}) == Integer(2));
    CHECK(AskOne(oracle, {"ZSCORE", "zset", "a"}) == Bulk("1"));
  }
}

}  // namespace mayfly::testing
