// What clients notice of the keys that a load brings while they are served: those that wait for a key, watch it, have cached that
// there is none, or hear of changes.
#include <string>
#include <vector>

#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class LoadClientsTest : public SnapshotTest {
 public:
  // A load of a file with these keys has begun, and has brought none.
  void BeginLoadOf(const std::vector<Words>& requests) {
    for (const Words& request : requests) Run(request);
    REQUIRE(Run({"SAVE"}) == Ok());
    REQUIRE(Run({"FLUSHALL"}) == Ok());
    disk.piece = 1;
    snapshots().LoadSoon(now());
    REQUIRE(snapshots().loading());
    REQUIRE(Run({"DBSIZE"}) == Integer(0));
  }
  void EndLoad() {
    FinishLoad();
    TurnWheels();
  }
  TestClient& ConnectResp3() {
    TestClient& client = Connect();
    client.UseResp3();
    return client;
  }
};

}  // namespace

TEST_CASE_METHOD(LoadClientsTest, "who waits for a list, a sorted set or a stream gets what a load brings") {
  BeginLoadOf({{"RPUSH", "list", "a", "b"}, {"ZADD", "zset", "1", "m"}, {"XADD", "s", "1-1", "f", "v"}});
  TestClient& pops = Connect();
  TestClient& pops_least = Connect();
  TestClient& reads = Connect();
  REQUIRE(pops.Run({"BLPOP", "list", "0"}) == NoReply());
  REQUIRE(pops_least.Run({"BZPOPMIN", "zset", "0"}) == NoReply());
  REQUIRE(reads.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "0"}) == NoReply());
  EndLoad();
  CHECK(pops.Received() == std::vector<Reply>{Bulks({"list", "a"})});
  CHECK(pops_least.Received() == std::vector<Reply>{Bulks({"zset", "m", "1"})});
  CHECK(reads.Received().size() == 1);
  CHECK(Run({"LRANGE", "list", "0", "-1"}) == Bulks({"b"}));
  CHECK(Run({"EXISTS", "zset"}) == Integer(0));
}

TEST_CASE_METHOD(LoadClientsTest, "who has cached that there is no key is told when a load brings it") {
  BeginLoadOf({{"SET", "k", "v"}, {"SET", "other", "v"}});
  TestClient& reader = ConnectResp3();
  TestClient& broad = ConnectResp3();
  REQUIRE(reader.Run({"CLIENT", "TRACKING", "ON"}) == Ok());
  REQUIRE(broad.Run({"CLIENT", "TRACKING", "ON", "BCAST", "PREFIX", "k"}) == Ok());
  REQUIRE(reader.Run({"GET", "k"}) == Null());
  EndLoad();
  const std::vector<Reply> told{Push({Bulk("invalidate"), Bulks({"k"})})};
  CHECK(reader.Received() == told);
  CHECK(broad.Received() == told);
}

TEST_CASE_METHOD(LoadClientsTest, "EXEC runs nothing if a load brings a key that was watched as absent") {
  BeginLoadOf({{"SET", "k", "v"}});
  TestClient& watches = Connect();
  TestClient& watches_another = Connect();
  REQUIRE(watches.Run({"WATCH", "k"}) == Ok());
  REQUIRE(watches_another.Run({"WATCH", "none"}) == Ok());
  for (TestClient* client : {&watches, &watches_another}) {
    REQUIRE(client->Run({"MULTI"}) == Ok());
    REQUIRE(client->Run({"SET", "done", "1"}) == Simple("QUEUED"));
  }
  EndLoad();
  CHECK(watches.Run({"EXEC"}) == NullArray());
  CHECK(Run({"EXISTS", "done"}) == Integer(0));
  CHECK(watches_another.Run({"EXEC"}) == Array({Ok()}));
}

TEST_CASE_METHOD(LoadClientsTest, "who waits for a value that another client computes gets the file's") {
  BeginLoadOf({{"SET", "k", "v"}});
  TestClient& computes = Connect();
  TestClient& waits = Connect();
  const Reply lease = computes.Run({"TAKE", "k", "LEASE", "100000"});
  REQUIRE(lease.elements.at(0) == Bulk("LEASE"));
  REQUIRE(waits.Run({"TAKE", "k", "LEASE", "1000", "WAIT", "100000"}) == NoReply());
  EndLoad();
  const std::vector<Reply> got = waits.Received();
  REQUIRE(got.size() == 1);
  CHECK(got[0].elements.at(0) == Bulk("HIT"));
  CHECK(got[0].elements.at(1) == Bulk("v"));
}

TEST_CASE_METHOD(LoadClientsTest, "keys that a load brings are no notifications, and no events of EXPLOG") {
  SetOption("notify-keyspace-events", "KEA");
  SetOption("expire-log-size", "1mb");
  BeginLoadOf({{"SET", "k", "v"}, {"RPUSH", "list", "a"}});
  TestClient& hears = Connect();
  hears.Run({"PSUBSCRIBE", "__key*"});
  const Reply events = Run({"EXPLOG", "READ", "0"});
  EndLoad();
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(hears.Received().empty());
  CHECK(Run({"EXPLOG", "READ", "0"}) == events);
}

}  // namespace mayfly::testing
