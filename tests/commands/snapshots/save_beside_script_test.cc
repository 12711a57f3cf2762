// Saves that would begin while a script is suspended for other clients: the file has all of the script's changes, or none.
#include <string>

#include "support/snapshot_test.h"

namespace mayfly::testing {
namespace {

class SaveBesideScriptTest : public SnapshotTest {
 public:
  // Runs a script that writes a, and later b. REQUIRES: it is called once.
  void BeginScript() {
    SetOption("busy-reply-threshold", "1");
    const std::string script =
        "redis.call('SET', KEYS[1], '1') for i = 1, 3e7 do end redis.call('SET', KEYS[2], '2')";
    REQUIRE(caller_.Run({"EVAL", script, "2", "a", "b"}) == NoReply());
    REQUIRE(server().server.Busy());
  }
  void EndScript() {
    while (server().server.Busy()) Slice();
    server().RunWoken();
  }
  void CheckFile() {
    SetOption("save", "");
    Run({"FLUSHALL"});
    REQUIRE(snapshots().LoadNow({}, now()) == "");
    CHECK(Run({"MGET", "a", "b"}) == Bulks({"1", "2"}));
  }

  // Time passes, but the save begins when the script has ended.
  void CheckSavedAfterScript() {
    AdvanceTime(20'000);
    CHECK_FALSE(snapshots().saving());
    EndScript();
    AdvanceTime(0);
    REQUIRE(snapshots().saving());
    FinishSave();
    CheckFile();
  }

 private:
  TestClient& caller_ = Connect();
};

}  // namespace

TEST_CASE_METHOD(SaveBesideScriptTest,
                 "a save point that comes due during a long script saves after the script's end") {
  SetOption("save", "10 1");
  BeginScript();
  CheckSavedAfterScript();
}

TEST_CASE_METHOD(SaveBesideScriptTest, "so does a save that BGSAVE SCHEDULE has put off") {
  BeginScript();
  snapshots().Schedule();
  CheckSavedAfterScript();
}

}  // namespace mayfly::testing
