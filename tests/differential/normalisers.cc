#include "differential/normalisers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <set>

#include "differential/words.h"

namespace mayfly::testing {
namespace {

using Kind = Reply::Kind;

// How far apart the servers may read their clocks on a machine under load.
constexpr int64_t kLateMs = 20'000;

struct Exchange {
  const Words& request;
  const Reply& redis;
  const Reply& mayfly;
};

bool Near(const Exchange& pair, int64_t tolerance) {
  if (pair.redis.kind != Kind::kInteger || pair.mayfly.kind != Kind::kInteger) return false;
  if (pair.redis.integer < 0 || pair.mayfly.integer < 0) return false;
  return std::abs(pair.redis.integer - pair.mayfly.integer) <= tolerance;
}

bool NearMilliseconds(const Exchange& pair) { return Near(pair, kLateMs); }
bool NearSeconds(const Exchange& pair) { return Near(pair, kLateMs / 1000); }
// Redis adds 500 ms before it divides, which overflows in the last half second that 64 bits can say.
bool NearSecondsOrOverflown(const Exchange& pair) {
  return NearSeconds(pair) || (pair.redis.integer < -2 && pair.mayfly.integer == INT64_MAX / 1000 + 1);
}
bool SameElements(const Exchange& pair) { return Sorted(pair.redis) == Sorted(pair.mayfly); }
bool SameKind(const Exchange& pair) { return pair.redis.kind == pair.mayfly.kind; }
bool SameSign(const Exchange& pair) {
  const auto sign = [](const Reply& reply) { return (reply.integer > 0) - (reply.integer < 0); };
  return pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kInteger &&
         sign(pair.redis) == sign(pair.mayfly);
}

// Text, or an array of lines of text, and neither of them empty.
bool OwnText(const Exchange& pair) {
  const auto says_something = [](const Reply& reply) {
    if (reply.kind != Kind::kArray) return !reply.text.empty();
    return !reply.elements.empty() &&
           std::all_of(reply.elements.begin(), reply.elements.end(), [](const Reply& line) {
             return line.kind == Kind::kSimple || line.kind == Kind::kBulk;
           });
  };
  return pair.redis.kind == pair.mayfly.kind && says_something(pair.redis) && says_something(pair.mayfly);
}

// Ours may be empty where theirs is: the sections that we leave out.
bool OwnReport(const Exchange& pair) {
  return pair.redis.kind == pair.mayfly.kind &&
         (pair.redis.kind == Kind::kBulk || pair.redis.kind == Kind::kVerbatim);
}

std::set<std::string> TextsOf(const Reply& reply) {
  std::set<std::string> texts;
  for (const Reply& element : reply.elements) texts.insert(element.text);
  return texts;
}

bool SamePage(const Exchange& pair) {
  const auto is_page = [](const Reply& reply) {
    return reply.elements.size() == 2 && reply.elements[0].kind == Kind::kBulk &&
           reply.elements[1].kind == Kind::kArray;
  };
  if (!is_page(pair.redis) || !is_page(pair.mayfly)) return false;
  const bool whole =
      pair.request[1] == "0" && pair.redis.elements[0].text == "0" && pair.mayfly.elements[0].text == "0";
  return !whole || TextsOf(pair.redis.elements[1]) == TextsOf(pair.mayfly.elements[1]);
}

// The same fields in the same order; the values of some of them are each server's own.
bool SameIntroduction(const Exchange& pair) {
  const std::vector<Reply>& redis = pair.redis.elements;
  const std::vector<Reply>& mayfly = pair.mayfly.elements;
  if (pair.redis.kind != pair.mayfly.kind || redis.size() != mayfly.size()) return false;
  for (size_t i = 0; i + 1 < redis.size(); i += 2) {
    const bool own = redis[i].text == "version" || redis[i].text == "id";
    if (redis[i] != mayfly[i] || redis[i + 1].kind != mayfly[i + 1].kind) return false;
    if (!own && redis[i + 1] != mayfly[i + 1]) return false;
  }
  return true;
}

// Refused by both.
bool SameError(const Exchange& pair) {
  return pair.redis.kind == Kind::kError && pair.mayfly.kind == Kind::kError;
}

// 7.0 logs in at each AUTH as it reads it, 7.2 and we once, by the last, when all is read.
bool SameIntroductionOrLogin(const Exchange& pair) {
  if (SameError(pair) || SameIntroduction(pair)) return true;
  const auto is_login = [](const std::string& word) { return UpperCase(word) == "AUTH"; };
  return pair.redis.text.starts_with("WRONGPASS ") && pair.mayfly.kind != Kind::kError &&
         std::count_if(pair.request.begin(), pair.request.end(), is_login) > 1;
}

// Before 7.2 a missing key is looked for first, and what is wrong behind it is never read.
bool NothingOrError(const Exchange& pair) {
  return pair.redis.kind == Kind::kInteger && pair.redis.integer <= 0 && pair.mayfly.kind == Kind::kError;
}

// A command that we do not have (yet).
bool UnknownHere(const Exchange& pair) { return pair.mayfly.text == "ERR Invalid command specified"; }

// Up to the names of what there is to choose from.
bool SameBeforeChoices(const Exchange& pair) {
  static constexpr std::string_view kBefore = "must be one of the following: ";
  const size_t at = pair.redis.text.find(kBefore);
  return SameError(pair) && at != std::string::npos &&
         pair.mayfly.text.compare(0, at + kBefore.size(), pair.redis.text, 0, at + kBefore.size()) == 0;
}

// Names and values, in any order.
bool SamePairs(const Exchange& pair) {
  const auto pairs = [](const Reply& reply) {
    std::set<std::pair<std::string, std::string>> found;
    for (size_t i = 0; i + 1 < reply.elements.size(); i += 2)
      found.emplace(reply.elements[i].text, reply.elements[i + 1].text);
    return found;
  };
  return SameKind(pair) && pairs(pair.redis) == pairs(pair.mayfly);
}

// What the whole table holds is each server's own; of commands by name the shape is the same.
bool SameFacts(const Exchange& pair) {
  if (pair.request.size() == 2) return SameKind(pair);
  return pair.redis.kind == pair.mayfly.kind && pair.redis.elements.size() == pair.mayfly.elements.size();
}

// Seconds and microseconds.
bool NearTime(const Exchange& pair) {
  if (pair.redis.elements.size() != 2 || pair.mayfly.elements.size() != 2) return false;
  const auto seconds = [](const Reply& reply) { return std::atoll(reply.elements[0].text.c_str()); };
  return std::abs(seconds(pair.redis) - seconds(pair.mayfly)) <= kLateMs / 1000;
}

bool BothIdle(const Exchange& pair) {
  return pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kInteger && pair.mayfly.integer >= 0;
}

// Redis's MEMORY USAGE finds a key that is due until it is freed.
bool BothSizesOrDue(const Exchange& pair) {
  return SameSign(pair) || (pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kNull);
}

struct Normaliser {
  std::string_view row;
  bool (*same)(const Exchange&);
  bool by_chance;  // a run may do without it
  std::string_view reason;
  bool errors = false;  // errors are compared so, too
};

constexpr bool kSometimes = true;
constexpr bool kAlways = false;
constexpr bool kErrors = true;

constexpr Normaliser kNormalisers[] = {
    {"bitcount", NothingOrError, kAlways, "7.0 answers for a missing key before it reads the range", kErrors},
    {"bitpos", NothingOrError, kAlways, "as BITCOUNT", kErrors},
    {"client|help", OwnText, kAlways, "our own words"},
    {"client|id", SameSign, kAlways, "each server counts its own clients"},
    {"client|info", OwnText, kAlways, "each server's own figures"},
    {"client|list", OwnText, kAlways, "each server's own figures"},
    {"cluster", SameError, kAlways, "there is no cluster, whatever the subcommand", kErrors},
    {"command", SameKind, kAlways, "each server's own table"},
    {"command|count", SameSign, kAlways, "each server's own table"},
    {"command|docs", SameKind, kAlways, "each server's own table, ours in our own words"},
    {"command|getkeys", UnknownHere, kSometimes, "of commands that we do not have", kErrors},
    {"command|getkeysandflags", UnknownHere, kSometimes, "of commands that we do not have", kErrors},
    {"command|help", OwnText, kAlways, "our own words"},
    {"command|info", SameFacts, kAlways, "containers tell each server's own subcommands"},
    {"command|list", SameKind, kAlways, "each server's own table"},
    {"config|get", SamePairs, kAlways, "in the order of each server's own table"},
    {"config|help", OwnText, kAlways, "our own words"},
    {"config|set", SameBeforeChoices, kSometimes, "each server has policies of its own", kErrors},
    {"expiretime", NearSecondsOrOverflown, kSometimes, "as TTL; and Redis overflows at the very end of time"},
    {"hello", SameIntroductionOrLogin, kAlways,
     "version and client number are each server's own; 7.0 finds a wrong password before an error behind it",
     kErrors},
    {"info", OwnReport, kAlways, "each server's own figures"},
    {"keys", SameElements, kAlways, "the order of keys is that of the hash"},
    {"lastsave", SameSign, kSometimes, "each server's own start"},
    {"lolwut", SameKind, kAlways, "our own picture"},
    {"memory|doctor", SameKind, kAlways, "our own words"},
    {"memory|help", OwnText, kAlways, "our own words"},
    {"memory|malloc-stats", SameKind, kAlways, "each server's own figures"},
    {"memory|stats", SameKind, kAlways, "each server's own figures, ours with the fields of 7.4"},
    {"memory|usage", BothSizesOrDue, kAlways, "each server's own figures; a key that is due has none here"},
    {"module|help", OwnText, kAlways, "our own words"},
    {"module|load", SameError, kAlways, "modules cannot be loaded here", kErrors},
    {"module|loadex", SameError, kAlways, "modules cannot be loaded here", kErrors},
    {"module|unload", SameError, kAlways, "modules cannot be loaded here", kErrors},
    {"object|help", OwnText, kAlways, "our own words"},
    {"object|idletime", BothIdle, kSometimes,
     "the clocks differ; and Redis shares small integers between keys, with their idle time"},
    {"object|refcount", SameSign, kSometimes, "Redis shares small integers where there is no maxmemory"},
    {"pexpiretime", NearMilliseconds, kSometimes, "as TTL, for relative expiries"},
    {"pttl", NearMilliseconds, kSometimes, "as TTL"},
    {"randomkey", SameKind, kAlways, "chance"},
    {"scan", SamePage, kAlways,
     "cursors and pages are each server's own; a whole iteration shows the same keys"},
    {"time", NearTime, kAlways, "the servers read their clocks at different moments"},
    {"ttl", NearSeconds, kSometimes, "the servers read their clocks at different moments"},
};

bool IsRow(const CommandTable& table, std::string_view full_name) {
  const size_t bar = full_name.find('|');
  const TableRow* row = table.Find(full_name.substr(0, bar));
  if (row == nullptr || bar == std::string_view::npos) return row != nullptr;
  return CommandTable::FindSubcommand(*row, full_name.substr(bar + 1)) != nullptr;
}

}  // namespace

Normalisers::Normalisers() : uses_(std::size(kNormalisers)) {}

bool Normalisers::Same(const Case& sent, const std::string& redis, const std::string& mayfly) {
  if (redis == mayfly) return true;
  if (sent.syntax == nullptr || redis.empty() || mayfly.empty()) return false;
  const auto* found = std::find_if(
      std::begin(kNormalisers), std::end(kNormalisers),
      [&](const Normaliser& normaliser) { return normaliser.row == sent.syntax->row->full_name; });
  if (found == std::end(kNormalisers)) return false;
  if ((redis[0] == '-' || mayfly[0] == '-') && !found->errors) return false;
  const std::vector<Reply> redis_replies = TakeReplies(redis);
  const std::vector<Reply> mayfly_replies = TakeReplies(mayfly);
  if (redis_replies.size() != 1 || mayfly_replies.size() != 1) return false;
  ++uses_[static_cast<size_t>(found - kNormalisers)];
  return found->same({sent.words, redis_replies[0], mayfly_replies[0]});
}

std::vector<std::string> Normalisers::Complaints(const CommandTable& table) const {
  std::vector<std::string> complaints;
  for (size_t i = 0; i < std::size(kNormalisers); ++i) {
    const Normaliser& normaliser = kNormalisers[i];
    if (!IsRow(table, normaliser.row)) {
      complaints.push_back("normalisers.cc names " + std::string(normaliser.row) +
                           ", which the table does not have");
    } else if (uses_[i] == 0 && !normaliser.by_chance) {
      complaints.push_back("normalisers.cc names " + std::string(normaliser.row) +
                           ", whose replies were the same");
    }
  }
  return complaints;
}

}  // namespace mayfly::testing
