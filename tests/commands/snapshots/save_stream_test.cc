// A stream that changes in a transaction while it is half saved: a transaction cannot wait, so what changes is put aside at once.
// Whenever the change comes, the file has the stream, its groups and its consumers as they were at the beginning.
#include <algorithm>
#include <string>
#include <vector>

#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

constexpr int kEntries = 600;
const std::string kDumpFile = "./dump.rdb";

class SavedStreamTest : public SnapshotTest {
 public:
  // IDs in a row.
  void Fill() {
    std::string requests;
    for (int i = 1; i <= kEntries; ++i)
      requests += EncodeRequest({"XADD", "stream", "1-" + std::to_string(i), "field", std::string(150, 's')});
    RunRaw(requests);
    for (const std::string group : {"workers", "others"}) {
      Run({"XGROUP", "CREATE", "stream", group, "0"});
      Run({"XREADGROUP", "GROUP", group, "ann", "COUNT", "360", "STREAMS", "stream", ">"});
      AdvanceTime(10);
      Run({"XREADGROUP", "GROUP", group, "bob", "COUNT", "180", "STREAMS", "stream", ">"});
    }
    Run({"XCLAIM", "stream", "workers", "bob", "0", "1-7", "1-8"});  // delivered twice
  }
  // All that clients can see of it.
  std::vector<Reply> Look() {
    std::vector<Reply> seen = {Run({"XRANGE", "stream", "-", "+"}), Run({"XINFO", "STREAM", "stream"}),
                               Run({"XINFO", "GROUPS", "stream"})};
    for (const std::string group : {"workers", "others"}) {
      seen.push_back(Run({"XINFO", "CONSUMERS", "stream", group}));
      seen.push_back(Run({"XPENDING", "stream", group}));
      seen.push_back(Run({"XPENDING", "stream", group, "-", "+", "5000"}));
    }
    return seen;
  }
  void Load(const std::string& file) {
    disk.Put(kDumpFile, file);
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
  }
  std::vector<Reply> LookAtLoaded(const std::string& file) {
    Load(file);
    return Look();
  }
  static std::vector<std::string> Ids(int from, int to) {
    std::vector<std::string> ids;
    for (int i = from; i <= to; ++i) ids.push_back("1-" + std::to_string(i));
    return ids;
  }
  static Words Joined(Words words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

}  // namespace

TEST_CASE_METHOD(
    SavedStreamTest,
    "whatever a transaction does to a half-saved stream, the file has it as it was at the beginning") {
  const std::vector<std::vector<Words>> transactions = {
      {{"XTRIM", "stream", "MAXLEN", "0"}},
      {{"XTRIM", "stream", "MAXLEN", "210"}},
      {{"XTRIM", "stream", "MINID", "1-270"}},
      {Joined({"XDEL", "stream"}, Ids(1, kEntries))},
      {Joined({"XDEL", "stream"}, Ids(90, 510))},
      {{"XDEL", "stream", "1-1"}, {"XDEL", "stream", "1-600"}, {"XADD", "stream", "1-601", "f", "v"}},
      {{"XSETID", "stream", "9-9"}, {"XADD", "stream", "9-10", "f", "v"}},
      {Joined({"XACK", "stream", "workers"}, Ids(1, 540))},
      {{"XACK", "stream", "workers", "1-7"}, {"XACK", "stream", "others", "1-450"}},
      {{"XGROUP", "DESTROY", "stream", "workers"}, {"XGROUP", "DESTROY", "stream", "others"}},
      {{"XGROUP", "DELCONSUMER", "stream", "others", "ann"}, {"XGROUP", "CREATE", "stream", "new", "0"}},
      {{"XGROUP", "CREATECONSUMER", "stream", "workers", "cid"},
       {"XGROUP", "SETID", "stream", "others", "1-1"}},
      {Joined({"XCLAIM", "stream", "others", "bob", "0"}, Ids(1, 300))},
      {{"XAUTOCLAIM", "stream", "workers", "bob", "0", "0", "COUNT", "1000", "JUSTID"}},
      {{"XREADGROUP", "GROUP", "workers", "cid", "STREAMS", "stream", ">"}},
      {{"XREADGROUP", "GROUP", "others", "ann", "STREAMS", "stream", "0"}},
      {Joined({"XDELEX", "stream", "DELREF", "IDS", "150"}, Ids(180, 329))},
      {Joined({"XACKDEL", "stream", "others", "IDS", "150"}, Ids(180, 329))},
      {{"DEL", "stream"}, {"XADD", "stream", "1-1", "f", "v"}},
      {{"RENAME", "stream", "elsewhere"}, {"XTRIM", "elsewhere", "MAXLEN", "3"}},
  };
  // With a node for each entry, the next node begins where the saved part ends.
  const std::string entries_of_node = GENERATE("100", "1");
  CAPTURE(entries_of_node);
  SetOption("stream-node-max-entries", entries_of_node);
  Fill();
  REQUIRE(Run({"SAVE"}) == Ok());
  const std::string whole = disk.files().at(kDumpFile);
  const std::vector<Reply> wanted = LookAtLoaded(whole);
  CHECK(wanted[0].elements.size() == kEntries);
  size_t slices = 0;
  for (const std::vector<Words>& transaction : transactions) {
    CAPTURE(transaction[0][0], transaction[0][1]);
    bool saving = true;
    for (size_t before = 0; saving; ++before) {
      CAPTURE(before);
      Load(whole);
      REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
      for (size_t i = 0; i < before; ++i) Slice(1);
      saving = snapshots().saving() && before < 30;
      REQUIRE(Run({"MULTI"}) == Ok());
      for (const Words& request : transaction) REQUIRE(Run(request) == Simple("QUEUED"));
      for (const Reply& reply : Run({"EXEC"}).elements) REQUIRE(reply.kind != Reply::Kind::kError);
      FinishSave();
      CHECK(Info("rdb_last_bgsave_status") == "ok");
      CHECK((LookAtLoaded(disk.files().at(kDumpFile)) == wanted));
      slices = std::max(slices, before);
    }
  }
  CHECK(slices > 5);
}

}  // namespace mayfly::testing
