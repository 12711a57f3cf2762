#include "support/command_test.h"

namespace mayfly::testing {

TEST_CASE_METHOD(CommandTest, "there are no modules, and none can be loaded") {
  CHECK(Run({"MODULE", "LIST"}) == Array({}));
  const Reply refused = Error("ERR Mayfly cannot load modules.");
  CHECK(Run({"MODULE", "LOAD", "x"}) == refused);
  CHECK(Run({"MODULE", "LOADEX", "x"}) == refused);
  CHECK(Run({"MODULE", "UNLOAD", "x"}) == refused);
  CHECK(Run({"MODULE", "LOAD"}) == Error("ERR wrong number of arguments for 'module|load' command"));
  CHECK(Run({"MODULE", "FOO"}) == Error("ERR unknown subcommand 'FOO'. Try MODULE HELP."));
  CHECK(Run({"MODULE", "HELP"}).elements.size() > 6);
}

}  // namespace mayfly::testing
