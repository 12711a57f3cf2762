// What monitors are shown of calls within calls, by the commands of seam_commands.cc.
#include "exec/observe/monitors.h"

#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class MonitorsTest : public CommandTest {
 public:
  MonitorsTest() { server().executor.monitors().Add(monitor.session()); }
  TestClient& monitor = Connect();
};

const std::string kTime = "+1700000000.000000 ";

}  // namespace

TEST_CASE_METHOD(MonitorsTest, "the calls of a transaction come before it, those of a script after it") {
  Run({"ALL", "KEEP", "k", "v", ";", "NOW"});
  Run({"READ", "FETCH", "k"});
  const std::string peer = "[0 " + client().session().peer + "] ";
  CHECK(monitor.RunRaw("") == kTime + peer + "\"KEEP\" \"k\" \"v\"\r\n" +  //
                                  kTime + peer + "\"NOW\"\r\n" +           //
                                  kTime + peer +
                                  R"("ALL" "KEEP" "k" "v" ";" "NOW")"
                                  "\r\n" +  //
                                  kTime +
                                  peer +
                                  R"("READ" "FETCH" "k")"
                                  "\r\n" +  //
                                  kTime +
                                  "[1 lua] \"FETCH\" \"k\"\r\n");
}

TEST_CASE_METHOD(MonitorsTest, "while nobody monitors, requests take the short way, and no line is made") {
  CHECK(server().server.modes != 0);
  server().executor.monitors().Remove(monitor.session());
  CHECK(server().server.modes == 0);
  CHECK(monitor.session().modes == 0);
  Run({"READ", "FETCH", "k"});
  CHECK(monitor.RunRaw("").empty());
}

}  // namespace mayfly::testing
