// Requests that wait for a large value during a save: the value is put aside in slices, whatever comes before it in the file, and
// the file has the state of the beginning nevertheless. A slice here is one step of the save.
#include <algorithm>
#include <string>
#include <vector>

#include "commands/memory/failing_allocation.h"
#include "snapshot/saver.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

// A request that waits runs again after so many ms, so after so many slices of this test.
constexpr size_t kPollSlices = 6;

class AwaitedTest : public SnapshotTest {
 public:
  void Fill(size_t text_bytes = 1'000'000) {
    Run({"SET", "text", std::string(text_bytes, 't')});
    Run({"SET", "text:2", std::string(500'000, 'u')});
    std::vector<std::string> push = {"RPUSH", "list"};
    for (int i = 0; i < 5000; ++i) {
      push.push_back("element " + std::to_string(i) + std::string(50, 'l'));
      Run({"XADD", "stream", std::to_string(i + 1) + "-1", "field", std::string(50, 's')});
    }
    Run(push);
    FillHash();
  }
  void FillHash() {
    std::vector<std::string> words = {"HSET", "hash"};
    for (int i = 0; i < 40'000; ++i) {
      words.push_back("field " + std::to_string(i));
      words.push_back(std::string(70, 'h'));
    }
    Run(words);
  }
  // Begins a save, and has a part of the hash in the file: the hash is the key that was used last, so its turn comes first. It
  // takes more than 100 slices.
  void BeginInHash() {
    AdvanceTime(1000);
    Run({"HLEN", "hash"});
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    for (int i = 0; i < 10; ++i) Slice(1);
    REQUIRE(KeysDone() == 0);
  }
  uint64_t KeysDone() { return stats().saves.keys_done; }
  // One step of the save, and what a turn of the loop does for requests that wait.
  void Turn() {
    Slice(1);
    LetWaitingAskAgain(1);
  }
  // This many ms pass, and requests that have waited long enough run again.
  void LetWaitingAskAgain(uint64_t ms) {
    server().clock.AdvanceTime(ms);
    server().executor.RefreshNow();
    server().hubs.alarms.Wake(server().executor.now(), nullptr);
    server().RunWoken();
  }
  // Lets turns pass until the client has its reply. Returns their number.
  size_t Await(TestClient& waiting, const Reply& wanted) {
    for (size_t turns = 1;; ++turns) {
      REQUIRE(turns < 100'000);
      Turn();
      const std::vector<Reply> replies = waiting.Received();
      if (replies.empty()) continue;
      CHECK(replies == std::vector<Reply>{wanted});
      return turns;
    }
  }
  // The save ends well, and its file brings this digest back.
  void CheckFile(const Reply& digest) {
    FinishSave();
    CHECK(Info("rdb_last_bgsave_status") == "ok");
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  }
};

}  // namespace

TEST_CASE_METHOD(AwaitedTest,
                 "a request waits for a value until it is put aside, not until it is in the file") {
  struct Waiting {
    std::vector<std::string> words;
    Reply reply;
    std::vector<std::string> look;
    Reply seen;
  };
  const std::vector<Waiting> cases = {
      {{"APPEND", "text", "end"}, Integer(1'000'003), {"GETRANGE", "text", "-4", "-1"}, Bulk("tend")},
      {{"SETRANGE", "text", "999999", "new"},
       Integer(1'000'002),
       {"GETRANGE", "text", "-4", "-1"},
       Bulk("tnew")},
      {{"LSET", "list", "2000", "new"}, Ok(), {"LINDEX", "list", "2000"}, Bulk("new")},
      {{"XDEL", "stream", "2000-1"}, Integer(1), {"XLEN", "stream"}, Integer(4999)},
  };
  for (const Waiting& waiting : cases) {
    CAPTURE(waiting.words[0]);
    Run({"FLUSHALL"});
    Fill();
    const Reply digest = Run({"DEBUG", "DIGEST"});
    BeginInHash();
    CHECK(Run(waiting.words) == NoReply());
    CHECK(Await(client(), waiting.reply) <= 20 + kPollSlices);
    CHECK(KeysDone() == 0);
    CHECK(Run(waiting.look) == waiting.seen);
    CHECK(Run(waiting.words) != NoReply());  // no second wait in the same save
    CheckFile(digest);
  }
}

TEST_CASE_METHOD(AwaitedTest,
                 "requests that wait for several values are served in the order of their waits") {
  Fill();
  const Reply digest = Run({"DEBUG", "DIGEST"});
  TestClient& second = Connect();
  TestClient& third = Connect();
  BeginInHash();
  CHECK(Run({"APPEND", "text", "a"}) == NoReply());
  CHECK(second.Run({"APPEND", "text:2", "b"}) == NoReply());
  CHECK(third.Run({"LSET", "list", "0", "c"}) == NoReply());
  size_t turns = Await(client(), Integer(1'000'001));
  CHECK(second.Received().empty());
  turns += Await(second, Integer(500'001));
  turns += Await(third, Ok());
  CHECK(turns <= 40 + kPollSlices);
  CHECK(KeysDone() == 0);
  CheckFile(digest);
}

TEST_CASE_METHOD(AwaitedTest, "a value that is put aside may change, go and be replaced before its turn") {
  Fill();
  const Reply digest = Run({"DEBUG", "DIGEST"});
  BeginInHash();
  CHECK(Run({"LTRIM", "list", "100", "200"}) == NoReply());
  Turn();
  CHECK(Connect().Run({"RPOP", "list", "3"}).elements.size() == 3);
  CHECK(Connect().Run({"LPOP", "list", "3"}).elements.size() == 3);
  CHECK(Connect().Run({"LPUSH", "list", "more"}) == Integer(4995));
  Await(client(), Ok());
  CHECK(Run({"LLEN", "list"}) == Integer(101));
  CHECK(Run({"DEL", "list"}) == Integer(1));

  CHECK(Run({"APPEND", "text", "a"}) == NoReply());
  Turn();
  CHECK(Connect().Run({"SET", "text", "instead"}) == Ok());
  Await(client(), Integer(8));

  CHECK(Run({"XDEL", "stream", "3000-1"}) == NoReply());
  Turn();
  CHECK(Connect().Run({"XADD", "stream", "MAXLEN", "4900", "9999-1", "f", "v"}) == Bulk("9999-1"));
  CHECK(Connect().Run({"DEL", "stream"}) == Integer(1));
  Await(client(), Integer(0));
  CHECK(KeysDone() == 0);
  CheckFile(digest);
}

TEST_CASE_METHOD(AwaitedTest, "a client that reads no snapshot holds nobody up who waits for a value") {
  Fill(3'000'000);
  TestClient& reader = Connect();
  reader.Run({"REPLCONF", "rdb-only", "1"});
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  while (server().sliced_work.waits()) Slice();  // until no more bytes may wait
  REQUIRE(snapshots().saving());
  CHECK(Run({"APPEND", "text", "a"}) == NoReply());
  CHECK(Await(client(), Integer(3'000'001)) <= 25 + kPollSlices);
  CHECK(snapshots().saving());
  Run({"BGSAVE", "CANCEL"});
  FinishSave();
}

TEST_CASE("what is put aside takes a sixteenth of the memory in use, within bounds") {
  constexpr uint64_t kMegabyte = uint64_t{1} << 20;
  CHECK(Saver::MostAside(0) == 16 * kMegabyte);
  CHECK(Saver::MostAside(1024 * kMegabyte) == 64 * kMegabyte);
  CHECK(Saver::MostAside(1'000'000 * kMegabyte) == 128 * kMegabyte);
}

TEST_CASE_METHOD(AwaitedTest, "what is put aside takes no more memory than it may, and the rest comes next") {
  constexpr size_t kTextBytes = Saver::kLeastAsideBytes + 12'000'000;
  Run({"SETRANGE", "text", std::to_string(kTextBytes - 1), "x"});
  Run({"SET", "other", std::string(1'000'000, 'o')});
  FillHash();
  const uint64_t before = server().hubs.accounts.Sum();
  BeginInHash();
  CHECK(Run({"DEL", "other"}) == Integer(1));  // its turn would be the next
  CHECK(Run({"APPEND", "text", "a"}) == NoReply());
  uint64_t most = 0;
  for (std::vector<Reply> replies; replies.empty(); replies = client().Received()) {
    Turn();
    most = std::max(most, server().hubs.accounts.Sum() - before);
  }
  CHECK(KeysDone() == 1);  // the hash
  CHECK(most > Saver::kLeastAsideBytes);
  CHECK(most < Saver::kLeastAsideBytes + 2 * Saver::kPauseBytes);
  FinishSave();
  CHECK(Info("rdb_last_bgsave_status") == "ok");
  CHECK(server().hubs.accounts.Sum() == before);
  const std::string file = disk.files().at(kSnapshotPath);
  const size_t text = file.find("\x04text\x80") + sizeof "\x04text\x80" - 1 + sizeof(uint32_t);
  REQUIRE(file.size() > text + kTextBytes);
  const size_t end = text + kTextBytes - 1;
  CHECK((file[text] == '\0' && file[end] == 'x' && file.find_first_not_of('\0', text) == end));
}

TEST_CASE_METHOD(AwaitedTest, "without memory to put a value aside the save goes on, and the request waits") {
  Fill();
  const Reply digest = Run({"DEBUG", "DIGEST"});
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"APPEND", "text", "t"}, {"LSET", "list", "-1", "x"}, {"XDEL", "stream", "9999-9"}}) {
    CAPTURE(words[0]);
    size_t failed = 0;
    BeginInHash();
    CHECK(Run(words) == NoReply());
    for (size_t nth = 1; nth <= 4; ++nth) {
      {
        const FailingAllocation failing(nth);
        Slice(1);
      }
      failed += AllocationFailed() ? 1 : 0;
      LetWaitingAskAgain(5);
    }
    CHECK(failed >= 1);
    CHECK(client().Received().empty());
    while (client().Received().empty()) Turn();
    CheckFile(digest);
  }
}

TEST_CASE_METHOD(AwaitedTest, "a request that waits goes on if the save ends early") {
  Fill();
  const uint64_t before = server().hubs.accounts.Sum();
  for (const bool cancelled : {true, false}) {
    BeginInHash();
    CHECK(Run({"APPEND", "text", "a"}) == NoReply());
    Turn();
    Turn();
    if (cancelled) {
      CHECK(Connect().Run({"BGSAVE", "CANCEL"}) == Simple("Background saving cancelled"));
    } else {
      CHECK(snapshots().SaveNow(now()) == "");
    }
    CHECK(Await(client(), Integer(cancelled ? 1'000'001 : 1'000'002)) <= kPollSlices);
    FinishSave();
    CHECK(server().hubs.accounts.Sum() == before);
  }
  const Reply digest = Run({"DEBUG", "DIGEST"});
  Run({"BGSAVE"});
  CheckFile(digest);
}

TEST_CASE_METHOD(AwaitedTest, "two keys that share a text are waited for one after the other") {
  Fill();
  Run({"COPY", "text", "copy"});
  const Reply digest = Run({"DEBUG", "DIGEST"});
  BeginInHash();
  TestClient& second = Connect();
  CHECK(Run({"SETRANGE", "text", "0", "a"}) == NoReply());  // both hold it, so that an edit copies it
  CHECK(second.Run({"SETRANGE", "copy", "0", "b"}) == NoReply());
  Await(client(), Integer(1'000'000));
  if (second.Received().empty()) Await(second, Integer(1'000'000));
  CHECK(KeysDone() == 0);
  CheckFile(digest);
}

TEST_CASE_METHOD(AwaitedTest, "a trim of a half-saved stream waits if more than 1000 entries go") {
  const auto id = [](int number) { return std::to_string(number) + "-1"; };
  const std::vector<std::vector<std::string>> few = {
      {"XTRIM", "stream", "MAXLEN", "4900"},
      {"XTRIM", "stream", "MINID", id(300)},
      {"XTRIM", "stream", "MINID", "~", id(4000), "LIMIT", "500"},
      {"XADD", "stream", "MINID", id(900), "9999-1", "f", "v"},
      {"XDEL", "stream", id(1), id(900)},
  };
  const std::vector<std::vector<std::string>> many = {
      {"XTRIM", "stream", "MAXLEN", "2000"},
      {"XTRIM", "stream", "MINID", id(4000)},
      {"XADD", "stream", "MAXLEN", "~", "1000", "9999-1", "f", "v"},
      {"XADD", "stream", "MINID", id(3000), "9999-1", "f", "v"},
  };
  for (const auto& words : few) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    Fill();
    const Reply digest = Run({"DEBUG", "DIGEST"});
    BeginInHash();
    CHECK(Run(words) != NoReply());
    CheckFile(digest);
  }
  for (const auto& words : many) {
    CAPTURE(words);
    Run({"FLUSHALL"});
    Fill();
    const Reply digest = Run({"DEBUG", "DIGEST"});
    BeginInHash();
    CHECK(Run(words) == NoReply());
    CHECK(Connect().Run({"XLEN", "stream"}) == Integer(5000));
    while (client().Received().empty()) Turn();
    CHECK(KeysDone() == 0);
    CHECK(Run({"XLEN", "stream"}).integer < 4000);
    CheckFile(digest);
  }
}

TEST_CASE_METHOD(AwaitedTest, "a trim waits for the entries that go, not for the whole stream") {
  for (int i = 0; i < 40'000; ++i)
    Run({"XADD", "stream", std::to_string(i + 1) + "-1", "field", std::string(50, 's')});
  FillHash();
  const Reply digest = Run({"DEBUG", "DIGEST"});
  BeginInHash();
  CHECK(Run({"XADD", "stream", "MINID", "2000-1", "50000-1", "f", "v"}) == NoReply());
  CHECK(Await(client(), Bulk("50000-1")) <= 2 * kPollSlices);
  const Entry* const entry = keyspace().LookAt("stream", now());
  CHECK(server().databases.ReaderOf(*entry) != nullptr);
  CHECK(Run({"XLEN", "stream"}) == Integer(38'002));
  CHECK(KeysDone() == 0);
  CheckFile(digest);
}

}  // namespace mayfly::testing
