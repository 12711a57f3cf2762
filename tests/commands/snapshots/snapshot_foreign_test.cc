// Files of other servers, made by hand from the public layout: what newer servers write beside keys, types that are not known
// here, and fields of Mayfly's own that are wrong.
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/key_terms.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

namespace opcode = rdb::opcode;
namespace part = rdb::module_part;

class ForeignTest : public SnapshotTest {
 public:
  // A file of this version with what `write` appends, between the keys "before" and "after". It has no checksum.
  std::string Load(const std::string& head, const std::function<void(rdb::Out&)>& write) {
    std::string bytes = head;
    rdb::Out out(bytes);
    WriteString(out, "before");
    write(out);
    WriteString(out, "after");
    out.Byte(opcode::kEnd);
    out.Checksum(0);
    disk.Put(kSnapshotPath, bytes);
    Run({"FLUSHALL"});
    std::string problem = snapshots().LoadNow({}, now());
    disk.Remove(kSnapshotPath + ".damaged");
    return problem;
  }
  static void WriteString(rdb::Out& out, std::string_view key) {
    out.Byte(rdb::type::kString);
    out.String(key);
    out.String("v");
  }
  static void WriteAux(rdb::Out& out, std::string_view name, std::string_view value) {
    out.Byte(opcode::kAux);
    out.String(name);
    out.String(value);
  }
  // The parts of a module's value, or of what comes beside one.
  static void WriteParts(rdb::Out& out) {
    for (const uint64_t number : {part::kUnsigned, uint64_t{2}, part::kSigned, uint64_t{1} << 40})
      out.Length(number);
    out.Length(part::kString);
    out.String("text");
    out.Length(part::kDouble);
    out.Double(1.5);
    out.Length(part::kEnd);
  }
  bool HasBoth() { return Run({"EXISTS", "before", "after"}) == Integer(2); }
};

}  // namespace

TEST_CASE_METHOD(ForeignTest, "a deadline is in milliseconds, or as old servers wrote it in seconds") {
  const int64_t unix_s = WallMs() / 1000 + 100;
  CHECK(Load("REDIS0009", [&](rdb::Out& out) {
          out.Byte(opcode::kDeadlineS);
          for (int shift = 0; shift < 32; shift += 8) out.Byte(static_cast<uint8_t>(unix_s >> shift));
          WriteString(out, "in s");
          out.Byte(opcode::kDeadlineMs);
          for (int shift = 0; shift < 64; shift += 8)
            out.Byte(static_cast<uint8_t>((unix_s * 1000 + 7) >> shift));
          WriteString(out, "in ms");
        }) == "");
  CHECK(HasBoth());
  CHECK(Run({"PEXPIRETIME", "in s"}) == Integer(unix_s * 1000));
  CHECK(Run({"PEXPIRETIME", "in ms"}) == Integer(unix_s * 1000 + 7));
}

TEST_CASE_METHOD(ForeignTest,
                 "a file of any version up to the newest is read, with a checksum from the fifth on") {
  const auto load = [this](const std::string& head, bool has_checksum) {
    std::string bytes = head;
    rdb::Out out(bytes);
    WriteString(out, "before");
    WriteString(out, "after");
    out.Byte(opcode::kEnd);
    if (has_checksum) out.Checksum(0);
    disk.Put(kSnapshotPath, bytes);
    Run({"FLUSHALL"});
    std::string problem = snapshots().LoadNow({}, now());
    for (const char* end : {".damaged", ".unknown"}) disk.Remove(kSnapshotPath + end);
    return problem;
  };
  for (unsigned version = 1; version <= 15; ++version) {
    CAPTURE(version);
    const std::string head = "REDIS00" + std::string(version < 10 ? "0" : "") + std::to_string(version);
    CHECK(load(head, version >= 5) == "");
    CHECK(HasBoth());
    CHECK(load(head, version < 5).find(version < 5 ? "bytes follow its end" : "the file ends too early") !=
          std::string::npos);
    CHECK(HasBoth());
  }
  CHECK(load("VALKEY080", true) == "");
  CHECK(HasBoth());
  for (const char* head : {"REDIS0000", "REDIS0016", "REDIS9999", "VALKEY079", "VALKEY081", "VALKEY010"}) {
    CAPTURE(head);
    CHECK(load(head, true).ends_with(", which is not known"));
    CHECK(Run({"DBSIZE"}) == Integer(0));
  }
  for (const char* head : {"REDIS00x1", "REDIS-001", "REDIS  11", "redis0010", "VALKEY08 ", "RESIS0010"}) {
    CAPTURE(head);
    CHECK(load(head, true) == "./dump.rdb is damaged at byte 0: this is no snapshot file");
  }
}

TEST_CASE_METHOD(ForeignTest, "facts of a key are those of the next key alone, but for its database") {
  CHECK(Load("REDIS0010", [this](rdb::Out& out) {
          out.Byte(opcode::kDatabase);
          out.Length(3);
          out.Byte(opcode::kDeadlineMs);
          out.Millis(WallMs() + 5000);
          out.Byte(opcode::kIdle);
          out.Length(100);
          WriteString(out, "timed");
          WriteString(out, "lasting");
          // Of a key that is refused, and of one without members.
          out.Byte(opcode::kDeadlineMs);
          out.Millis(WallMs() + 5000);
          out.Byte(rdb::type::kSet);
          out.String("empty");
          out.Length(0);
          WriteString(out, "lasting, too");
          out.Byte(opcode::kDeadlineMs);
          out.Millis(WallMs() - 5000);
          WriteString(out, "over");
        }) == "");
  CHECK(Run({"EXISTS", "before", "after"}) == Integer(1));
  Run({"SELECT", "3"});
  CHECK(Run({"DBSIZE"}) == Integer(4));
  CHECK(Run({"PTTL", "timed"}) == Integer(5000));
  CHECK(Run({"OBJECT", "IDLETIME", "timed"}).integer >= 99);
  for (const char* key : {"lasting", "lasting, too", "after"}) {
    CHECK(Run({"PTTL", key}) == Integer(-1));
    CHECK(Run({"OBJECT", "IDLETIME", key}) == Integer(0));
  }
}

TEST_CASE_METHOD(ForeignTest, "what newer servers write beside keys is skipped") {
  CHECK(Load("REDIS0012", [](rdb::Out& out) {
          out.Byte(opcode::kSlotInfo);
          for (const uint64_t number : {16383, 100, 5}) out.Length(number);
        }) == "");
  CHECK(HasBoth());
  CHECK(Load("REDIS0015", [](rdb::Out& out) {
          out.Byte(opcode::kFunction);
          out.String("#!lua name=lib");
        }) == "");
  CHECK(HasBoth());
  // The job of an import of slots, in Valkey's file.
  CHECK(Load("VALKEY080", [](rdb::Out& out) {
          out.Byte(opcode::kKeyMetaOrImport);
          out.String("job");
          for (const uint64_t number : {2, 0, 100, 200, 16383}) out.Length(number);
        }) == "");
  CHECK(HasBoth());
}

// A slot beyond all slots has overwritten memory in Redis (fixed in 7.4.11).
TEST_CASE_METHOD(ForeignTest, "a file's note of a slot may be any number, and so may the sizes with it") {
  constexpr uint64_t kNumbers[] = {0, 16383, 16384, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX};
  for (const uint64_t slot : kNumbers) {
    for (const uint64_t size : kNumbers) {
      CAPTURE(slot, size);
      CHECK(Load("REDIS0012", [&](rdb::Out& out) {
              out.Byte(opcode::kSlotInfo);
              for (const uint64_t number : {slot, size, size}) out.Length(number);
            }) == "");
      CHECK(HasBoth());
    }
  }
}

TEST_CASE_METHOD(ForeignTest, "a file that promises more keys than it has takes no memory for them") {
  for (const uint64_t keys : {uint64_t{2}, uint64_t{1} << 20, UINT64_MAX}) {
    std::string head = "REDIS0010";
    rdb::Out sizes(head);
    sizes.Byte(opcode::kTableSizes);
    for (const uint64_t number : {keys, uint64_t{0}}) sizes.Length(number);
    CHECK(Load(head, [](rdb::Out& out) {
            for (int i = 0; i < 100; ++i) WriteString(out, "key:" + std::to_string(i));
          }) == "");
    CHECK(HasBoth());
    CHECK(Run({"DBSIZE"}) == Integer(102));
    CHECK(keyspace().table().memory() < 10'000);
    CHECK(keyspace().Validate());
  }
}

TEST_CASE_METHOD(ForeignTest, "a file of more keys than there is room for makes no table for all of them") {
  constexpr int kKeys = 50'000;
  std::string head = "REDIS0010";
  rdb::Out sizes(head);
  sizes.Byte(opcode::kTableSizes);
  for (const uint64_t number : {kKeys, 0}) sizes.Length(number);
  const auto write = [](rdb::Out& out) {
    for (int i = 0; i < kKeys; ++i) WriteString(out, "key:" + std::to_string(i));
  };
  SetOption("maxkeys", "500");
  CHECK(Load(head, write) == "");
  CHECK(Run({"DBSIZE"}) == Integer(500));
  CHECK(keyspace().table().memory() < 10'000);
  SetOption("maxkeys", "0");
  CHECK(Load(head, write) == "");
  CHECK(Run({"DBSIZE"}) == Integer(kKeys + 2));
  CHECK(keyspace().Validate());
}

TEST_CASE_METHOD(
    ForeignTest,
    "the idle seconds of a Redis's file are those of its keys, up to the longest that a key has here") {
  LetTimePass(500ULL * 24 * 3600 * 1000);
  const std::vector<std::pair<std::string, uint64_t>> keys = {
      {"cold", 86'400}, {"warm", 3600}, {"cool", 7200}, {"longest", UINT64_MAX}, {"long", uint64_t{1} << 40}};
  CHECK(Load("REDIS0010", [&](rdb::Out& out) {
          for (const auto& [key, seconds] : keys) {
            out.Byte(opcode::kIdle);
            out.Length(seconds);
            WriteString(out, key);
          }
        }) == "");
  CHECK(HasBoth());
  const auto idle_s = [&](const char* key) { return Run({"OBJECT", "IDLETIME", key}).integer; };
  CHECK(idle_s("cold") == 86'400);
  CHECK(idle_s("cool") == 7200);
  CHECK(idle_s("warm") == 3600);
  CHECK(idle_s("after") == 0);
  CHECK(idle_s("long") >= 97 * 24 * 3600);
  CHECK(idle_s("longest") == idle_s("long"));
}

TEST_CASE_METHOD(ForeignTest, "under an LFU policy the counters of a Redis's file are those of its keys") {
  SetOption("maxmemory-policy", "allkeys-lfu");
  CHECK(Load("REDIS0010", [&](rdb::Out& out) {
          for (const int count : {0, 1, 7, 255}) {
            out.Byte(opcode::kFrequency);
            out.Byte(static_cast<uint8_t>(count));
            WriteString(out, "used " + std::to_string(count));
          }
        }) == "");
  CHECK(HasBoth());
  for (const int count : {0, 1, 7, 255})
    CHECK(Run({"OBJECT", "FREQ", "used " + std::to_string(count)}) == Integer(count));
}

TEST_CASE_METHOD(ForeignTest, "a hash with the window of a stale value has none: only strings have") {
  constexpr char kWallAndWindow = 1 | 4;
  CHECK(Load("REDIS0010", [this](rdb::Out& out) {
          WriteAux(out, "mayfly-ver", "1");
          WriteAux(out, KeyTerms::kField, std::string{kWallAndWindow, '\x3F'});  // 63 ms
          out.Byte(opcode::kDeadlineMs);
          out.Millis(WallMs() + 10);
          out.Byte(rdb::type::kHash);
          out.String("hash");
          out.Length(1);
          for (const char* text : {"f", "v"}) out.String(text);
        }) == "");
  CHECK(HasBoth());
  CHECK(Run({"HGET", "hash", "f"}) == Bulk("v"));
  AdvanceTime(10);
  const Reply lease = Run({"TAKE", "hash", "LEASE", "1000"});
  CHECK(lease.elements.at(0) == Bulk("LEASE"));
  CHECK(lease.elements.at(1) == Null());  // no stale value
}

TEST_CASE_METHOD(ForeignTest, "nor has a hash whose deadline was over before the load") {
  constexpr char kWallAndWindow = 1 | 4;
  CHECK(Load("REDIS0010", [this](rdb::Out& out) {
          WriteAux(out, "mayfly-ver", "1");
          WriteAux(out, KeyTerms::kField, std::string{kWallAndWindow, '\x3F'});  // 63 ms
          out.Byte(opcode::kDeadlineMs);
          out.Millis(WallMs() - 10);
          out.Byte(rdb::type::kHash);
          out.String("hash");
          out.Length(1);
          for (const char* text : {"f", "v"}) out.String(text);
        }) == "");
  CHECK(HasBoth());
  CHECK(Run({"EXISTS", "hash"}) == Integer(0));
  CHECK(keyspace().stale().size() == 0);
}

TEST_CASE_METHOD(
    ForeignTest,
    "an import of more slots than there are is damage; an event of an impossible number is left out") {
  CHECK(Load("VALKEY080", [](rdb::Out& out) {
          out.Byte(opcode::kKeyMetaOrImport);
          out.String("job");
          out.Length(16385);
        }).find("a record that cannot be read") != std::string::npos);
  SetOption("expire-log-size", "1mb");
  for (const uint64_t number : {uint64_t{1} << 40, (uint64_t{1} << 62) + 1}) {
    std::string record;
    rdb::Out event(record);
    event.Length(number);
    event.Millis(WallMs());
    for (int i = 0; i < 2; ++i) event.Byte(0);  // expired, without a value
    event.Length(0);
    event.String("gone");
    CHECK(Load("REDIS0010", [&](rdb::Out& out) {
            WriteAux(out, "mayfly-ver", "1");
            WriteAux(out, "explog", record);
          }) == "");
    CHECK(Run({"EXPLOG", "READ", "0"}).elements.size() == 1);
  }
}

TEST_CASE_METHOD(ForeignTest, "what modules write is skipped, or refused with rdb-skip-unknown no") {
  const auto beside = [](rdb::Out& out) {
    out.Byte(opcode::kModuleAux);
    out.Length(0x1234567812345678);
    WriteParts(out);
  };
  // The metadata belong to the next key, with its deadline.
  const auto metadata = [this](rdb::Out& out) {
    out.Byte(opcode::kDeadlineMs);
    out.Millis(WallMs() + 50'000);
    out.Byte(opcode::kKeyMetaOrImport);
    out.Length(2);
    for (int i = 0; i < 2; ++i) {
      out.Bytes("abcd");
      WriteParts(out);
    }
  };
  const auto value = [](rdb::Out& out) {
    out.Byte(rdb::type::kModule);
    out.String("module");
    out.Length(0x1234567812345678);
    WriteParts(out);
  };
  CHECK(Load("REDIS0010", beside) == "");
  CHECK(HasBoth());
  CHECK(Load("REDIS0013", metadata) == "");
  CHECK(HasBoth());
  CHECK(Run({"PTTL", "after"}) == Integer(50'000));
  CHECK(Load("REDIS0010", value) == "");
  CHECK(HasBoth());
  CHECK(Info("rdb_last_load_keys_skipped") == "1");
  SetOption("rdb-skip-unknown", "no");
  CHECK(Load("REDIS0010", beside).ends_with("a record of a module, number 247, and rdb-skip-unknown is no"));
  CHECK(Load("REDIS0013", metadata).find("number 243") != std::string::npos);
  CHECK(Load("REDIS0010", value).find("key module: ") != std::string::npos);
  CHECK(Run({"EXISTS", "before", "after"}) == Integer(1));
}

TEST_CASE_METHOD(ForeignTest, "a stream of Redis 8.8 is loaded with its groups, and without producers") {
  Run({"XADD", "stream", "5-1", "f", "v"});
  Run({"SAVE"});
  const std::string saved = disk.files().at(kSnapshotPath);
  const size_t at = saved.find("stream");
  REQUIRE(at != std::string::npos);
  // The listpack, with its length before and the key of the node, up to the number of entries.
  const size_t nodes = at + 6;
  const size_t nodes_end = saved.size() - 1 - 8 - 4;
  for (const uint8_t type : {rdb::type::kStream4, rdb::type::kStream5}) {
    CAPTURE(int{type});
    const std::string problem = Load("REDIS0014", [&](rdb::Out& out) {
      out.Byte(type);
      out.String("stream");
      out.Bytes(std::string_view(saved).substr(nodes, nodes_end - nodes));
      for (const uint64_t number : {1, 5, 1, 5, 1, 0, 0, 1})
        out.Length(number);  // up to the entries ever added
      out.Length(1);
      out.String("group");
      for (const uint64_t number : {5, 1, 1, 0, 0}) out.Length(number);
      if (type == rdb::type::kStream5) out.Length(0);
      for (const uint64_t number : {60, 100, 1}) out.Length(number);
      out.String("producer");
      out.Length(1);
      out.String("id");
      for (const uint64_t number : {5, 1, 1, 0}) out.Length(number);
    });
    CHECK(problem == "");
    CHECK(Run({"XLEN", "stream"}) == Integer(1));
    CHECK(Run({"XPENDING", "stream", "group"}) == Array({Integer(0), Null(), Null(), NullArray()}));
    CHECK(HasBoth());
  }
}

TEST_CASE_METHOD(ForeignTest, "a type whose length is not known ends the load, with the place and the key") {
  for (const uint8_t type : {28, 29, 30, 33}) {
    const std::string problem = Load("REDIS0015", [&](rdb::Out& out) {
      out.Byte(type);
      out.String("new key");
      out.Length(1);
    });
    CHECK(problem.find("is damaged at byte 28, key new key: a value of the unknown type ") !=
          std::string::npos);
    CHECK(Run({"EXISTS", "before", "after"}) == Integer(1));
  }
  CHECK(Load("REDIS0015", [&](rdb::Out& out) { out.Byte(242); }).find("of the unknown kind") !=
        std::string::npos);
  CHECK(Load("REDIS0016", [](rdb::Out&) {}).find("has version 16, which is not known") != std::string::npos);
}

TEST_CASE_METHOD(ForeignTest,
                 "fields of Mayfly's are read in its own files alone, and a wrong one costs no key") {
  struct Wrong {
    const char* name;
    std::string value;
  };
  const std::string some(1, '\x40');
  for (const auto& [name, value] : {Wrong{"m", some}, Wrong{"m", ""}, Wrong{"i", "x"}, Wrong{"i", "-1"},
                                    Wrong{"e", "-1"}, Wrong{"i", "9999999999"}, Wrong{"explog-next", "-1"},
                                    Wrong{"explog-next", "9223372036854775807"}, Wrong{"explog", "xyz"}}) {
    CAPTURE(name, value);
    const std::string field = name;
    const std::string text = value;
    CHECK(Load("REDIS0010", [&](rdb::Out& out) { WriteAux(out, field, text); }) == "");
    CHECK(HasBoth());
    CHECK(Load("REDIS0010", [&](rdb::Out& out) {
            WriteAux(out, "mayfly-ver", "0.1.0");
            WriteAux(out, field, text);
          }) == "");
    CHECK(HasBoth());
  }
}

TEST_CASE_METHOD(ForeignTest, "deadlines of members without a set before them are passed over") {
  std::string field;
  rdb::Out out(field);
  for (int i = 0; i < 1000; ++i) {
    out.String("member");
    out.Millis(WallMs() + 5000);
  }
  CHECK(Load("REDIS0010", [&](rdb::Out& file) {
          WriteAux(file, "mayfly-ver", "0.1.0");
          for (int i = 0; i < 100; ++i) WriteAux(file, "t", field);
        }) == "");
  CHECK(HasBoth());
  // Of a set that has no such member; then a field that breaks off.
  const auto set = [&](rdb::Out& file, std::string_view terms) {
    WriteAux(file, "mayfly-ver", "0.1.0");
    file.Byte(rdb::type::kSet);
    file.String("set");
    file.Length(1);
    file.String("other");
    WriteAux(file, "t", terms);
  };
  CHECK(Load("REDIS0010", [&](rdb::Out& file) { set(file, field); }) == "");
  CHECK(Run({"SMEMBERS", "set"}) == Array({Bulk("other")}));
  CHECK(Load("REDIS0010", [&](rdb::Out& file) { set(file, field.substr(0, 9)); }) == "");
  CHECK(Run({"SMEMBERS", "set"}) == Array({Bulk("other")}));
  CHECK(HasBoth());
}

}  // namespace mayfly::testing
