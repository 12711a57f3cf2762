// The rules of users: what each of them changes, what is wrong about one, and that a description says all.
#include "server/acl/user.h"

#include <string>
#include <vector>

#include "base/bits/sha256.h"
#include "support/catch.h"
#include "unit/server/acl/small_catalogue.h"

namespace mayfly {
namespace {

using Rules = std::vector<std::string_view>;

class Ruled {
 public:
  explicit Ruled(const Rules& rules = {}) {
    for (const std::string_view rule : rules) REQUIRE(Apply(rule) == RuleError::kNone);
  }
  RuleError Apply(std::string_view rule) { return user.Apply(rule, /*all_channels=*/false); }

  const CommandCatalogue catalogue = testing::SmallCatalogue();
  User user{"app", catalogue, /*all_channels=*/false};
};

std::string Described(const Rules& rules) { return Ruled(rules).user.Describe(); }
RuleError ErrorOf(std::string_view rule) { return Ruled().Apply(rule); }

}  // namespace

TEST_CASE("a new user may do nothing, and cannot log in") {
  const Ruled fresh;
  CHECK(fresh.user.Describe() == "off resetchannels -@all");
  CHECK_FALSE(fresh.user.Accepts(""));
  CHECK(fresh.user.restricted());
}

TEST_CASE("a rule may be written in any case, and later ones win") {
  CHECK(Described({"ON", "NoPass", "AllKeys", "ALLCHANNELS", "AllCommands"}) == "on nopass ~* &* +@all");
  CHECK(Described({"on", "off", "~*", "resetkeys", "&*", "RESETCHANNELS", "+@all", "nocommands"}) ==
        "off resetchannels -@all");
  CHECK(Described({"on", "reset"}) == "off sanitize-payload resetchannels -@all");
  CHECK(Described({"skip-sanitize-payload", ""}) == "off skip-sanitize-payload resetchannels -@all");
}

TEST_CASE("a user has several passwords, kept as hashes, and each of them is right") {
  Ruled ruled({"on", ">one", "#" + Sha256HexOf("two")});
  CHECK(ruled.user.passwords() == std::vector<std::string>{Sha256HexOf("one"), Sha256HexOf("two")});
  CHECK(ruled.user.Accepts("one"));
  CHECK(ruled.user.Accepts("two"));
  CHECK_FALSE(ruled.user.Accepts("three"));
  CHECK_FALSE(ruled.user.Accepts(Sha256HexOf("one")));
  CHECK(ruled.Apply("<one") == RuleError::kNone);
  CHECK_FALSE(ruled.user.Accepts("one"));
  CHECK(ruled.Apply("<one") == RuleError::kNoSuchPassword);
  CHECK(ruled.Apply("!" + Sha256HexOf("two")) == RuleError::kNone);
  CHECK(ruled.Apply("nopass") == RuleError::kNone);
  CHECK(ruled.user.Accepts("anything"));
  CHECK(ruled.Apply("off") == RuleError::kNone);
  CHECK_FALSE(ruled.user.Accepts("anything"));
}

TEST_CASE("a hash has 64 lower-case digits") {
  const std::string hash = Sha256HexOf("x");
  CHECK(hash == "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881");
  for (const std::string& wrong : {std::string("#"), "#" + hash + "0", "#" + hash.substr(1), "!" + hash + "0",
                                   "#D" + hash.substr(1), "#g" + hash.substr(1)})
    CHECK(ErrorOf(wrong) == RuleError::kBadHash);
}

TEST_CASE("a rule for a container is one for its subcommands") {
  CHECK(Described({"+config"}) == "off resetchannels -@all +config");
  CHECK(Described({"+config", "-config|set"}) == "off resetchannels -@all +config -config|set");
  CHECK(Described({"+config|get"}) == "off resetchannels -@all +config|get");
  const Ruled ruled({"+config", "-config|set"});
  const CommandRights& rights = ruled.user.selectors()[0].commands();
  CHECK(rights.Allows(*ruled.catalogue.Find("config|get")));
  CHECK_FALSE(rights.Allows(*ruled.catalogue.Find("CONFIG|SET")));
}

TEST_CASE("a first argument may be allowed of a command without subcommands") {
  const Ruled ruled({"+select|0", "+SELECT|Two"});
  CHECK(ruled.user.Describe() == "off resetchannels -@all +select|0 +select|Two");
  const uint32_t select = *ruled.catalogue.Find("select");
  const CommandRights& rights = ruled.user.selectors()[0].commands();
  CHECK_FALSE(rights.Allows(select));
  CHECK(rights.AllowsFirst(select, "0"));
  CHECK(rights.AllowsFirst(select, "TWO"));
  CHECK_FALSE(rights.AllowsFirst(select, "1"));
  CHECK(Described({"+select|0", "-select"}) == "off resetchannels -@all");
}

TEST_CASE("commands are described by the fewest categories that lead to them") {
  CHECK(Described({"+@read"}) == "off resetchannels -@all +@read");
  CHECK(Described({"+get", "+keys", "+config|get"}) == "off resetchannels -@all +@read");
  CHECK(Described({"+@all", "-@write"}) == "off resetchannels +@all -@write");
  CHECK(Described({"+@read", "-keys"}) == "off resetchannels -@all +@read -keys");
  CHECK(Described({"+@all", "-get", "+get"}) == "off resetchannels +@all");
}

TEST_CASE("keys are allowed to be read, written, or both") {
  const Ruled ruled({"~both*", "%R~read*", "%W~write*", "%rw~two", "%R~later", "%W~later"});
  CHECK(ruled.user.selectors()[0].DescribeKeys() == "~both* %R~read* %W~write* ~two ~later");
  const Selector& root = ruled.user.selectors()[0];
  CHECK(root.MayUseKey("both1", kReadsKey | kWritesKey));
  CHECK(root.MayUseKey("read1", kReadsKey));
  CHECK(root.MayUseKey("read1", 0));
  CHECK_FALSE(root.MayUseKey("read1", kWritesKey));
  CHECK_FALSE(root.MayUseKey("write1", kReadsKey | kWritesKey));
  CHECK_FALSE(root.MayUseKey("other", 0));
  CHECK_FALSE(root.MayUseAnyKey(kReadsKey));
  CHECK(Ruled({"%R~*"}).user.selectors()[0].MayUseAnyKey(kReadsKey));
}

TEST_CASE("a channel matches a pattern, and a pattern must be one of them") {
  const Ruled ruled({"&news:*"});
  const Selector& root = ruled.user.selectors()[0];
  CHECK(root.MayUseChannel("news:1", /*is_pattern=*/false));
  CHECK_FALSE(root.MayUseChannel("news:1", /*is_pattern=*/true));
  CHECK(root.MayUseChannel("news:*", /*is_pattern=*/true));
  CHECK_FALSE(root.MayUseChannel("other", /*is_pattern=*/false));
}

TEST_CASE("further selectors have rules of their own") {
  CHECK(Described({"+get", "(~a* +set)", "( &c  -@all )"}) ==
        "off resetchannels -@all +get (~a* resetchannels -@all +set) (resetchannels &c -@all)");
  CHECK(Described({"(+get)", "clearselectors"}) == "off resetchannels -@all");
  CHECK(ErrorOf("(on)") == RuleError::kSyntax);
  CHECK(ErrorOf("(+nosuch)") == RuleError::kUnknownCommand);
  CHECK_FALSE(Ruled({"(+@all ~* &*)"}).user.restricted());
  CHECK(Ruled({"(+@all ~* &*)", "clearselectors"}).user.restricted());
}

TEST_CASE("a rule that is wrong changes nothing, and says why") {
  CHECK(ErrorOf("+nosuch") == RuleError::kUnknownCommand);
  CHECK(ErrorOf("-@nosuch") == RuleError::kUnknownCommand);
  CHECK(ErrorOf("+config|nosuch") == RuleError::kUnknownCommand);
  CHECK(ErrorOf("-select|0") == RuleError::kUnknownCommand);
  CHECK(ErrorOf("+config|get|x") == RuleError::kSubcommandArgument);
  for (const std::string_view rule :
       {"nosuch", "+select|", "%~k", "%RR~k", "%X~k", "~a b", "&a\tb", ")", "("}) {
    CAPTURE(rule);
    CHECK(ErrorOf(rule) == RuleError::kSyntax);
  }
  CHECK(Ruled({"~*"}).Apply("~k") == RuleError::kAfterAllKeys);
  CHECK(Ruled({"&*"}).Apply("&c") == RuleError::kAfterAllChannels);
}

TEST_CASE("words are merged to selectors, and one that does not end is found") {
  const std::vector<std::string_view> words = {"on", "(~a", "+get)", "(+set)", "off"};
  const MergedRules merged = MergeSelectors(words);
  CHECK(merged.rules == std::vector<std::string>{"on", "(~a +get)", "(+set)", "off"});
  CHECK_FALSE(merged.unmatched);
  const std::vector<std::string_view> open = {"on", "(~a", "+get"};
  CHECK(MergeSelectors(open).unmatched);
  CHECK(MergeSelectors(open).unmatched_index == 1);
}

TEST_CASE("a description, split at its spaces as a file's line is, makes the same user again") {
  for (const Rules& rules :
       std::vector<Rules>{{"on", ">p", "~a*", "%R~b", "&c", "+@read", "-keys", "+select|0"},
                          {"(~\"a)\" +get)", "(\"~a\\\"b\" +set)", "nopass"},
                          {"(+select|x\")\" %W~'k')", "~k\"", "+@all"}}) {
    const std::string text = Described(rules);
    std::vector<std::string_view> words;
    for (size_t at = 0; at <= text.size();) {
      const size_t end = std::min(text.find(' ', at), text.size());
      words.push_back(std::string_view(text).substr(at, end - at));
      at = end + 1;
    }
    const MergedRules merged = MergeSelectors(words);
    CAPTURE(text);
    REQUIRE_FALSE(merged.unmatched);
    CHECK(Described(Rules(merged.rules.begin(), merged.rules.end())) == text);
  }
}

}  // namespace mayfly
