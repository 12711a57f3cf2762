// Edits of a few bytes of a large string during a save: they do not wait, copy little, and the file has the bytes of the beginning.
#include <random>
#include <string>
#include <vector>

#include "cache/entry/value_listener.h"
#include "commands/memory/failing_allocation.h"
#include "snapshot/saver.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

constexpr size_t kTextBytes = 3'000'000;

class EditedTextTest : public SnapshotTest {
 public:
  // A text of digits, and a value that is before it in the file.
  EditedTextTest() {
    for (int i = 0; text.size() < kTextBytes; ++i) text += std::to_string(i * 77);
    text.resize(kTextBytes);
    Run({"SET", "text", text});
    AdvanceTime(1000);
    Run({"SET", "first", std::string(1'000'000, 'f')});
    digest = Run({"DEBUG", "DIGEST"});
    before = server().hubs.accounts.Sum();
  }
  // Begins a save, and reads `parts` parts of the text.
  void Begin(int parts = 0) {
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    Slice(1);
    if (parts == 0) return;
    while (stats().saves.keys_done == 0) Slice(1);
    for (int i = 0; i < parts + 2; ++i) Slice(1);  // the walk finds the text, and its head is written
    REQUIRE(stats().saves.keys_done == 1);
  }
  uint64_t copied() { return server().hubs.accounts.Sum() - before; }
  void CheckFile() {
    FinishSave();
    CHECK(Info("rdb_last_bgsave_status") == "ok");
    CHECK(server().hubs.accounts.Sum() == before);
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  }

  std::string text;
  Reply digest;
  uint64_t before = 0;
};

}  // namespace

TEST_CASE_METHOD(EditedTextTest,
                 "edits of a few bytes of a half-saved string do not wait, and copy the parts around them") {
  Begin();
  const uint64_t begun = copied();
  CHECK(Run({"SETRANGE", "text", "1500000", "new"}) == Integer(kTextBytes));
  CHECK(Run({"SETBIT", "text", "16000007", "1"}).kind == Reply::Kind::kInteger);
  CHECK(Run({"BITFIELD", "text", "SET", "u8", "#2900000", "88", "GET", "u8", "0"}).elements.size() == 2);
  CHECK(Run({"GETRANGE", "text", "1500000", "1500002"}) == Bulk("new"));
  CHECK(Run({"GETRANGE", "text", "2900000", "2900000"}) == Bulk("X"));
  CHECK(copied() - begun > 2 * 131'071);
  CHECK(copied() - begun < 3 * 131'072);
  // The same parts are not copied again.
  const uint64_t once = copied();
  CHECK(Run({"SETRANGE", "text", "1500100", "more"}) == Integer(kTextBytes));
  CHECK(copied() == once);
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "what is in the file already is not copied") {
  Begin(5);
  const uint64_t begun = copied();
  CHECK(Run({"SETRANGE", "text", "0", "new"}) == Integer(kTextBytes));
  CHECK(copied() == begun);
  CHECK(Run({"SETRANGE", "text", "2999990", "new"}) == Integer(kTextBytes));
  CHECK(copied() > begun);
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest,
                 "an edit across parts, of a whole part and of the last byte is as any other") {
  Begin();
  CHECK(Run({"SETRANGE", "text", "131070", "xy"}) == Integer(kTextBytes));
  CHECK(Run({"SETRANGE", "text", "262142", std::string(131'071, 'p')}) == Integer(kTextBytes));
  CHECK(Run({"SETRANGE", "text", "2999999", "z"}) == Integer(kTextBytes));
  std::string wanted = text;
  wanted.replace(131'070, 2, "xy")
      .replace(262'142, 131'071, std::string(131'071, 'p'))
      .replace(2'999'999, 1, "z");
  CHECK((Run({"GET", "text"}) == Bulk(wanted)));
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "the first edit may be the reason why the string is saved now") {
  REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
  CHECK(Run({"SETRANGE", "text", "0", "new"}) == Integer(kTextBytes));
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "transactions edit in place, too") {
  Begin();
  const uint64_t begun = copied();
  Run({"MULTI"});
  Run({"SETRANGE", "text", "5", "new"});
  CHECK(Run({"EXEC"}) == Array({Integer(kTextBytes)}));
  CHECK(copied() - begun < 200'000);
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest,
                 "an edit of more than a megabyte waits, and one that makes the string longer") {
  TestClient& writer = Connect();
  for (const std::string& at : {std::string("0"), std::to_string(kTextBytes - 1'000)}) {
    CAPTURE(at);
    Begin();
    CHECK(writer.Run({"SETRANGE", "text", at, std::string(at == "0" ? 1'100'000 : 1'001, 'x')}) == NoReply());
    FinishSave();
    AdvanceTime(10);
    CHECK(writer.Received().size() == 1);
  }
}

TEST_CASE_METHOD(EditedTextTest, "an edit of a string that a reply or another key has as well waits") {
  Run({"COPY", "text", "copy"});
  Begin();
  TestClient& writer = Connect();
  CHECK(writer.Run({"SETRANGE", "text", "0", "new"}) == NoReply());
  FinishSave();
  AdvanceTime(10);
  CHECK(writer.Received() == std::vector<Reply>{Integer(kTextBytes)});
  CHECK((Run({"GET", "copy"}) == Bulk(text)));
}

TEST_CASE_METHOD(EditedTextTest, "an edited string may go, be replaced or be renamed before its turn") {
  SECTION("DEL") {
    Begin();
    Run({"SETRANGE", "text", "0", "new"});
    CHECK(Run({"DEL", "text"}) == Integer(1));
  }
  SECTION("SET") {
    Begin();
    Run({"SETRANGE", "text", "0", "new"});
    CHECK(Run({"SET", "text", "other"}) == Ok());
  }
  SECTION("RENAME") {
    Begin();
    Run({"SETRANGE", "text", "0", "new"});
    CHECK(Run({"RENAME", "text", "other"}) == Ok());
    CHECK(Run({"SETRANGE", "other", "2000000", "new"}) == Integer(kTextBytes));
  }
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "a string that has been edited may be put aside for a request that waits") {
  Begin();
  TestClient& second = Connect();
  CHECK(Run({"SETRANGE", "text", "2000000", "new"}) == Integer(kTextBytes));
  CHECK(second.Run({"APPEND", "text", "end"}) == NoReply());
  CHECK(Run({"SETRANGE", "text", "2900000", "new"}) == Integer(kTextBytes));
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "an edit during a save that ends early leaves nothing behind") {
  Begin();
  CHECK(Run({"SETRANGE", "text", "0", "new"}) == Integer(kTextBytes));
  Run({"BGSAVE", "CANCEL"});
  FinishSave();
  CHECK(server().hubs.accounts.Sum() == before);
  CHECK(Run({"SETRANGE", "text", "0", "neu"}) == Integer(kTextBytes));
  CHECK(Run({"GETRANGE", "text", "0", "2"}) == Bulk("neu"));
}

TEST_CASE_METHOD(EditedTextTest, "without memory for a copy the reader wants the edit to wait") {
  Begin(1);
  SlicedReader* const reader = server().databases.ReaderOf(*keyspace().LookAt("text", now()));
  REQUIRE(reader != nullptr);
  for (size_t nth = 1; nth <= 2; ++nth) {
    const FailingAllocation failing(nth);
    CHECK_FALSE(reader->BeginEdit(2'000'000, 2'000'003));
  }
  REQUIRE(reader->BeginEdit(2'000'000, 2'000'003));
  reader->EndEdit();
  CheckFile();
}

TEST_CASE_METHOD(EditedTextTest, "whatever bytes change during a save, the file has those of the beginning") {
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    REQUIRE(Run({"BGSAVE"}) == Simple("Background saving started"));
    std::string now_text = Run({"GET", "text"}).text;
    while (snapshots().saving()) {
      const size_t at = random() % (kTextBytes - 300'000);
      const std::string part(1 + random() % (random() % 4 == 0 ? 300'000 : 100),
                             static_cast<char>('a' + random() % 26));
      REQUIRE(Run({"SETRANGE", "text", std::to_string(at), part}) == Integer(kTextBytes));
      now_text.replace(at, part.size(), part);
      for (size_t slices = random() % 5; slices != 0; --slices) Slice(1);
    }
    CHECK((Run({"GET", "text"}) == Bulk(now_text)));
    CheckFile();
  }
}

}  // namespace mayfly::testing
