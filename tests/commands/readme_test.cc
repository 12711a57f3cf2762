#include <fstream>
#include <iterator>

#include "support/command_test.h"
#include "support/readme_table.h"

namespace mayfly::testing {

TEST_CASE("the README's table is the command table; scripts/readme_table brings it up to date") {
  std::ifstream file(MAYFLY_README);
  const std::string readme((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  REQUIRE_FALSE(readme.empty());
  const std::optional<std::string> made = WithTable(readme, CommandTableMarkdown(CommandTable()));
  REQUIRE(made);
  CHECK(*made == readme);
}

TEST_CASE("a table replaces what stands between the markers, and nothing else") {
  const std::string begin = "<!-- commands: made by scripts/readme_table -->\n";
  const std::string end = "<!-- end of commands -->\n";
  CHECK(WithTable("a\n" + begin + "old\n" + end + "z\n", "new\n") == "a\n" + begin + "new\n" + end + "z\n");
  CHECK(WithTable("a\n", "new\n") == std::nullopt);
  CHECK(WithTable(end + begin, "new\n") == std::nullopt);
}

}  // namespace mayfly::testing
