// mayfly --check-snapshot: what the check of a file prints, and when the file counts as good.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "snapshot/file_check.h"
#include "snapshot/format/crc64.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

using Lines = std::vector<std::string>;
namespace opcode = rdb::opcode;

class SnapshotCheckTest : public SnapshotTest {
 public:
  static void Aux(rdb::Out& out, std::string_view name, std::string_view value) {
    out.Byte(opcode::kAux);
    out.String(name);
    out.String(value);
  }
  static void String(rdb::Out& out, std::string_view key) {
    out.Byte(rdb::type::kString);
    out.String(key);
    out.String("v");
  }
  static void EmptySet(rdb::Out& out, std::string_view key) {
    out.Byte(rdb::type::kSet);
    out.String(key);
    out.Length(0);
  }
  void Deadline(rdb::Out& out, int64_t from_now_ms) {
    out.Byte(opcode::kDeadlineMs);
    out.Millis(WallMs() + from_now_ms);
  }
  enum class Checksum : uint8_t { kRight, kWrong, kNone };
  static std::string FileOf(const std::string& head, const std::function<void(rdb::Out&)>& write,
                            Checksum checksum = Checksum::kRight) {
    std::string bytes = head;
    rdb::Out out(bytes);
    write(out);
    out.Byte(opcode::kEnd);
    const uint64_t crc = rdb::Crc64(0, bytes);
    out.Checksum(checksum == Checksum::kNone ? 0 : checksum == Checksum::kRight ? crc : crc ^ 1);
    return bytes;
  }
  // The problem; what was printed is in `lines`.
  std::string Check(const std::string& bytes) {
    lines.clear();
    disk.Put("./f", bytes);
    return CheckSnapshotFile(disk, "./f", now(), [this](const std::string& line) { lines.push_back(line); });
  }
  static Lines Counts(int keys, int with_deadline, int expired, int libraries) {
    return {"keys: " + std::to_string(keys), "keys with a deadline: " + std::to_string(with_deadline),
            "keys that have expired already: " + std::to_string(expired),
            "libraries of functions: " + std::to_string(libraries)};
  }

  Lines lines;
};

Lines operator+(Lines first, const Lines& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

TEST_CASE_METHOD(
    SnapshotCheckTest,
    "a check counts keys, deadlines and libraries; what modules write is a problem, as a load keeps "
    "such a file") {
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out&) {})) == "");
  CHECK(lines == Lines{"version: 10"} + Counts(0, 0, 0, 0) + Lines{"checksum: OK"});
  const auto all = [this](rdb::Out& out) {
    Aux(out, "redis-ver", "7.0.15");
    Aux(out, "long\n", std::string(201, 'x'));
    Aux(out, "not so long", std::string(200, 'y'));
    String(out, "lasting");
    Deadline(out, 1000);
    String(out, "later");
    Deadline(out, 0);
    String(out, "over");
    EmptySet(out, "empty");
    out.Byte(opcode::kFunction);
    out.String("no library, but the check does not run it");
    out.Byte(rdb::type::kModule);
    out.String("module");
    for (const uint64_t number : {uint64_t{1}, rdb::module_part::kEnd}) out.Length(number);
    for (int i = 0; i < 2; ++i) {
      out.Byte(opcode::kModuleAux);
      for (const uint64_t number : {uint64_t{1}, rdb::module_part::kEnd}) out.Length(number);
    }
  };
  const Lines body = Lines{"field redis-ver: 7.0.15", "field long\\x0a: 201 bytes",
                           "field not so long: " + std::string(80, 'y') + "...",
                           "left out by a load: key module of database 0: a value of a module"} +
                     Counts(5, 2, 1, 1) +
                     Lines{"keys that a load skips, of modules or without members: 2",
                           "records of modules that a load skips: 2"};
  const std::string problem =
      "./f has 1 keys that a load leaves out, 2 records of modules that a load leaves out";
  CHECK(Check(FileOf("REDIS0010", all)) == problem);
  CHECK(lines.size() == body.size() + 2);
  CHECK(lines == Lines{"version: 10"} + body + Lines{"checksum: OK"});
  CHECK(Check(FileOf("VALKEY080", all, Checksum::kNone)) == problem);
  CHECK(lines == Lines{"version: 80 of Valkey"} + body + Lines{"checksum: none in the file"});
  CHECK(Check(FileOf("REDIS0010", all, Checksum::kWrong)).ends_with(": the checksum is wrong"));
  CHECK(lines == Lines{"version: 10"} + body);
}

TEST_CASE_METHOD(SnapshotCheckTest,
                 "a hash whose fields are all over has expired, and a task that is due has not") {
  CHECK(Check(FileOf("REDIS0012", [this](rdb::Out& out) {
          for (const int64_t from_now_ms : {-1, 1000}) {
            out.Byte(rdb::type::kHashTtl);
            out.String("hash" + std::to_string(from_now_ms));
            out.Millis(WallMs() + from_now_ms);
            for (int i = 0; i < 2; ++i) out.Length(1);
            for (const char* text : {"f", "v"}) out.String(text);
          }
        })) == "");
  CHECK(lines == Lines{"version: 12"} + Counts(2, 0, 1, 0) + Lines{"checksum: OK"});
  Run({"SET", "task", "v", "PX", "10", "INTO", "jobs"});
  Run({"SET", "key", "v", "PX", "10"});
  REQUIRE(Run({"SAVE"}) == Ok());
  LetTimePass(20);
  CHECK(Check(disk.files().at(kSnapshotPath)) == "");
  CHECK(std::ranges::count(lines, "keys with a deadline: 2") == 1);
  CHECK(std::ranges::count(lines, "keys that have expired already: 1") == 1);
}

TEST_CASE_METHOD(SnapshotCheckTest,
                 "a check shows a hundred fields, refused keys and doubled keys, and counts all") {
  for (const int fields : {100, 101}) {
    CHECK(Check(FileOf("REDIS0010", [&](rdb::Out& out) {
            for (int i = 0; i < fields; ++i) Aux(out, "field", std::to_string(i));
          })) == "");
    CHECK(std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("field "); }) == 100);
    CHECK(std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("fields that"); }) ==
          fields - 100);
    CHECK(std::ranges::count(lines, "fields that are not shown: 1") == fields - 100);
  }
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out& out) {
          for (int i = 0; i < 105; ++i) {
            out.Byte(rdb::type::kSet);
            out.String("bad");
            out.Length(2);
            for (int j = 0; j < 2; ++j) out.String("m");
          }
        })) == "./f has 105 keys that a load leaves out");
  CHECK(std::ranges::count_if(lines, [](const auto& line) {
          return line.starts_with("left out by a load: byte ") &&
                 line.ends_with(", key bad: a damaged value");
        }) == 100);
  CHECK(lines.back() == "checksum: OK");
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out& out) {
          for (int i = 0; i < 106; ++i) String(out, "k");
        })) == "./f has 105 keys twice");
  CHECK(std::ranges::count(lines, "there twice: key k of database 0") == 100);
}

TEST_CASE_METHOD(SnapshotCheckTest, "many keys are each there once, in two databases too") {
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out& out) {
          for (const uint64_t database : {0, 7}) {
            out.Byte(opcode::kDatabase);
            out.Length(database);
            for (int i = 0; i < 5000; ++i) String(out, "key:" + std::to_string(i));
          }
        })) == "");
  CHECK(lines == Lines{"version: 10"} + Counts(10'000, 0, 0, 0) + Lines{"checksum: OK"});
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out& out) {
          for (int i = 0; i < 5000; ++i) String(out, "key:" + std::to_string(i));
          for (const int i : {0, 511, 512, 4999}) String(out, "key:" + std::to_string(i));
        })) == "./f has 4 keys twice");
}

TEST_CASE_METHOD(SnapshotCheckTest,
                 "a check names the keys of which a load leaves out what only a newer Mayfly knows") {
  CHECK(Check(FileOf("REDIS0010", [](rdb::Out& out) {
          Aux(out, "mayfly-ver", "9.0.0");
          Aux(out, "m", "\x40");
          String(out, "k\n");
          Aux(out, "i", "x");
          Aux(out, "i", "1");
          String(out, "l");
          out.Byte(opcode::kDatabase);
          out.Length(3);
          Aux(out, "new", "v");
          Aux(out, "m", "");
          String(out, "m");
          String(out, "good");
        })) == "./f has 3 keys of which a load leaves something out");
  CHECK(lines == Lines{"version: 10", "field mayfly-ver: 9.0.0",
                       "left out by a load: key k\\x0a of database 0: terms",
                       "left out by a load: key l of database 0: the time of use", "field new: v",
                       "left out by a load: key m of database 3: new, terms"} +
                     Counts(4, 0, 0, 0) + Lines{"checksum: OK"});
}

TEST_CASE_METHOD(
    SnapshotCheckTest,
    "a check names a set of whose deadlines a load leaves some out, and says why not of others") {
  std::string deadline;
  rdb::Out(deadline).String("member");
  rdb::Out(deadline).Millis(WallMs() + 1000);
  for (const bool whole : {true, false}) {
    CAPTURE(whole);
    CHECK(Check(FileOf("REDIS0010", [&](rdb::Out& out) {
            Aux(out, "mayfly-ver", "0.1.0");
            out.Byte(rdb::type::kSet);
            out.String("set");
            out.Length(1);
            out.String("member");
            Aux(out, "t", whole ? deadline : deadline.substr(0, deadline.size() - 1));
            String(out, "k");
          })) == (whole ? "" : "./f has 1 keys of which a load leaves something out"));
    CHECK(std::ranges::count(lines, "left out by a load: key set of database 0: deadlines of members") ==
          (whole ? 0 : 1));
  }
}

TEST_CASE_METHOD(SnapshotCheckTest,
                 "a check shows the fields about a file that a newer Mayfly has written, and no others") {
  const auto fields = [](rdb::Out& out) {
    for (const char* name : {"explog", "explog-next", "new"}) Aux(out, name, "xyz");
    String(out, "k");
    Aux(out, "newer", "after the last key");
  };
  CHECK(Check(FileOf("REDIS0010", [&](rdb::Out& out) {
          Aux(out, "mayfly-ver", "9.0.0");
          fields(out);
        })) == "./f has 4 fields that a load leaves out");
  for (const char* name : {"explog", "explog-next", "new", "newer"})
    CHECK(std::ranges::count(lines, "left out by a load: field " + std::string(name)) == 1);
  // Another server's fields mean something else.
  CHECK(Check(FileOf("REDIS0010", fields)) == "");
}

TEST_CASE_METHOD(SnapshotCheckTest, "a check knows every field that this Mayfly writes") {
  SetOption("expire-log-size", "1mb");
  Run({"SET", "gone", "v", "PX", "5"});
  AdvanceTime(5);
  REQUIRE(Run({"EXPLOG", "READ", "0"}).elements.size() == 1);
  REQUIRE(Run({"SET", "tagged", "v", "EX", "100", "TAGS", "1", "t"}) == Ok());
  REQUIRE(Run({"SET", "stale", "v", "EX", "100", "STALE", "1000"}) == Ok());
  Run({"SADD", "set", "m"});
  REQUIRE(Run({"EXPIREMEMBER", "set", "m", "100"}) == Integer(1));
  Run({"SET", "used before", "v"});
  AdvanceTime(1000);
  Run({"SET", "promise", "v", "PXAT", std::to_string(WallMs() + 100'000)});
  REQUIRE(Run({"SAVE"}) == Ok());
  CHECK(Check(disk.files().at(kSnapshotPath)) == "");
  for (const char* field : {"explog-next: ", "explog: "})
    CHECK(std::ranges::count_if(
              lines, [&](const auto& line) { return line.starts_with("field " + std::string(field)); }) == 1);
}

TEST_CASE_METHOD(SnapshotCheckTest,
                 "a file that is none, or of an unknown version, has no report; a cut one has") {
  CHECK(Check("nonsense") == "./f is damaged at byte 0: this is no snapshot file");
  CHECK(lines.empty());
  CHECK(Check("REDIS00") == "./f is damaged at byte 0: this is no snapshot file");
  CHECK(lines.empty());
  CHECK(Check("REDIS0099") == "./f has version 99, which is not known");
  CHECK(lines.empty());
  const std::string whole = FileOf("REDIS0010", [](rdb::Out& out) {
    String(out, "a");
    String(out, "b");
  });
  CHECK(Check(whole.substr(0, whole.size() - 12)).ends_with(": the file ends too early"));
  CHECK(lines == Lines{"version: 10"} + Counts(1, 0, 0, 0));
  CHECK(CheckSnapshotFile(disk, "./none", now(), [](const std::string&) {}) ==
        "cannot open ./none: No such file or directory");
  disk.piece = 5;
  CHECK(Check(whole) == "");
}

TEST_CASE_METHOD(SnapshotCheckTest, "a file that the disk does not give whole is not called damaged") {
  const std::string whole = FileOf("REDIS0010", [](rdb::Out& out) { String(out, "a"); });
  disk.piece = whole.size() / 2 + 1;
  for (const size_t read : {1, 2, 3}) {  // the last one only sees that nothing follows
    CAPTURE(read);
    disk.FailAt(1 + read, EIO);
    CHECK(Check(whole) == "cannot read ./f: Input/output error");
  }
}

}  // namespace mayfly::testing
