#include <string>
#include <vector>

#include "snapshot/client_stream.h"
#include "support/oracle.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class SyncTest : public SnapshotTest {
 public:
  // What a client gets until the server closes it. `most`: bytes that it reads in a turn.
  std::string Stream(TestClient& client) {
    std::string bytes;
    for (int turn = 0; turn < 100'000 && !client.session().closes(); ++turn) {
      AdvanceTime(ClientStream::kLookMs);
      Slice();
      bytes += client.RunRaw("");
    }
    CHECK(client.session().Has(Mode::kEnding));
    return bytes + client.RunRaw("");
  }
  // The file within the stream.
  static std::string FileIn(const std::string& stream) {
    constexpr size_t kMark = 40;
    const size_t begin = stream.find("$EOF:") + 5;
    const std::string mark = stream.substr(begin, kMark);
    REQUIRE(stream.substr(begin + kMark, 2) == "\r\n");
    REQUIRE(stream.ends_with(mark));
    return stream.substr(begin + kMark + 2, stream.size() - begin - 2 * kMark - 2);
  }
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "WAIT for no replica answers at once, for one at its timeout") {
  CHECK(Run({"WAIT", "0", "0"}) == Integer(0));
  CHECK(Run({"WAIT", "-1", "1000"}) == Integer(0));
  TestClient& waiting = Connect();
  CHECK(waiting.RunRaw("WAIT 3 1000\r\n").empty());
  AdvanceTime(999);
  CHECK(waiting.RunRaw("").empty());
  AdvanceTime(1);
  CHECK(waiting.RunRaw("") == ":0\r\n");
}

TEST_CASE_METHOD(CommandTest, "WAIT reads its number first, then its timeout") {
  CHECK(Run({"WAIT", "x", "y"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "y"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "1.5"}) == Error("ERR timeout is not an integer or out of range"));
  CHECK(Run({"WAIT", "0", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"WAIT", "0", "9223372036854775807"}) == Error("ERR timeout is out of range"));
  CHECK(Run({"WAIT", "0"}) == Error("ERR wrong number of arguments for 'wait' command"));
}

TEST_CASE_METHOD(CommandTest, "WAITAOF refuses to wait for a file that is not written") {
  CHECK(RunRaw("WAITAOF 0 0 0\r\n") == "*2\r\n:0\r\n:0\r\n");
  CHECK(Run({"WAITAOF", "1", "0", "0"}) ==
        Error("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled."));
  CHECK(Run({"WAITAOF", "1", "0", "-1"}) == Error("ERR timeout is negative"));
  CHECK(Run({"WAITAOF", "2", "0", "0"}) == Error("ERR value is out of range, value must between 0 and 1"));
  CHECK(Run({"WAITAOF", "x", "0", "0"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"WAITAOF", "0", "-1", "0"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"WAITAOF", "0", "x", "0"}) == Error("ERR value is out of range, must be positive"));
  CHECK(Run({"WAITAOF", "0", "0"}) == Error("ERR wrong number of arguments for 'waitaof' command"));
}

TEST_CASE_METHOD(CommandTest, "ROLE is that of a master without replicas") {
  CHECK(RunRaw("ROLE\r\n") == "*3\r\n$6\r\nmaster\r\n:0\r\n*0\r\n");
  CHECK(Run({"ROLE", "x"}) == Error("ERR wrong number of arguments for 'role' command"));
}

TEST_CASE_METHOD(SyncTest, "a client that asks for a snapshot alone gets one, as of its request") {
  FillWith(2000);
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)"});
  const Reply digest = Run({"DEBUG", "DIGEST"});
  TestClient& reader = Connect();
  CHECK(reader.Run({"REPLCONF", "capa", "eof"}) == Ok());
  CHECK(reader.Run({"REPLCONF", "rdb-only", "1"}) == Ok());
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  for (int i = 0; i < 1000; ++i) Run({"SET", "key:" + std::to_string(i), "changed"});
  Run({"FUNCTION", "FLUSH"});
  const std::string stream = Stream(reader);
  CHECK(stream.starts_with("$EOF:"));
  disk.Put(kSnapshotPath, FileIn(stream));
  REQUIRE(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
  CHECK(Run({"DEBUG", "DIGEST"}) == digest);
  CHECK(Run({"FCALL", "f", "0"}) == Integer(7));
  CHECK(Info("rdb_saves") == "0");
}

TEST_CASE_METHOD(SyncTest, "a filter of functions sends no keys, and an empty one nothing") {
  FillWith(10);
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() return 7 end)"});
  for (const char* filter : {"functions", ""}) {
    TestClient& reader = Connect();
    CHECK(reader.Run({"REPLCONF", "rdb-only", "1", "rdb-filter-only", filter}) == Ok());
    CHECK(reader.RunRaw("SYNC\r\n").empty());
    disk.Put(kSnapshotPath, FileIn(Stream(reader)));
    REQUIRE(Run({"DEBUG", "RELOAD", "NOSAVE"}) == Ok());
    CHECK(Run({"DBSIZE"}) == Integer(0));
    CHECK(Run({"FUNCTION", "LIST"}).elements.size() == (*filter != 0 ? 1 : 0));
  }
}

TEST_CASE_METHOD(SyncTest, "a snapshot stays below the output limit of a client that asks for it alone") {
  SetOption("client-output-buffer-limit", "normal 300000 100000 1");
  SetOption("rdbcompression", "no");
  for (int i = 0; i < 1000; ++i) Run({"SET", "k" + std::to_string(i), std::string(5000, 'x')});
  TestClient& reader = Connect();
  CHECK(reader.Run({"REPLCONF", "rdb-only", "1"}) == Ok());
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  for (int ms = 0; ms < 5000; ms += 100) {  // it reads nothing
    AdvanceTime(100);
    Slice();
    REQUIRE(reader.session().output.size() < 100'000);
  }
  CHECK(Stream(reader).size() > 5'000'000);
}

TEST_CASE_METHOD(SyncTest, "PSYNC greets first") {
  TestClient& reader = Connect();
  reader.Run({"REPLCONF", "rdb-only", "1"});
  CHECK(reader.RunRaw("PSYNC ? -1\r\n").empty());
  CHECK(Stream(reader).starts_with("+FULLRESYNC " + server().server.run_id + " 0\r\n$EOF:"));
}

TEST_CASE_METHOD(SyncTest, "a replica that wants the length of a snapshot first is refused") {
  const Reply refused =
      Error("ERR a snapshot has a mark at its end, and no length: REPLCONF CAPA EOF comes first");
  CHECK(Run({"SYNC"}) == refused);
  CHECK(Run({"PSYNC", "?", "-1"}) == refused);
  Run({"REPLCONF", "rdb-only", "1"});
  Run({"REPLCONF", "rdb-only", "0"});
  CHECK(Run({"SYNC"}) == refused);
}

TEST_CASE_METHOD(SyncTest, "one snapshot is made at a time") {
  FillWith(1000);
  Run({"BGSAVE"});
  Run({"REPLCONF", "rdb-only", "1"});
  CHECK(Run({"SYNC"}) == Error("ERR Background save already in progress"));
  FinishSave();
  TestClient& reader = Connect();
  reader.Run({"REPLCONF", "rdb-only", "1"});
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  CHECK(Run({"BGSAVE"}) == Error("ERR Background save already in progress"));
  CHECK(Run({"SYNC"}) == Error("ERR Background save already in progress"));
  CHECK(Run({"CLIENT", "UNBLOCK", std::to_string(reader.session().id)}) == Integer(1));
  server().RunWoken();
  CHECK_FALSE(FileIn(Stream(reader)).empty());
  CHECK(Run({"BGSAVE"}) == Simple("Background saving started"));
  FinishSave();
}

TEST_CASE_METHOD(SyncTest, "a client that does not read holds little memory, and is closed after a minute") {
  Run({"SET", "long", std::string(20'000'000, 'x')});
  SetOption("rdbcompression", "no");
  FillWith(20'000);
  TestClient& reader = Connect();
  reader.Run({"REPLCONF", "rdb-only", "1"});
  CHECK(reader.RunRaw("SYNC\r\n").empty());
  for (int turn = 0; turn < 100; ++turn) {
    AdvanceTime(ClientStream::kLookMs);
    Slice(1000);
    CHECK(reader.session().output.size() <= ClientStream::kInOutput);
  }
  CHECK(snapshots().saving());
  AdvanceTime(ClientStream::kPatienceMs);
  Slice();
  CHECK(reader.session().Has(Mode::kDropped));
  FinishSave();
  Run({"FLUSHALL"});
  CHECK(Run({"SAVE"}) == Ok());
}

TEST_CASE_METHOD(SyncTest, "REPLCONF answers as in Redis, but for options of replicas") {
  Oracle oracle;
  for (const Words& request : std::vector<Words>{{"REPLCONF"},
                                                 {"REPLCONF", "a"},
                                                 {"REPLCONF", "rdb-only", "x"},
                                                 {"REPLCONF", "rdb-only", "2"},
                                                 {"REPLCONF", "rdb-only", "1", "capa"},
                                                 {"REPLCONF", "RDB-ONLY", "1", "CAPA", "eof"},
                                                 {"REPLCONF", "rdb-filter-only", "keys"},
                                                 {"REPLCONF", "rdb-filter-only", "functions functions"},
                                                 {"REPLCONF", "rdb-filter-only", "\""},
                                                 {"REPLCONF", "nosuch", "x"},
                                                 {"PSYNC"},
                                                 {"SYNC", "x"}})
    CHECK(Run(request) == TakeReplies(oracle.Ask(EncodeRequest(request), 1)[0]).at(0));
}

}  // namespace mayfly::testing
