// Trims that remove no entry, but take deleted ones from the groups that hold them (DELREF): who hears of that, and who does not.
#include "commands/replicas/master_world.h"

namespace mayfly::testing {
namespace {

class ReleasedTest : public MasterTest {
 public:
  // A group holds 1-1 ... 5-1, of which the stream has the last two.
  ReleasedTest() {
    for (const char* id : {"1-1", "2-1", "3-1", "4-1", "5-1"}) Run({"XADD", "s", id, "f", "v"});
    Run({"XGROUP", "CREATE", "s", "g", "0"});
    Run({"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"});
    Run({"XDEL", "s", "1-1", "2-1", "3-1"});
  }
  Reply Held() { return Run({"XPENDING", "s", "g"}).elements.at(0); }
};

const Heard kWhole = {"RESTORE s 0 ... REPLACE ABSTTL"};

}  // namespace

TEST_CASE_METHOD(ReleasedTest,
                 "replicas and save points hear of a trim that only takes entries from groups") {
  FakeReplica& replica = Follow();
  TakeChanges();
  const uint64_t before = server().changes.by_clients();
  CHECK(Run({"XTRIM", "s", "MINID", "3", "DELREF"}) == Integer(0));
  CHECK(Held() == Integer(3));
  CHECK(replica.Take() == kWhole);
  CHECK(TakeChanges().empty());  // no entry was trimmed
  CHECK(server().changes.by_clients() == before + 1);
  CHECK(Run({"XADD", "s", "DELREF", "MINID", "4", "6-1", "f", "v"}) == Bulk("6-1"));
  CHECK(Held() == Integer(2));
  CHECK(replica.Take() == kWhole);
  CHECK(TakeChanges() == std::vector<std::string>{"xadd s"});
  // Nothing is left to be taken.
  CHECK(Run({"XTRIM", "s", "MINID", "4", "DELREF"}) == Integer(0));
  CHECK(replica.Take().empty());
  CHECK(server().changes.by_clients() == before + 2);
}

TEST_CASE_METHOD(ReleasedTest, "who watches or tracks a stream does not hear that groups let entries go") {
  TestClient watcher(server());
  TestClient tracker(server());
  tracker.UseResp3();
  tracker.Run({"CLIENT", "TRACKING", "ON"});
  const auto exec_after = [&](const Words& request) {
    watcher.Run({"WATCH", "s"});
    tracker.Run({"XLEN", "s"});
    CHECK(Run(request).kind != Reply::Kind::kError);
    watcher.Run({"MULTI"});
    watcher.Run({"PING"});
    return watcher.Run({"EXEC"});
  };
  CHECK(exec_after({"XTRIM", "s", "MINID", "2", "DELREF"}) == Array({Simple("PONG")}));
  CHECK(Held() == Integer(4));
  CHECK(exec_after({"XDELEX", "s", "DELREF", "IDS", "1", "2-1"}) == Array({Simple("PONG")}));
  CHECK(Held() == Integer(3));
  CHECK(exec_after({"XACKDEL", "s", "g", "IDS", "1", "3-1"}) == Array({Simple("PONG")}));
  CHECK(Held() == Integer(2));
  CHECK(tracker.Received().empty());
  CHECK(exec_after({"XTRIM", "s", "MINID", "5", "DELREF"}) == NullArray());
  CHECK(tracker.Received() == std::vector{Push({Bulk("invalidate"), Bulks({"s"})})});
  CHECK(Held() == Integer(1));
}

}  // namespace mayfly::testing
