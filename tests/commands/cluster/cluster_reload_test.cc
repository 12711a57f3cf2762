// Another map of the cluster while the daemon serves: CONFIG SET cluster-config-file, and what SIGHUP does.
#include "exec/cluster/cluster_reload.h"

#include <algorithm>
#include <string>

#include "base/time/tsc.h"
#include "snapshot/snapshots.h"
#include "support/cluster_test.h"
#include "support/memory_disk.h"

namespace mayfly::testing {
namespace {

const Reply kMovedB = Error("MOVED 3300 127.0.0.1:7001");

class ReloadTest : public ClusterTest {
 public:
  ReloadTest() : reload_(server().server) {
    server().files.read_again = [this](const std::string& path, std::string& text) -> config::Problem {
      if (path != "cluster.conf") return path + ": No such file or directory";
      text = file_;
      return std::nullopt;
    };
    SetOption("cluster-announce-port", "7000");  // by which it finds its line
  }

  // "a" 15495 and "b" 3300 are here or there; all other slots stay where they are.
  void Write(bool a_here, bool b_here) {
    WriteSlots(std::string("0-3299 3301-8191 8193") + (a_here ? " 15495" : "") + (b_here ? " 3300" : ""),
               std::string("8194-15494 15496-16000") + (a_here ? "" : " 15495") + (b_here ? "" : " 3300"));
  }
  void WriteSlots(const std::string& own, const std::string& others) {
    file_ = std::string("node ") + kSelf + " 127.0.0.1:7000 " + own + "\nnode " + kOther +
            " 127.0.0.1:7001 " + others + "\n";
  }
  void WriteFile(const std::string& text) { file_ = text; }
  Reply Set() { return Run({"CONFIG", "SET", "cluster-config-file", "cluster.conf"}); }
  void Take(bool a_here, bool b_here) {
    Write(a_here, b_here);
    REQUIRE(Set() == Ok());
  }
  // A slice in which about that many keys are dropped.
  void Slice(size_t keys) { server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, keys); }
  bool dropping() { return server().sliced_work.waits(); }
  void DropAll() {
    while (dropping()) Slice(1000);
  }
  Reply CountB() { return Run({"CLUSTER", "COUNTKEYSINSLOT", "3300"}); }
  ClusterReload& reload() { return reload_; }

 private:
  std::string file_;
  ClusterReload reload_;
};

}  // namespace

TEST_CASE_METHOD(ReloadTest, "keys of a file whose slots went to another node meanwhile are not loaded") {
  MemoryDisk disk;
  server().server.snapshots = std::make_unique<Snapshots>(server().server, disk);
  Run({"MSET", "b", "1", "{b}2", "2"});
  Run({"SET", "bar", "stays"});
  REQUIRE(Run({"SAVE"}) == Ok());
  Take(false, false);
  DropAll();
  Run({"FLUSHALL"});
  CHECK(Snapshots::Of(server().server).LoadNow({}, server().clock.Read()) == "");
  CHECK(disk.files().contains("./dump.rdb.left-out"));  // a later save does not take them away
  Take(false, true);
  CHECK(Run({"MGET", "b", "{b}2"}) == Array({Null(), Null()}));
  CHECK(Run({"GET", "bar"}) == Bulk("stays"));
  server().server.snapshots.reset();
}

TEST_CASE_METHOD(ReloadTest, "a slot that goes is the other node's at once, and its keys are dropped") {
  Run({"MSET", "b", "1", "{b}2", "2"});
  Run({"SET", "bar", "stays"});
  TakeChanges();
  Take(/*a_here=*/false, /*b_here=*/false);
  CHECK(Run({"GET", "b"}) == kMovedB);
  CHECK(Run({"GET", "bar"}) == Bulk("stays"));
  CHECK(CountB() == Integer(2));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}).elements.size() == 2);
  DropAll();
  CHECK(CountB() == Integer(0));
  CHECK(Run({"CLUSTER", "GETKEYSINSLOT", "3300", "10"}) == Array({}));
  CHECK(Run({"KEYS", "*"}) == Bulks({"bar"}));
  std::vector<std::string> changes = TakeChanges();
  std::sort(changes.begin(), changes.end());
  CHECK(changes == std::vector<std::string>{"del b", "del {b}2"});
}

TEST_CASE_METHOD(ReloadTest, "a slot that comes is served at once") {
  CHECK(Run({"GET", "a"}) == Error("MOVED 15495 127.0.0.1:7001"));
  Take(/*a_here=*/true, /*b_here=*/true);
  CHECK(Run({"SET", "a", "v"}) == Ok());
  CHECK(Run({"GET", "a"}) == Bulk("v"));
  CHECK_FALSE(dropping());
  CHECK(Run({"CLUSTER", "SLOTS"}).elements.back().elements.at(1) == Integer(16000));
}

TEST_CASE_METHOD(ReloadTest, "a slot that comes back is empty, however soon that is") {
  Run({"SET", "b", "old"});
  Run({"SET", "bar", "stays"});
  Take(false, false);
  REQUIRE(dropping());
  Take(false, true);
  CHECK(Run({"GET", "b"}) == Null());
  CHECK(Run({"SET", "b", "new"}) == Ok());
  DropAll();
  CHECK(Run({"GET", "b"}) == Bulk("new"));
  CHECK(Run({"GET", "bar"}) == Bulk("stays"));
}

TEST_CASE_METHOD(ReloadTest, "a stale value does not outlive its slot") {
  Run({"SET", "b", "old", "EX", "1", "STALE", "100"});
  AdvanceTime(1000);
  REQUIRE(keyspace().stale().size() == 1);
  Take(false, false);
  Take(false, true);
  CHECK(keyspace().stale().size() == 0);
}

TEST_CASE_METHOD(ReloadTest, "many keys are dropped in slices, and those that stay are served in between") {
  for (int i = 0; i < 2000; ++i) {
    Run({"SET", "{b}" + std::to_string(i), "x", "EX", "100"});
    Run({"SET", "{bar}" + std::to_string(i), "x"});
  }
  Take(false, false);
  size_t slices = 0;
  for (; dropping(); ++slices) {
    Slice(100);
    REQUIRE(Run({"GET", "{bar}7"}) == Bulk("x"));
    REQUIRE(Run({"GET", "{b}7"}) == kMovedB);
  }
  CHECK(slices > 20);
  CHECK(CountB() == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(2000));
}

TEST_CASE_METHOD(ReloadTest, "slots that go while the keys of others are dropped lose all their keys, too") {
  for (int i = 0; i < 1000; ++i) {
    Run({"SET", "{b}" + std::to_string(i), "x"});
    Run({"SET", "{bar}" + std::to_string(i), "x"});
  }
  Take(false, false);
  for (int i = 0; i < 10; ++i) Slice(100);
  REQUIRE(dropping());
  REQUIRE(CountB() != Integer(0));
  WriteSlots("0-3299 3301-5060 5062-8191 8193", "3300 5061 8194-16000");
  REQUIRE(Set() == Ok());
  DropAll();
  CHECK(Run({"CLUSTER", "COUNTKEYSINSLOT", "5061"}) == Integer(0));
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(ReloadTest, "keys whose slot goes are deleted: nothing expires, and no task is delivered") {
  SetOption("expire-log-size", "1mb");
  SetOption("notify-keyspace-events", "KEA");
  Run({"SET", "b", "v", "PX", "100"});
  Run({"SET", "{b}task", "v", "PX", "100", "INTO", "{b}tasks"});
  TestClient& hears = Connect();
  hears.Run({"SUBSCRIBE", "__keyevent@0__:expired"});
  Take(false, false);
  DropAll();
  AdvanceTime(100);
  CHECK(hears.Received().empty());
  CHECK(Run({"INFO", "stats"}).text.find("\nexpired_keys:0\r") != std::string::npos);
  Take(false, true);
  CHECK(Run({"EXISTS", "b", "{b}task", "{b}tasks"}) == Integer(0));
}

TEST_CASE_METHOD(ReloadTest, "who waits for a value that another client computes is sent to the new node") {
  TestClient& computes = Connect();
  TestClient& waits = Connect();
  REQUIRE(computes.Run({"TAKE", "b", "LEASE", "1000"}).elements.at(0) == Bulk("LEASE"));
  REQUIRE(waits.Run({"TAKE", "b", "LEASE", "1000", "WAIT", "1000"}) == NoReply());
  Take(false, false);
  CHECK(waits.Received() == std::vector<Reply>{kMovedB});
  CHECK(computes.Run({"SET", "b", "v"}) == kMovedB);
}

TEST_CASE_METHOD(ReloadTest, "a client that waits for a key is redirected when the key's slot goes") {
  TestClient& waiter = Connect();
  TestClient& other = Connect();
  TestClient& second = Connect();
  CHECK(waiter.Run({"BLPOP", "b", "{b}2", "0"}) == NoReply());
  CHECK(second.Run({"BLPOP", "b", "0"}) == NoReply());
  CHECK(other.Run({"BLPOP", "bar", "0"}) == NoReply());
  Take(false, false);
  CHECK(waiter.Received() == std::vector<Reply>{kMovedB});
  CHECK(second.Received() == std::vector<Reply>{kMovedB});
  CHECK(other.Received().empty());
  CHECK(waiter.Run({"PING"}) == Simple("PONG"));
  Run({"RPUSH", "bar", "x"});
  CHECK(other.Received() == std::vector<Reply>{Bulks({"bar", "x"})});
}

TEST_CASE_METHOD(ReloadTest, "a client that waits for a key is told that the cluster is down") {
  SetOption("cluster-require-full-coverage", "yes");
  WriteSlots("0-8191", "8192-16383");
  REQUIRE(Set() == Ok());
  TestClient& waiter = Connect();
  CHECK(waiter.Run({"BLPOP", "b", "0"}) == NoReply());
  WriteSlots("0-8191", "8193-16383");
  REQUIRE(Set() == Ok());
  CHECK(waiter.Received() == std::vector<Reply>{Error("CLUSTERDOWN The cluster is down")});
  CHECK(Run({"CLUSTER", "INFO"}).text.starts_with("cluster_state:fail\r\n"));
}

TEST_CASE_METHOD(ReloadTest, "subscriptions to shard channels end with their slots, and others stay") {
  TestClient& subscriber = Connect();
  TestClient& third = Connect();
  third.UseResp3();
  subscriber.Run({"SSUBSCRIBE", "b"});
  subscriber.Run({"SSUBSCRIBE", "bar"});
  third.Run({"SSUBSCRIBE", "b"});
  Take(false, false);
  CHECK(subscriber.Received() == std::vector<Reply>{Array({Bulk("sunsubscribe"), Bulk("b"), Integer(1)})});
  CHECK(third.Received() == std::vector<Reply>{Push({Bulk("sunsubscribe"), Bulk("b"), Integer(0)})});
  CHECK(Run({"PUBSUB", "SHARDCHANNELS"}) == Bulks({"bar"}));
  CHECK(Run({"SPUBLISH", "bar", "x"}) == Integer(1));
  CHECK(subscriber.Received() == std::vector<Reply>{Bulks({"smessage", "bar", "x"})});
  CHECK(third.Run({"PING"}) == Simple("PONG"));
}

TEST_CASE_METHOD(ReloadTest, "a transaction whose slot goes before EXEC is redirected") {
  Take(false, true);  // from now on the option names the file, as SIGHUP wants it
  Run({"MULTI"});
  CHECK(Run({"SET", "b", "1"}) == Simple("QUEUED"));
  Write(false, false);
  reload().Reload();
  CHECK(Run({"EXEC"}) == kMovedB);
  CHECK(Run({"EXEC"}) == Error("ERR EXEC without MULTI"));
}

TEST_CASE_METHOD(ReloadTest, "clients that have cached a key are told when it is dropped") {
  Run({"SET", "b", "1"});
  TestClient& reader = Connect();
  reader.UseResp3();
  reader.Run({"CLIENT", "TRACKING", "ON"});
  CHECK(reader.Run({"GET", "b"}) == Bulk("1"));
  Take(false, false);
  DropAll();
  TurnWheels();
  CHECK(reader.Received() == std::vector<Reply>{Push({Bulk("invalidate"), Bulks({"b"})})});
}

TEST_CASE_METHOD(ReloadTest, "a file with a problem changes nothing") {
  Run({"SET", "b", "1"});
  const Reply slots = Run({"CLUSTER", "SLOTS"});
  const Reply failed = Error(
      "ERR CONFIG SET failed (possibly related to argument 'cluster-config-file') - Unable to read the "
      "cluster "
      "from this file. Check server logs.");
  CHECK(Run({"CONFIG", "SET", "cluster-config-file", "/no/such.conf"}) == failed);
  WriteFile("secret of another file\n");
  CHECK(Set() == failed);
  WriteFile(std::string("node ") + kOther + " 127.0.0.1:7001 0-16383\n");  // this node is missing
  CHECK(Set() == failed);
  reload().Reload();
  CHECK(Run({"CONFIG", "GET", "cluster-config-file"}) == Bulks({"cluster-config-file", "nodes.conf"}));
  CHECK(Run({"CLUSTER", "SLOTS"}) == slots);
  CHECK(Run({"GET", "b"}) == Bulk("1"));
  CHECK_FALSE(dropping());
  // Nor does a good file, if another option of the same CONFIG SET is refused.
  Write(false, false);
  CHECK(Run({"CONFIG", "SET", "cluster-config-file", "cluster.conf", "maxmemory", "x"}).kind ==
        Reply::Kind::kError);
  CHECK(Run({"GET", "b"}) == Bulk("1"));
  CHECK(Set() == Ok());
  CHECK(Run({"GET", "b"}) == kMovedB);
}

}  // namespace mayfly::testing
