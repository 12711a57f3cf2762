// Why requests are refused: every reason, its text, and which of two reasons is given.
#include <string>
#include <utility>
#include <vector>

#include "exec/acl/user_changes.h"
#include "exec/dispatch/refuse.h"
#include "server/acl/user.h"
#include "server/acl/users.h"
#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class RefusalTest : public CommandTest {
 public:
  void SetOfAll(Mode mode) { server().server.modes |= BitOf(mode); }
  void ClearOfAll(Mode mode) { server().server.modes &= ~BitOf(mode); }
  // The user may no longer run this command.
  void Forbid(std::string_view name) {
    Server& parts = server().server;
    User user = parts.users.default_user();
    REQUIRE(user.Apply("-" + std::string(name), /*all_channels=*/false) == RuleError::kNone);
    PutUser(parts, std::move(user), nullptr);
  }
};

const Reply kNoPermission = Error("NOPERM this user has no permissions to run the 'fetch' command");
const Reply kNoLongerPermitted = Error(
    "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This "
    "command "
    "is no longer allowed for the following reason: no permission to execute the command or subcommand");
const Reply kBusyError =
    Error("BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.");
const Reply kSubscriberError = Error(
    "ERR Can't execute 'fetch': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are "
    "allowed in this context");
const Reply kOutOfMemory = Error("OOM command not allowed when used memory > 'maxmemory'.");

}  // namespace

TEST_CASE_METHOD(RefusalTest, "a user runs only what it may, and others run on") {
  CHECK(Run({"FETCH", "k"}) == Null());
  Forbid("fetch");
  CHECK(Run({"FETCH", "k"}) == kNoPermission);
  CHECK(Run({"KEEP", "k", "v"}) == Ok());
  CHECK(Run({"ALL", "FETCH", "k"}) == Array({kNoLongerPermitted}));
  CHECK(server().commands.Find("fetch")->calls.rejected == 2);
}

TEST_CASE_METHOD(RefusalTest, "while a script is busy, little is allowed") {
  SetOfAll(Mode::kBusy);
  CHECK(Run({"FETCH", "k"}) == kBusyError);
  CHECK(Run({"ALWAYS"}).kind == Reply::Kind::kInteger);
  ClearOfAll(Mode::kBusy);
  CHECK(Run({"FETCH", "k"}) == Null());
}

TEST_CASE_METHOD(RefusalTest, "a subscriber of RESP2 may do little, one of RESP3 anything") {
  CHECK(Run({"ENTER"}) == Ok());
  CHECK(Run({"FETCH", "k"}) == kSubscriberError);
  CHECK(Run({"ALWAYS"}).kind == Reply::Kind::kInteger);
  UseResp3();
  CHECK(Run({"FETCH", "k"}) == Null());
}

TEST_CASE_METHOD(RefusalTest, "of several reasons the first one in Redis's order is given") {
  Run({"KEEP", "k", "v"});
  Run({"ENTER"});
  SetOfAll(Mode::kBusy);
  CHECK(Run({"FETCH", "k"}) == kSubscriberError);
  client().session().Clear(Mode::kSubscribed);
  CHECK(Run({"FETCH", "k"}) == kBusyError);
  client().session().Set(Mode::kSubscribed);
  SetOption("maxmemory-policy", "noeviction");
  SetOption("maxmemory", "1");
  CHECK(Run({"KEEP", "k", "v"}) == kOutOfMemory);
  Forbid("keep");
  CHECK(Run({"KEEP", "k", "v"}) == Error("NOPERM this user has no permissions to run the 'keep' command"));
  client().session().LogIn(nullptr);
  CHECK(Run({"KEEP", "k", "v"}) == Error("NOAUTH Authentication required."));
  CHECK(Run({"ALWAYS"}).kind == Reply::Kind::kInteger);
  CHECK(Run({"KEEP", "k"}) == Error("ERR wrong number of arguments for 'keep' command"));
  CHECK(Run({"NOSUCH", "k"}).text.substr(0, 19) == "ERR unknown command");
}

TEST_CASE_METHOD(RefusalTest, "the ids of all rows are dense, subcommands included") {
  const CommandTable& commands = server().commands;
  for (uint32_t id = 0; id < commands.size(); ++id) CHECK(commands.row(id).id == id);
  for (const TableRow* row : commands.rows()) {
    CHECK(&commands.row(row->id) == row);
    for (const TableRow* sub : row->subcommands) CHECK(&commands.row(sub->id) == sub);
  }
}

}  // namespace mayfly::testing
