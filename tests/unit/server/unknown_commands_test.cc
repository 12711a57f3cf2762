#include "server/figures/unknown_commands.h"

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("unknown commands are counted by their names in any case, and each name is new once") {
  UnknownCommands unknown;
  CHECK(unknown.Count("XFOO") == "xfoo");
  CHECK(unknown.Count("xfoo").empty());
  CHECK(unknown.Count("Bar") == "bar");
  CHECK(unknown.counts().find("xfoo")->second == 2);
  CHECK(unknown.counts().size() == 2);
}

TEST_CASE("names are printable and short") {
  UnknownCommands unknown;
  CHECK(unknown.Count("a\r\n\"b\xff") == "a???b?");
  CHECK(unknown.Count(std::string(1000, 'X')) == std::string(LoggedName::kMostBytes, 'x') + "...");
}

TEST_CASE("invented names take a limited amount of memory, and the others are counted together") {
  UnknownCommands unknown;
  const size_t names = UnknownCommands::kNamesMax + 100;
  size_t logged = 0;
  for (size_t i = 0; i < names; ++i) logged += unknown.Count("name" + std::to_string(i)).empty() ? 0 : 1;
  CHECK(logged == UnknownCommands::kNamesMax + 1);
  CHECK(unknown.counts().size() == UnknownCommands::kNamesMax + 1);
  CHECK(unknown.counts().find(UnknownCommands::kOthers)->second == 100);
  CHECK(unknown.Count("NAME7").empty());
  CHECK(unknown.counts().find("name7")->second == 2);
}

}  // namespace
}  // namespace mayfly
