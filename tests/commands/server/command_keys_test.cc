#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "COMMAND GETKEYS answers with the arguments of a call that are keys") {
  CHECK(Run({"COMMAND", "GETKEYS", "get", "k"}) == Bulks({"k"}));
  CHECK(Run({"COMMAND", "GETKEYS", "MSET", "a", "1", "b", "2"}) == Bulks({"a", "b"}));
  CHECK(Run({"COMMAND", "GETKEYS", "mset", "a", "1", "b"}) == Bulks({"a", "b"}));
  CHECK(Run({"COMMAND", "GETKEYS", "del", "a", "b", "a"}) == Bulks({"a", "b", "a"}));
  CHECK(Run({"COMMAND", "GETKEYS", "object", "ENCODING", "k"}) == Bulks({"k"}));
  CHECK(Run({"COMMAND", "GETKEYS", "spublish", "c", "m"}) == Error("ERR The command has no key arguments"));
}

TEST_CASE_METHOD(CommandTest, "COMMAND GETKEYSANDFLAGS also answers what a call does to each key") {
  UseResp3();
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "get", "k"}) ==
        Array({Array({Bulk("k"), Set({Simple("RO"), Simple("access")})})}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "set", "k", "v", "get"}) ==
        Array({Array({Bulk("k"), Set({Simple("RW"), Simple("access"), Simple("update")})})}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "bitfield", "k", "get", "u8", "0"}) ==
        Run({"COMMAND", "GETKEYSANDFLAGS", "get", "k"}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "bitfield", "k", "set", "u8", "0", "1"}) ==
        Run({"COMMAND", "GETKEYSANDFLAGS", "set", "k", "v", "get"}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "bitfield", "k", "overflow", "set", "get", "u8", "0"}) ==
        Run({"COMMAND", "GETKEYSANDFLAGS", "get", "k"}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "bitfield", "k", "get", "u8"}) ==
        Run({"COMMAND", "GETKEYSANDFLAGS", "set", "k", "v", "get"}));
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "set", "k", "get"}) ==
        Array({Array({Bulk("k"), Set({Simple("OW"), Simple("update")})})}));
  const Reply overwritten = Set({Simple("OW"), Simple("update")});
  CHECK(Run({"COMMAND", "GETKEYSANDFLAGS", "mset", "a", "1", "b", "2"}) ==
        Array({Array({Bulk("a"), overwritten}), Array({Bulk("b"), overwritten})}));
}

// With Redis's key specs a number of keys that is none, or none of the call, is an error of the call's.
TEST_CASE_METHOD(CommandTest, "COMMAND GETKEYS obeys an argument that says how many keys there are") {
  CHECK(Run({"COMMAND", "GETKEYS", "msetex", "1", "a", "1"}) == Bulks({"a"}));
  CHECK(Run({"COMMAND", "GETKEYS", "msetex", "2", "a", "1", "b", "2", "NX"}) == Bulks({"a", "b"}));
  for (const char* count : {"0", "-1", "3", "x", "", "99999999999999999999"}) {
    for (const char* subcommand : {"GETKEYS", "GETKEYSANDFLAGS"}) {
      CHECK(Run({"COMMAND", subcommand, "msetex", count, "a", "1", "b", "2"}) ==
            Error("ERR Invalid arguments specified for command"));
    }
  }
}

TEST_CASE_METHOD(CommandTest, "COMMAND GETKEYS refuses calls in Redis's order and words") {
  for (const char* subcommand : {"GETKEYS", "GETKEYSANDFLAGS"}) {
    CHECK(Run({"COMMAND", subcommand, "nosuch", "k"}) == Error("ERR Invalid command specified"));
    CHECK(Run({"COMMAND", subcommand, "client", "nosuch"}) == Error("ERR Invalid command specified"));
    CHECK(Run({"COMMAND", subcommand, "client", "id"}) == Error("ERR The command has no key arguments"));
    CHECK(Run({"COMMAND", subcommand, "ping", "a", "b", "c"}) ==
          Error("ERR The command has no key arguments"));
    CHECK(Run({"COMMAND", subcommand, "get", "a", "b"}) ==
          Error("ERR Invalid number of arguments specified for command"));
    CHECK(Run({"COMMAND", subcommand, "get"}).kind == Reply::Kind::kError);
  }
}

}  // namespace mayfly::testing
