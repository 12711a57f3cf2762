// A description of a user's commands says all, whatever the order of commands in the table is.
#include <algorithm>
#include <string>
#include <vector>

#include "server/acl/user.h"
#include "support/catch.h"

namespace mayfly {
namespace {

// Subcommands stand before their container and after it.
CommandCatalogue MixedCatalogue() {
  CommandCatalogue catalogue;
  catalogue.SetCategories({"read", "write"});
  catalogue.Add({"config|get", true, 0, {}});
  catalogue.Add({"config", false, 0, {0, 2, 3}});
  catalogue.Add({"config|set", true, 0, {}});
  catalogue.Add({"config|reset", true, 0, {}});
  catalogue.Add({"select", false, 0, {}});
  return catalogue;
}

std::string RulesOf(const User& user) {
  return user.Describe().substr(std::string("off resetchannels ").size());
}

}  // namespace

TEST_CASE("the rule of a container stands before those of its subcommands") {
  const CommandCatalogue catalogue = MixedCatalogue();
  const auto describe = [&](const std::vector<std::string_view>& rules) {
    User user("app", catalogue, /*all_channels=*/false);
    for (const std::string_view rule : rules) REQUIRE(user.Apply(rule, false) == RuleError::kNone);
    const std::string text = RulesOf(user);
    // It makes the same user again.
    User again("app", catalogue, /*all_channels=*/false);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      REQUIRE(again.Apply(std::string_view(text).substr(at, end - at), false) == RuleError::kNone);
      at = end + 1;
    }
    CHECK(RulesOf(again) == text);
    return text;
  };
  CHECK(describe({"+config", "-config|get"}) == "-@all +config -config|get");
  CHECK(describe({"+config", "-config|set"}) == "-@all +config -config|set");
  CHECK(describe({"+config", "-config|get", "-config|set"}) == "-@all +config -config|get -config|set");
  CHECK(describe({"+config|get"}) == "-@all +config|get");
  CHECK(describe({"+@all", "-config", "+config|get"}) == "+@all -config +config|get");
  CHECK(describe({"+@all", "-config|reset", "-select"}) == "+@all -select -config|reset");
  CHECK(describe({"+select|1", "+select|2"}) == "-@all +select|1 +select|2");
  CHECK(describe({"+select|1", "+select", "+select|2"}) == "-@all +select");
  CHECK(describe({"+select|1", "-@all"}) == "-@all");
}

}  // namespace mayfly
