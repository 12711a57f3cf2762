#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "a renamed command is called by its new name only, and shown by its own") {
  CommandTable& commands = server().commands;
  CHECK_FALSE(commands.Rename("CONFIG", "My-Cfg"));
  CHECK_FALSE(commands.Rename("keys", "k1"));
  CHECK(Run({"CONFIG", "GET", "port"}) ==
        Error("ERR unknown command 'CONFIG', with args beginning with: 'GET' 'port' "));
  CHECK(Run({"MY-CFG", "GET", "port"}) == Bulks({"port", "6379"}));
  CHECK(Run({"my-cfg", "foo"}) == Error("ERR unknown subcommand 'foo'. Try MY-CFG HELP."));
  CHECK(Run({"my-cfg"}) == Error("ERR wrong number of arguments for 'config' command"));
  CHECK(Run({"K1", "*"}) == Array({}));
  CHECK(Run({"COMMAND", "INFO", "config"}) == Array({Null()}));
  CHECK(Run({"COMMAND", "INFO", "my-cfg"}).elements.at(0).elements.at(0) == Bulk("config"));
}

TEST_CASE_METHOD(CommandTest, "a command with the empty name is gone") {
  CommandTable& commands = server().commands;
  const int64_t before = Run({"COMMAND", "COUNT"}).integer;
  CHECK_FALSE(commands.Rename("FLUSHALL", ""));
  CHECK(Run({"FLUSHALL"}) == Error("ERR unknown command 'FLUSHALL', with args beginning with: "));
  CHECK(Run({"COMMAND", "COUNT"}) == Integer(before - 1));
  CHECK(Run({"FLUSHDB"}) == Ok());
}

TEST_CASE_METHOD(CommandTest, "a command that cannot be renamed is refused in Redis's words") {
  CommandTable& commands = server().commands;
  CHECK(commands.Rename("NOPE", "x") == "No such command in rename-command");
  CHECK(commands.Rename("GET", "set") == "Target command name already exists");
  CHECK_FALSE(commands.Rename("GET", "g"));
  CHECK(commands.Rename("GET", "h") == "No such command in rename-command");
}

}  // namespace mayfly::testing
