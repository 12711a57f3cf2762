// Libraries of functions in snapshot files: what a load brings back, and what clients may do meanwhile.
#include <string>
#include <vector>

#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"
#include "snapshot/values/function_text.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

std::string LibraryOf(const std::string& name, const std::string& function, const std::string& answer) {
  return "#!lua name=" + name + "\nredis.register_function('" + function + "', function() return '" + answer +
         "' end)";
}

// A file with these libraries and the key "k".
std::string FileWith(const std::vector<std::string>& texts) {
  std::string bytes;
  rdb::Out out(bytes);
  out.FileHead(rdb::version::kRedis70);
  for (const std::string& text : texts) rdb::WriteFunction(text, out);
  out.Byte(rdb::type::kString);
  out.String("k");
  out.String("v");
  out.Byte(rdb::opcode::kEnd);
  out.Checksum(0);
  return bytes;
}

class SnapshotFunctionsTest : public SnapshotTest {
 public:
  std::vector<std::string> Libraries() {
    std::vector<std::string> names;
    for (const Reply& library : Run({"FUNCTION", "LIST"}).elements) names.push_back(library.elements[1].text);
    return names;
  }
};
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE_METHOD(SnapshotFunctionsTest, "functions come back with the keys") {
  Run({"FUNCTION", "LOAD", LibraryOf("a", "fa", "one")});
  Run({"FUNCTION", "LOAD", LibraryOf("b", "fb", std::string(5000, 'x'))});
  Run({"SET", "k", "v"});
  Run({"SAVE"});
  Run({"FLUSHALL"});
  Run({"FUNCTION", "FLUSH"});
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Libraries() == Names{"a", "b"});
  CHECK(Run({"FCALL", "fa", "0"}) == Bulk("one"));
  CHECK(Run({"FCALL", "fb", "0"}) == Bulk(std::string(5000, 'x')));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "a server without functions writes none and can load some") {
  Run({"SAVE"});
  CHECK(disk.files().at(kSnapshotPath).find("#!lua") == std::string::npos);
  disk.Put(kSnapshotPath, FileWith({LibraryOf("a", "fa", "one")}));
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"FCALL", "fa", "0"}) == Bulk("one"));
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "a library that cannot be loaded does not stop the load") {
  disk.Put(kSnapshotPath,
           FileWith({"#!lua name=wrong\nreturn +", "no library", "#!js name=js\n", LibraryOf("a", "f", "one"),
                     LibraryOf("b", "f", "the name is taken"), LibraryOf("c", "g", "two")}));
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Libraries() == Names{"a", "c"});
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("one"));
  CHECK(Run({"GET", "k"}) == Bulk("v"));
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "libraries of release candidates of Redis 7.0 are loaded") {
  std::string bytes;
  rdb::Out out(bytes);
  out.FileHead(rdb::version::kRedis70);
  out.Byte(rdb::opcode::kFunctionOld);
  out.String("old");
  out.String("LUA");
  out.Length(0);
  out.String("redis.register_function('f', function() return 'old' end)");
  out.Byte(rdb::opcode::kEnd);
  out.Checksum(0);
  disk.Put(kSnapshotPath, bytes);
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Run({"FCALL", "f", "0"}) == Bulk("old"));
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "what clients do with libraries during a load wins over the file") {
  disk.Put(kSnapshotPath, FileWith({LibraryOf("changed", "f1", "file"), LibraryOf("deleted", "f2", "file"),
                                    LibraryOf("there", "f3", "file"), LibraryOf("untouched", "f4", "file")}));
  Run({"FUNCTION", "LOAD", LibraryOf("there", "f3", "client")});
  disk.piece = 1;
  snapshots().LoadSoon(now());
  Run({"FUNCTION", "LOAD", LibraryOf("changed", "f1", "client")});
  Run({"FUNCTION", "DELETE", "deleted"});
  FinishLoad();
  CHECK(Libraries() == Names{"changed", "there", "untouched"});
  CHECK(Run({"FCALL", "f1", "0"}) == Bulk("client"));
  CHECK(Run({"FCALL", "f3", "0"}) == Bulk("client"));
  CHECK(Run({"FCALL", "f4", "0"}) == Bulk("file"));
  // A later load knows nothing of that.
  Run({"FUNCTION", "FLUSH"});
  REQUIRE(snapshots().LoadNow({}, now()) == "");
  CHECK(Libraries().size() == 4);
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "FUNCTION FLUSH during a load also drops the libraries to come") {
  for (const std::vector<std::string>& flush :
       std::vector<std::vector<std::string>>{{"FUNCTION", "FLUSH"}, {"FUNCTION", "RESTORE", "", "FLUSH"}}) {
    std::vector<std::string> request = flush;
    if (flush.size() == 4) request[2] = Run({"FUNCTION", "DUMP"}).text;
    disk.Put(kSnapshotPath, FileWith({LibraryOf("a", "fa", "one"), LibraryOf("b", "fb", "two")}));
    Run({"FLUSHALL"});
    disk.piece = 1;
    snapshots().LoadSoon(now());
    REQUIRE(Run(request) == Ok());
    FinishLoad();
    CHECK(Libraries().empty());
    CHECK(Run({"GET", "k"}) == Bulk("v"));
  }
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "with load-mode wait, functions are there when clients are served") {
  SetOption("load-mode", "wait");
  disk.Put(kSnapshotPath, FileWith({LibraryOf("a", "fa", "one")}));
  disk.piece = 1;
  snapshots().LoadSoon(now());
  CHECK(Run({"FCALL", "fa", "0"}).text.starts_with("LOADING "));
  CHECK(Run({"FUNCTION", "LOAD", LibraryOf("a", "fa", "client")}).text.starts_with("LOADING "));
  FinishLoad();
  CHECK(Run({"FCALL", "fa", "0"}) == Bulk("one"));
}

TEST_CASE_METHOD(SnapshotFunctionsTest, "nothing is loaded while a script is suspended") {
  disk.Put(kSnapshotPath, FileWith({LibraryOf("a", "fa", "one")}));
  Run({"FUNCTION", "LOAD",
       "#!lua name=long\nredis.register_function('long', function() local n = 0 repeat n = n + 1 until "
       "redis.call('EXISTS', 'stop') == 1 or n > 1e9 return redis.call('DBSIZE') end)"});
  SetOption("busy-reply-threshold", "1");
  TestClient& other = Connect();
  REQUIRE(other.Run({"FCALL", "long", "0"}) == NoReply());
  snapshots().LoadSoon(now());
  for (int i = 0; i < 50; ++i) Slice(1);
  CHECK(snapshots().loading());
  CHECK(Run({"FUNCTION", "KILL"}) == Ok());
  FinishLoad();
  server().RunWoken();
  CHECK(other.Received().at(0).text.starts_with("ERR Script killed by user"));
  CHECK(Libraries() == Names{"a", "long"});
  CHECK(Run({"FCALL", "fa", "0"}) == Bulk("one"));
}

}  // namespace mayfly::testing
