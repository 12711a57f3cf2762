// What COMMAND INFO and COMMAND DOCS tell of each row, beside what a real redis-server tells of it:
// everything but texts for people must be the same, or stand in one table with its reason.
#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>

#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

struct Difference {
  std::string_view row;
  std::string_view fact;  // empty: the redis-server does not know the row
  std::string_view reason;
};

constexpr std::string_view kKillSyntax =
    "7.4 names SKIPME's values and has MAXAGE, Valkey 9 has more filters; here one must be given";
constexpr std::string_view kSetDeprecated = "deprecated by the documentation of 7.2";

constexpr std::string_view kOwnGroups = "Redis groups the words in another way";

constexpr Difference kDifferences[] = {
    {"bgsave", "arguments", "CANCEL as in Valkey 8.1"},
    {"bigkeys", "", "of Mayfly"},
    {"bitcount", "arguments", "Valkey 8.0 lets the end be left out"},
    {"client|kill", "arguments", kKillSyntax},
    {"client|list", "arguments",
     "7.2 has ID as one argument, not as a block of one; Valkey 9 has more filters"},
    {"client|no-touch", "", "since 7.2"},
    {"client|setinfo", "", "since 7.2"},
    {"client|setname", "tips", "since 7.2"},
    {"cluster|keyslot", "arguments", "a key here, though none that is used"},
    {"cluster|myshardid", "", "since 7.2"},
    {"command|getkeys", "arguments", "since 7.2"},
    {"command|getkeysandflags", "arguments", "since 7.2"},
    {"config|get", "arguments", "7.2 has a parameter, not a block of one"},
    {"config|resetstat", "tips", "since 7.2"},
    {"debug", "arguments", "in Redis it has none"},
    {"delex", "", "since 8.4"},
    {"delifeq", "", "of Valkey 9.0"},
    {"digest", "", "since 8.4"},
    {"drain", "", "of Mayfly"},
    {"expire", "arguments", "JITTER, SLIDE and INTO of Mayfly"},
    {"expireat", "arguments", "INTO of Mayfly"},
    {"expiremember", "", "of KeyDB"},
    {"expirememberat", "", "of KeyDB"},
    {"expiring", "", "of Mayfly"},
    {"explog", "", "of Mayfly"},
    {"explog|ack", "", "of Mayfly"},
    {"explog|help", "", "of Mayfly"},
    {"explog|info", "", "of Mayfly"},
    {"explog|read", "", "of Mayfly"},
    {"failover", "arguments", "Redis gives the token of a block to the block"},
    {"fieldttl", "", "of Dragonfly"},
    {"geohash", "arguments", "as 7.2 shows it: the members may be left out"},
    {"geopos", "arguments", "as GEOHASH"},
    {"getex", "arguments", "JITTER and SLIDE of Mayfly"},
    {"getttl", "", "of Mayfly"},
    {"hexpire", "", "since 7.4"},
    {"hexpireat", "", "since 7.4"},
    {"hexpiretime", "", "since 7.4"},
    {"hgetdel", "", "since 8.0"},
    {"hgetex", "", "since 8.0"},
    {"hotkeys", "", "of Mayfly"},
    {"hpersist", "", "since 7.4"},
    {"hpexpire", "", "since 7.4"},
    {"hpexpireat", "", "since 7.4"},
    {"hpexpiretime", "", "since 7.4"},
    {"hpttl", "", "since 7.4"},
    {"hscan", "arguments", "NOVALUES since 7.4"},
    {"hsetex", "", "since 8.0"},
    {"httl", "", "since 7.4"},
    {"increx", "", "since 8.8"},
    {"invalidate", "", "of Mayfly"},
    {"lcs", "arguments", "7.2 calls MINMATCHLEN's value min-match-len"},
    {"mgetttl", "", "of Mayfly"},
    {"migrate", "arguments", "Redis calls AUTH and AUTH2 optional within an optional choice"},
    {"module|loadex", "arguments", "7.2 has a text behind ARGS, not a block of one"},
    {"msetex", "", "since 8.4"},
    {"namespace", "", "of Mayfly"},
    {"namespace|del", "", "of Mayfly"},
    {"namespace|help", "", "of Mayfly"},
    {"namespace|list", "", "of Mayfly"},
    {"namespace|set", "", "of Mayfly"},
    {"nsflush", "", "of Mayfly"},
    {"peek", "", "of Mayfly"},
    {"pexpire", "arguments", "JITTER, SLIDE and INTO of Mayfly"},
    {"pexpireat", "arguments", "INTO of Mayfly"},
    {"pexpirememberat", "", "of KeyDB"},
    {"pfmerge", "arguments", "since 7.2 the sources may be left out"},
    {"psetex", "deprecated_since", kSetDeprecated},
    {"psetex", "doc_flags", kSetDeprecated},
    {"psubscribe", "arguments", "7.2 has a pattern, not a block of one"},
    {"quit", "deprecated_since", "since 7.2"},
    {"quit", "doc_flags", "since 7.2"},
    {"replicaof", "arguments", "Redis calls the blocks host-port and no-one"},
    {"saddex", "", "of Dragonfly"},
    {"script|show", "", "of Valkey 8.0"},
    {"set", "arguments",
     "IFEQ, IFNE, IFDEQ and IFDNE as in 8.4; IFLEASE, JITTER, SLIDE, STALE, TAGS and INTO of Mayfly"},
    {"setex", "deprecated_since", kSetDeprecated},
    {"setex", "doc_flags", kSetDeprecated},
    {"setnx", "deprecated_since", kSetDeprecated},
    {"setnx", "doc_flags", kSetDeprecated},
    {"sexpire", "", "since 8.12"},
    {"sexpireat", "", "since 8.12"},
    {"sexpiretime", "", "since 8.12"},
    {"slaveof", "arguments", "as REPLICAOF"},
    {"spersist", "", "since 8.12"},
    {"spexpire", "", "since 8.12"},
    {"spexpireat", "", "since 8.12"},
    {"spexpiretime", "", "since 8.12"},
    {"spttl", "", "since 8.12"},
    {"sttl", "", "since 8.12"},
    {"tag", "", "of Mayfly"},
    {"taginfo", "", "of Mayfly"},
    {"tags", "", "of Mayfly"},
    {"timers", "", "of Mayfly"},
    {"take", "", "of Mayfly"},
    {"unlease", "", "of Mayfly"},
    {"wait", "categories", "blocking since 7.2"},
    {"wait", "flags", "blocking since 7.2, which lets scripts call it"},
    {"waitaof", "", "since 7.2"},
    {"xackdel", "", "since 8.2"},
    {"xadd", "arguments", kOwnGroups},
    {"xautoclaim", "arguments", "the start is called a text there"},
    {"xdelex", "", "since 8.2"},
    {"xinfo|stream", "arguments", kOwnGroups},
    {"xpending", "arguments", "start and end are called texts there"},
    {"xread", "arguments", kOwnGroups},
    {"xreadgroup", "arguments", kOwnGroups},
    {"xtrim", "arguments", kOwnGroups},
    {"zscan", "arguments", "NOSCORES of Valkey 8.0"},
    {"zrank", "arguments", "WITHSCORE since 7.2"},
    {"zrank", "arity", "WITHSCORE since 7.2"},
    {"zrevrank", "arguments", "WITHSCORE since 7.2"},
    {"zrevrank", "arity", "WITHSCORE since 7.2"},
};

std::string Printed(const Reply& reply) {
  std::ostringstream text;
  text << reply;
  return text.str();
}

// Texts for people, each server's own; and the display text, which 7.0 does not have.
bool IsText(const Reply& name) {
  static constexpr std::string_view kTexts[] = {"summary",     "complexity", "history",
                                                "replaced_by", "notes",      "display_text"};
  return std::find(std::begin(kTexts), std::end(kTexts), name.text) != std::end(kTexts);
}

// Without texts, sets in one order.
Reply Bare(const Reply& reply) {
  Reply bare = reply;
  bare.elements.clear();
  const bool is_map = reply.kind == Reply::Kind::kMap;
  for (size_t i = 0; i < reply.elements.size(); i += is_map ? 2 : 1) {
    if (is_map && IsText(reply.elements[i])) continue;
    bare.elements.push_back(Bare(reply.elements[i]));
    if (is_map) bare.elements.push_back(Bare(reply.elements[i + 1]));
  }
  if (reply.kind == Reply::Kind::kSet) {
    std::sort(bare.elements.begin(), bare.elements.end(),
              [](const Reply& a, const Reply& b) { return Printed(a) < Printed(b); });
  }
  return bare;
}

using Facts = std::map<std::string, Reply>;

// Of what COMMAND INFO and COMMAND DOCS answered for one name; nothing where the name is not known.
Facts FactsOf(const Reply& info, const Reply& docs) {
  static constexpr const char* kElements[] = {"name", "arity",      "flags", "first key", "last key",
                                              "step", "categories", "tips",  "key specs"};
  Facts facts;
  const Reply& row = info.elements.at(0);
  for (size_t i = 0; i < std::min(row.elements.size(), std::size(kElements)); ++i)
    facts[kElements[i]] = Bare(row.elements[i]);
  if (docs.elements.empty()) return facts;
  const Reply map = Bare(docs.elements.at(1));
  for (size_t i = 0; i < map.elements.size(); i += 2) {
    if (map.elements[i].text != "subcommands") facts[map.elements[i].text] = map.elements[i + 1];
  }
  return facts;
}

class FactsTest : public CommandTest {
 public:
  FactsTest() {
    UseResp3();
    oracle_.Ask(EncodeRequest({"HELLO", "3"}), 1);
  }

  Facts Here(const std::string& name) {
    return FactsOf(Run({"COMMAND", "INFO", name}), Run({"COMMAND", "DOCS", name}));
  }
  Facts InRedis(const std::string& name) {
    const std::vector<std::string> replies =
        oracle_.Ask(EncodeRequest({"COMMAND", "INFO", name}) + EncodeRequest({"COMMAND", "DOCS", name}), 2);
    return FactsOf(TakeReplies(replies[0]).at(0), TakeReplies(replies[1]).at(0));
  }

 private:
  Oracle oracle_;
};

// The names of what differs.
std::vector<std::string> Compare(const Facts& here, const Facts& redis) {
  if (redis.empty()) return {""};
  std::vector<std::string> names;
  for (const auto& [name, fact] : here) {
    const auto other = redis.find(name);
    if (other == redis.end() || other->second != fact) names.push_back(name);
  }
  for (const auto& [name, fact] : redis) {
    if (here.find(name) == here.end()) names.push_back(name);
  }
  return names;
}

}  // namespace

TEST_CASE_METHOD(
    FactsTest,
    "COMMAND INFO and COMMAND DOCS show the same facts as Redis, but for the differences listed here") {
  std::vector<const Difference*> unseen;
  for (const Difference& difference : kDifferences) unseen.push_back(&difference);
  const auto compare = [&](const TableRow& row) {
    const Facts here = Here(row.full_name);
    const Facts redis = InRedis(row.full_name);
    for (const std::string& name : Compare(here, redis)) {
      const auto known = std::find_if(unseen.begin(), unseen.end(), [&](const Difference* difference) {
        return difference->row == row.full_name && difference->fact == name;
      });
      if (known != unseen.end()) {
        unseen.erase(known);
        continue;
      }
      const auto shown = [&name](const Facts& facts) {
        const auto at = facts.find(name);
        return at != facts.end() ? Printed(at->second) : "(nothing)";
      };
      FAIL_CHECK(row.full_name << ": " << name << " is " << shown(here) << "\nin Redis " << shown(redis));
    }
  };
  for (const TableRow* row : server().commands.rows()) {
    if (row->group == "test") continue;
    compare(*row);
    for (const TableRow* sub : row->subcommands) compare(*sub);
  }
  for (const Difference* difference : unseen)
    FAIL_CHECK(difference->row << " " << difference->fact << " does not differ");
}

// One that is not taken stands beside a word that the syntax does not have.
TEST_CASE_METHOD(CommandTest, "each note on an argument is shown") {
  UseResp3();
  const Reply docs = Run({"COMMAND", "DOCS", "bitpos"});
  const std::string text = Printed(docs);
  CHECK(text.find("end_index") != std::string::npos);
  CHECK(text.find("index_unit") != std::string::npos);
  CHECK(text.find("7.0.0") != std::string::npos);
  CHECK(Printed(Run({"COMMAND", "DOCS", "bitfield_ro"})).find("multiple_token") != std::string::npos);
  for (const TableRow* row : server().commands.rows()) {
    std::vector<const TableRow*> rows = {row};
    rows.insert(rows.end(), row->subcommands.begin(), row->subcommands.end());
    for (const TableRow* any : rows) {
      const std::string told = Printed(Run({"COMMAND", "DOCS", any->full_name}));
      std::istringstream notes{std::string(any->command->argument_notes)};
      for (std::string note; notes >> note;) {
        INFO(any->full_name << ": " << note);
        const size_t at = std::min(note.find('@'), note.size());
        const size_t equals = note.find('=');
        if (equals < at)
          CHECK(told.find('"' + note.substr(equals + 1, at - equals - 1) + '"') != std::string::npos);
        if (at < note.size()) CHECK(told.find('"' + note.substr(at + 1) + '"') != std::string::npos);
      }
    }
  }
}

}  // namespace mayfly::testing
