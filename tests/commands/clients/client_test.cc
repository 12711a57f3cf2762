#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "CLIENT ID is a number that no other connection ever gets") {
  const Reply first = Run({"CLIENT", "ID"});
  CHECK(first.kind == Reply::Kind::kInteger);
  CHECK(Connect().Run({"CLIENT", "ID"}).integer > first.integer);
  CHECK(Run({"CLIENT", "ID"}) == first);
}

TEST_CASE_METHOD(CommandTest, "CLIENT SETNAME names the connection, and an empty name takes it away") {
  CHECK(Run({"CLIENT", "GETNAME"}) == Null());
  CHECK(Run({"CLIENT", "SETNAME", "worker-1"}) == Ok());
  CHECK(Run({"client", "getname"}) == Bulk("worker-1"));
  for (const char* bad : {"a b", "a\nb", "a\x7f", "\xc3\xa4"})
    CHECK(Run({"CLIENT", "SETNAME", bad}) ==
          Error("ERR Client names cannot contain spaces, newlines or special characters."));
  CHECK(Run({"CLIENT", "GETNAME"}) == Bulk("worker-1"));
  CHECK(Run({"CLIENT", "SETNAME", ""}) == Ok());
  CHECK(Run({"CLIENT", "GETNAME"}) == Null());
  UseResp3();
  CHECK(RunRaw("CLIENT GETNAME\r\n") == "_\r\n");
}

TEST_CASE_METHOD(CommandTest, "CLIENT SETINFO takes name and version of the library in any case") {
  CHECK(Run({"CLIENT", "SETINFO", "LIB-NAME", "redis-py"}) == Ok());
  CHECK(Run({"client", "setinfo", "lib-ver", "8.0.0"}) == Ok());
  CHECK(client().session().names().lib_name == "redis-py");
  CHECK(client().session().names().lib_version == "8.0.0");
  CHECK(Run({"CLIENT", "SETINFO", "lib-name", "a b"}) ==
        Error("ERR lib-name cannot contain spaces, newlines or special characters."));
  CHECK(Run({"CLIENT", "SETINFO", "foo", "x"}) == Error("ERR Unrecognized option 'foo'"));
  CHECK(Run({"CLIENT", "SETINFO", std::string("a\0b", 3), "x"}) == Error("ERR Unrecognized option 'a'"));
  CHECK(client().session().names().lib_name == "redis-py");
}

TEST_CASE_METHOD(CommandTest, "unknown subcommands are refused at once, in Redis's words") {
  CHECK(Run({"CLIENT", "MAINT_NOTIFICATIONS", "ON"}) ==
        Error("ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP."));
  CHECK(Run({"CLIENT"}) == Error("ERR wrong number of arguments for 'client' command"));
  CHECK(Run({"CLIENT", "ID", "x"}) == Error("ERR wrong number of arguments for 'client|id' command"));
  CHECK(Run({"CLIENT", "SETNAME"}) == Error("ERR wrong number of arguments for 'client|setname' command"));
}

TEST_CASE_METHOD(CommandTest, "HELP lists every subcommand with its arguments") {
  for (const char* container : {"CLIENT", "CONFIG", "COMMAND"}) {
    const Reply help = Run({container, "HELP"});
    REQUIRE(help.kind == Reply::Kind::kArray);
    CHECK(help.elements.front() ==
          Simple(std::string(container) + " <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    CHECK(help.elements.back() == Simple("    Prints this help."));
    const TableRow* row = server().commands.Find(container);
    CHECK(help.elements.size() == 1 + 2 * row->subcommands.size());
  }
  const Reply help = Run({"CLIENT", "HELP"});
  CHECK(std::find(help.elements.begin(), help.elements.end(), Simple("SETNAME connection-name")) !=
        help.elements.end());
  CHECK(Run({"CLIENT", "HELP", "x"}) == Error("ERR wrong number of arguments for 'client|help' command"));
}

}  // namespace mayfly::testing
