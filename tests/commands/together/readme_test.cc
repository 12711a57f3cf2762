#include <fstream>
#include <iterator>

#include "config/option.h"
#include "support/command_test.h"
#include "support/readme_table.h"

namespace mayfly::testing {

TEST_CASE("the manual's parts agree with the program's tables; scripts/readme_table brings them up to date") {
  for (const MadePart& part : MadeParts(CommandTable())) {
    INFO(part.page);
    std::ifstream file(std::string(MAYFLY_DOCS) + "/" + part.page);
    const std::string page((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    REQUIRE_FALSE(page.empty());
    const std::optional<std::string> made = WithPart(page, part.name, part.text);
    REQUIRE(made);
    CHECK(*made == page);
  }
}

TEST_CASE("a part replaces what is between its two lines, and nothing else") {
  const std::string begin = "<!-- commands: made by scripts/readme_table -->\n";
  const std::string end = "<!-- end of commands -->\n";
  const auto with = [](const std::string& page) { return WithPart(page, "commands", "new\n"); };
  CHECK(with("a\n" + begin + "old\n" + end + "z\n") == "a\n" + begin + "new\n" + end + "z\n");
  CHECK(with("a\n") == std::nullopt);
  CHECK(with(end + begin) == std::nullopt);
}

TEST_CASE_METHOD(CommandTest,
                 "the options that CONFIG SET refuses to change are those that the manual lists") {
  const std::string listed = FixedOptionsMarkdown();
  for (const config::Option& option : config::MayflyOptions()) {
    INFO(option.name);
    const std::string name(option.name);
    const std::vector<Reply> got = Run({"CONFIG", "GET", name}).elements;
    const std::string value = got.empty() ? std::string() : got.at(1).text;
    const bool changes = Run({"CONFIG", "SET", name, value}) == Ok();
    CHECK(changes == (listed.find("`" + name + "`") == std::string::npos));
  }
}

}  // namespace mayfly::testing
