// What a replica refuses, what is told of a long function whose client has left, and a stop that does not wait.
#include <cerrno>
#include <string>
#include <vector>

#include "base/time/tsc.h"
#include "replication/stop_wait.h"
#include "server/figures/link_figures.h"
#include "support/command_test.h"
#include "support/snapshot_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "WAIT and WAITAOF are none of a replica's, whatever their arguments are") {
  const auto refusal = [](const std::string& command) {
    return Error(
        "ERR " + command +
        " cannot be used with replica instances. Please also note that since Redis 4.0 if a replica is "
        "configured to be writable (which is not the default) writes to replicas are just local and are not "
        "propagated.");
  };
  CHECK(Run({"WAIT", "0", "0"}) == Integer(0));
  server().server.link.state = LinkFigures::State::kConnect;
  CHECK(Run({"WAIT", "0", "0"}) == refusal("WAIT"));
  CHECK(Run({"WAIT", "1", "10"}) == refusal("WAIT"));
  CHECK(Run({"WAIT", "x", "-1"}) == refusal("WAIT"));
  CHECK(Run({"WAITAOF", "0", "1", "10"}) == refusal("WAITAOF"));
  CHECK(Run({"WAITAOF", "1", "0", "0"}) == refusal("WAITAOF"));
  CHECK(Run({"WAITAOF", "2", "0", "0"}) == Error("ERR value is out of range, value must between 0 and 1"));
  server().server.link.state = LinkFigures::State::kNone;
  CHECK(Run({"WAIT", "0", "0"}) == Integer(0));
  CHECK(Run({"WAIT", "x", "0"}) == Error("ERR value is not an integer or out of range"));
}

TEST_CASE_METHOD(CommandTest,
                 "FUNCTION STATS names a long function whose client has left, without its words") {
  SetOption("busy-reply-threshold", "1");
  Run({"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)"});
  {
    TestClient leaving(server());
    CHECK(leaving.Run({"FCALL", "f", "1", "k"}) == NoReply());
  }
  UseResp3();
  const Reply stats = Run({"FUNCTION", "STATS"});
  REQUIRE(stats.elements.size() == 4);
  REQUIRE(stats.elements[1].elements.size() == 6);
  CHECK(stats.elements[1].elements[0] == Bulk("name"));
  CHECK(stats.elements[1].elements[1] == Bulk("f"));
  CHECK(stats.elements[1].elements[2] == Bulk("command"));
  CHECK(stats.elements[1].elements[3] == Array({}));
  CHECK(stats.elements[1].elements[4] == Bulk("duration_ms"));
  CHECK(Run({"FUNCTION", "KILL"}) == Ok());
  while (server().sliced_work.waits()) {
    server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, 1);
    server().RunWoken();
  }
  CHECK(Run({"FUNCTION", "STATS"}).elements.at(1) == Null());
}

TEST_CASE_METHOD(SnapshotTest,
                 "a stop that does not wait is refused if the file cannot be written, unless it is forced") {
  FillWith(10);
  disk.FailFrom(1, ENOSPC);
  TestClient& chief = Connect();
  CHECK(chief.Run({"SHUTDOWN", "SAVE", "NOW"}) == Error("ERR Errors trying to SHUTDOWN. Check logs."));
  CHECK_FALSE(server().server.shutdown_requested);
  CHECK_FALSE(chief.session().closes());
  CHECK(chief.Run({"SET", "k", "v"}) == Ok());
  CHECK(chief.Run({"SHUTDOWN", "SAVE", "NOW", "FORCE"}) == NoReply());
  CHECK(server().server.shutdown_requested);
  CHECK(chief.session().Has(Mode::kDropped));
  server().server.stop_wait.reset();
  server().server.snapshots.reset();  // the disk must outlive the thread of a save
}

}  // namespace mayfly::testing
