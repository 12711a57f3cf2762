#include "differential/normalisers.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <set>

#include "base/text/numbers.h"
#include "differential/words.h"

namespace mayfly::testing {
namespace {

using Kind = Reply::Kind;

struct Exchange {
  const Words& request;
  const Reply& redis;
  const Reply& mayfly;
  const Surroundings& surroundings;
  // The replies to the request before; kNone where there is none.
  const Reply& redis_before;
  const Reply& mayfly_before;
};

bool Near(const Exchange& pair, int64_t tolerance) {
  if (pair.redis.kind != Kind::kInteger || pair.mayfly.kind != Kind::kInteger) return false;
  if (pair.redis.integer < 0 || pair.mayfly.integer < 0) return false;
  return std::abs(pair.redis.integer - pair.mayfly.integer) <= tolerance;
}

bool NearMilliseconds(const Exchange& pair) { return Near(pair, pair.surroundings.late_ms); }

// A deadline that was given as Unix time is the same to the millisecond.
bool NearDeadline(const Exchange& pair) {
  const std::set<int64_t>* absolute = pair.surroundings.deadlines_ms;
  if (absolute != nullptr && absolute->contains(pair.redis.integer)) return false;
  return NearMilliseconds(pair);
}

// The witness, in milliseconds, has been compared; ours must be the nearest second to ours. At the very end
// of time Redis adds 500 ms before it divides, which overflows.
bool RoundedFromWitness(const Exchange& pair) {
  const int64_t ms = pair.mayfly_before.integer;
  return pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kInteger &&
         pair.mayfly_before.kind == Kind::kInteger && ms >= 0 &&
         pair.mayfly.integer == ms / 1000 + (ms % 1000 >= 500 ? 1 : 0);
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

// Both nothing, or each a key that is there.
bool KeyOfWitness(const Exchange& pair) {
  if (pair.redis.kind != pair.mayfly.kind) return false;
  return pair.mayfly.kind == Kind::kNull || TextsOf(pair.redis_before).contains(pair.mayfly.text);
}

bool IsPage(const Reply& reply) {
  return reply.elements.size() == 2 && reply.elements[0].kind == Kind::kBulk &&
         reply.elements[1].kind == Kind::kArray;
}

// A page holds keys that a whole iteration shows, none twice, and all of them where it is the only one. (A
// whole iteration, as a witness is one, needs no witness.)
bool PageOfWitness(const Exchange& pair) {
  if (!IsPage(pair.redis) || !IsPage(pair.mayfly)) return false;
  const auto is_whole = [&](const Reply& page) {
    return pair.request[1] == "0" && page.elements[0].text == "0";
  };
  const Reply& witness = is_whole(pair.redis) ? pair.redis : pair.redis_before;
  if (!IsPage(witness)) return false;
  const std::set<std::string> all = TextsOf(witness.elements[1]);
  const std::set<std::string> shown = TextsOf(pair.mayfly.elements[1]);
  if (shown.size() != pair.mayfly.elements[1].elements.size()) return false;
  return is_whole(pair.mayfly) ? shown == all
                               : std::includes(all.begin(), all.end(), shown.begin(), shown.end());
}

using Pairs = std::set<std::pair<std::string, std::string>>;
Pairs PairsOf(const Reply& reply) {
  Pairs found;
  for (size_t i = 0; i < reply.elements.size(); ++i) {
    const std::vector<Reply>& nested = reply.elements[i].elements;
    if (nested.size() == 2)
      found.emplace(nested[0].text, nested[1].text);
    else if (++i < reply.elements.size())
      found.emplace(reply.elements[i - 1].text, reply.elements[i].text);
  }
  return found;
}

// As PageOfWitness, of HSCAN: fields with their values.
bool FieldsOfWitness(const Exchange& pair) {
  if (!IsPage(pair.redis) || !IsPage(pair.mayfly)) return false;
  const auto is_whole = [&](const Reply& page) {
    return pair.request[2] == "0" && page.elements[0].text == "0";
  };
  const Reply& witness = is_whole(pair.redis) ? pair.redis : pair.redis_before;
  if (!IsPage(witness)) return false;
  const Pairs all = PairsOf(witness.elements[1]);
  const Pairs shown = PairsOf(pair.mayfly.elements[1]);
  if (2 * shown.size() != pair.mayfly.elements[1].elements.size()) return false;
  return is_whole(pair.mayfly) ? shown == all
                               : std::includes(all.begin(), all.end(), shown.begin(), shown.end());
}

// HRANDFIELD after HGETALL, ZRANDMEMBER after ZRANGE: as many as in Redis, each with its value, and none twice unless the count is negative.
bool PickOfWitness(const Exchange& pair) {
  if (pair.redis.kind != pair.mayfly.kind) return false;
  const Pairs all = PairsOf(pair.mayfly_before);
  Pairs shown;
  size_t fields = 0;
  const auto show = [&](const std::string& name, const std::string* value) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      return one.first == name && (value == nullptr || one.second == *value);
    });
    if (found != all.end()) shown.insert(*found);
    ++fields;
    return found != all.end();
  };
  if (pair.mayfly.kind == Kind::kBulk) return show(pair.mayfly.text, nullptr);
  const std::vector<Reply>& elements = pair.mayfly.elements;
  if (pair.mayfly.kind != Kind::kArray || elements.size() != pair.redis.elements.size()) return false;
  const bool pairs = pair.request.size() > 3;
  for (size_t i = 0; i < elements.size(); ++i) {
    const bool nested = elements[i].kind == Kind::kArray;
    if (nested && elements[i].elements.size() != 2) return false;
    const std::string& name = nested ? elements[i].elements[0].text : elements[i].text;
    const std::string* value = nested ? &elements[i].elements[1].text : pairs ? &elements[++i].text : nullptr;
    if (!show(name, value)) return false;
  }
  return pair.request[2][0] == '-' || shown.size() == fields;
}

// Random members of what the witness, SMEMBERS, has shown, as many as Redis has answered with. They differ from
// each other, unless a negative count lets them repeat.
bool MembersOfWitness(const Exchange& pair) {
  if (pair.redis.kind != pair.mayfly.kind) return false;
  const std::set<std::string> all = TextsOf(pair.redis_before);
  if (pair.mayfly.kind == Kind::kBulk) return all.contains(pair.mayfly.text);
  const std::vector<Reply>& shown = pair.mayfly.elements;
  const bool may_repeat = pair.request.size() > 2 && pair.request[2].starts_with('-');
  return shown.size() == pair.redis.elements.size() &&
         (may_repeat || TextsOf(pair.mayfly).size() == shown.size()) &&
         std::all_of(shown.begin(), shown.end(), [&](const Reply& one) { return all.contains(one.text); });
}

// Pages of what the witness, SMEMBERS, has shown; the same if both are whole.
bool PagesOfMembers(const Exchange& pair) {
  if (!IsPage(pair.redis) || !IsPage(pair.mayfly)) return false;
  const std::set<std::string> all = TextsOf(pair.redis_before);
  const std::set<std::string> theirs = TextsOf(pair.redis.elements[1]);
  const std::set<std::string> ours = TextsOf(pair.mayfly.elements[1]);
  const auto is_whole = [&](const Reply& page) {
    return pair.request[2] == "0" && page.elements[0].text == "0";
  };
  if (is_whole(pair.redis) && is_whole(pair.mayfly) && theirs != ours) return false;
  return ours.size() == pair.mayfly.elements[1].elements.size() &&
         std::includes(all.begin(), all.end(), ours.begin(), ours.end());
}

// Equal but for the texts of numbers: 7.0 writes them with 17 digits.
bool SameButForDigits(const Reply& redis, const Reply& mayfly) {
  if (redis.kind != mayfly.kind || redis.integer != mayfly.integer) return false;
  if (redis.text != mayfly.text) {
    const std::optional<double> theirs = ParseDouble(redis.text);
    const std::optional<double> ours = ParseDouble(mayfly.text);
    if (!theirs || theirs != ours) return false;
  }
  return std::equal(redis.elements.begin(), redis.elements.end(), mayfly.elements.begin(),
                    mayfly.elements.end(), SameButForDigits);
}
bool SameScores(const Exchange& pair) { return SameButForDigits(pair.redis, pair.mayfly); }

// In a large sorted set with unequal scores, what lies between two names hangs on Redis's random levels.
bool SameScoresOrUnordered(const Exchange& pair) {
  return SameScores(pair) || (SameKind(pair) && pair.redis_before.text == "skiplist");
}

// ZSCAN, in the order of each server's own.
bool ScoresOfWitness(const Exchange& pair) {
  if (!IsPage(pair.redis) || !IsPage(pair.mayfly)) return false;
  const auto is_whole = [&](const Reply& page) {
    return pair.request[2] == "0" && page.elements[0].text == "0";
  };
  const Reply& witness = is_whole(pair.redis) ? pair.redis : pair.redis_before;
  if (!IsPage(witness)) return false;
  std::map<std::string, double> all;
  for (const auto& [name, score] : PairsOf(witness.elements[1])) all[name] = ParseDouble(score).value_or(0);
  const Pairs shown = PairsOf(pair.mayfly.elements[1]);
  if (2 * shown.size() != pair.mayfly.elements[1].elements.size()) return false;
  return (!is_whole(pair.mayfly) || shown.size() == all.size()) &&
         std::all_of(shown.begin(), shown.end(), [&](const auto& one) {
           const auto found = all.find(one.first);
           return found != all.end() && found->second == ParseDouble(one.second);
         });
}

bool PackedSinceThen(const Exchange& pair) {
  const std::string& redis = pair.redis.text;
  return pair.mayfly.text == "listpack" &&
         (redis == "hashtable" || redis == "quicklist" || redis == "skiplist");
}

// Texts that are equal leave their elements in an order of the server's own, and so does a set that is not to be
// sorted, because nothing but a star in BY's pattern says by what.
bool SameButForTies(const Exchange& pair) {
  const Words& words = pair.request;
  const auto find = [&](std::string_view word) {
    return std::find_if(words.begin(), words.end(),
                        [&](const std::string& one) { return UpperCase(one) == word; });
  };
  const auto by = find("BY");
  if (by == words.end() || std::next(by) == words.end()) return false;
  const bool unsorted = std::next(by)->find('*') == std::string::npos;
  return (unsorted || find("ALPHA") != words.end()) && SameElements(pair);
}

// A call with more arguments than the command took in 7.0.
bool LongerSinceThen(const Exchange& pair) {
  const std::string name = pair.request.size() > 2 ? UpperCase(pair.request[2]) : std::string();
  return (name == "ZRANK" || name == "ZREVRANK") && pair.mayfly.kind == Kind::kArray &&
         pair.redis.text == "ERR Invalid number of arguments specified for command";
}

// The same fields in the same order; the values of some of them are each server's own.
bool SameButFor(const Exchange& pair, std::initializer_list<std::string_view> own_fields) {
  const std::vector<Reply>& redis = pair.redis.elements;
  const std::vector<Reply>& mayfly = pair.mayfly.elements;
  if (pair.redis.kind != pair.mayfly.kind || redis.size() != mayfly.size()) return false;
  for (size_t i = 0; i + 1 < redis.size(); i += 2) {
    const bool own = std::find(own_fields.begin(), own_fields.end(), redis[i].text) != own_fields.end();
    if (redis[i] != mayfly[i] || redis[i + 1].kind != mayfly[i + 1].kind) return false;
    if (!own && redis[i + 1] != mayfly[i + 1]) return false;
  }
  return true;
}
bool SameIntroduction(const Exchange& pair) { return SameButFor(pair, {"version", "id", "modules"}); }

// The clocks differ, so times of deliveries do; those of consumers are told as in 7.2. How far a group has come is counted as in
// 8.0: newer_oracle_test.cc compares that.
Reply WithoutTimes(Reply reply) {
  static const std::set<std::string> kOmitted{"radix-tree-nodes", "seen-time", "active-time", "idle",
                                              "inactive",         "lag",       "entries-read"};
  std::vector<Reply> kept;
  for (size_t i = 0; i < reply.elements.size(); ++i) {
    if (kOmitted.contains(reply.elements[i].text)) {
      ++i;
      continue;
    }
    kept.push_back(WithoutTimes(std::move(reply.elements[i])));
    if (kept.back().text != "pending" || ++i == reply.elements.size()) continue;
    // An ID, perhaps a consumer, the time, the count.
    for (Reply& held : reply.elements[i].elements) held.elements[held.elements.size() - 2] = {};
    kept.push_back(std::move(reply.elements[i]));
  }
  reply.elements = std::move(kept);
  return reply;
}
bool SameButForTimes(const Exchange& pair) { return WithoutTimes(pair.redis) == WithoutTimes(pair.mayfly); }

// An ID, a consumer, for how long it has been idle, the count; or the summary.
bool SameButForIdle(const Exchange& pair) {
  const auto without = [](Reply reply) {
    for (Reply& held : reply.elements) {
      if (held.elements.size() == 4) held.elements[2] = {};
    }
    return reply;
  };
  return without(pair.redis) == without(pair.mayfly);
}

// Refused by both.
bool SameError(const Exchange& pair) {
  return pair.redis.kind == Kind::kError && pair.mayfly.kind == Kind::kError;
}

// Up to the names of what there is to choose from.
bool SameBeforeChoices(const Exchange& pair) {
  static constexpr std::string_view kBeforeChoices = "must be one of the following: ";
  const size_t at = pair.redis.text.find(kBeforeChoices);
  return SameError(pair) && at != std::string::npos &&
         pair.mayfly.text.compare(0, at + kBeforeChoices.size(), pair.redis.text, 0,
                                  at + kBeforeChoices.size()) == 0;
}

// Each server's own lines. Redis takes one filter, Valkey and we any number, and it may be another one of
// them that is wrong.
bool OwnListOrFilters(const Exchange& pair) {
  constexpr size_t kWithOneFilter = 4;
  if (pair.redis.kind != Kind::kError) return pair.mayfly.kind != Kind::kError && OwnText(pair);
  if (pair.request.size() <= kWithOneFilter) return false;
  const auto filters = std::count_if(
      pair.request.begin() + 2, pair.request.end(),
      [](const std::string& word) { return UpperCase(word) == "ID" || UpperCase(word) == "TYPE"; });
  return filters > 1 || pair.mayfly.kind == Kind::kError;
}

// Names and values, in any order.
bool SamePairs(const Exchange& pair) { return SameKind(pair) && PairsOf(pair.redis) == PairsOf(pair.mayfly); }

// What the whole table holds is each server's own; of commands by name the shape is the same.
bool SameFacts(const Exchange& pair) {
  if (pair.request.size() == 2) return SameKind(pair);
  return pair.redis.kind == pair.mayfly.kind && pair.redis.elements.size() == pair.mayfly.elements.size();
}

// Seconds and microseconds.
bool NearTime(const Exchange& pair) {
  if (pair.redis.elements.size() != 2 || pair.mayfly.elements.size() != 2) return false;
  const auto seconds = [](const Reply& reply) { return std::atoll(reply.elements[0].text.c_str()); };
  return std::abs(seconds(pair.redis) - seconds(pair.mayfly)) <= 1 + pair.surroundings.late_ms / 1000;
}

bool BothIdle(const Exchange& pair) {
  return pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kInteger && pair.mayfly.integer >= 0;
}

// Redis's MEMORY USAGE finds a key that is due until it is freed.
bool BothSizesOrDue(const Exchange& pair) {
  return SameSign(pair) || (pair.redis.kind == Kind::kInteger && pair.mayfly.kind == Kind::kNull);
}

// The runs of PFDEBUG DECODE, where the text may end within an instruction: APPEND makes such texts.
bool SameRuns(const Exchange& pair) {
  const std::string& redis = pair.redis.text;
  const std::string& mayfly = pair.mayfly.text;
  if (pair.redis.kind != Kind::kBulk || pair.mayfly.kind != Kind::kBulk || !redis.starts_with(mayfly))
    return false;
  const std::string_view more = std::string_view(redis).substr(mayfly.size());
  return std::count(more.begin(), more.end(), ':') == 1;
}

// A small list is a listpack since 7.2.
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
    {"acl|help", OwnText, kAlways, "our own words"},
    {"pubsub|help", OwnText, kAlways, "our own words"},
    {"client|help", OwnText, kAlways, "our own words"},
    {"client|id", SameSign, kAlways, "each server counts its own clients"},
    {"client|info", OwnText, kAlways, "each server's own figures"},
    {"client|list", OwnListOrFilters, kAlways, "each server's own figures; and Redis takes one filter",
     kErrors},
    {"command", SameKind, kAlways, "each server's own table"},
    {"command|getkeys", LongerSinceThen, kSometimes, "ZRANK and ZREVRANK take WITHSCORE since 7.2", kErrors},
    {"command|getkeysandflags", LongerSinceThen, kSometimes, "as GETKEYS", kErrors},
    {"command|count", SameSign, kAlways, "each server's own table"},
    {"command|docs", SameKind, kAlways, "each server's own table, ours in our own words"},
    {"command|help", OwnText, kAlways, "our own words"},
    {"command|info", SameFacts, kAlways, "containers tell each server's own subcommands"},
    {"command|list", SameKind, kAlways, "each server's own table"},
    {"config|get", SamePairs, kAlways, "in the order of each server's own table"},
    {"config|help", OwnText, kAlways, "our own words"},
    {"config|set", SameBeforeChoices, kSometimes, "each server has policies of its own", kErrors},
    {"dump", SameKind, kSometimes,
     "each server has encodings of its own; dump_oracle_test.cc compares the values"},
    {"expiretime", RoundedFromWitness, kSometimes, "as TTL; and Redis overflows at the very end of time"},
    {"function|help", OwnText, kAlways, "our own words"},
    {"hello", SameIntroduction, kAlways, "version, client number and modules are each server's own"},
    {"hgetall", SamePairs, kSometimes, "the order of a large hash is that of its table"},
    {"hkeys", SameElements, kSometimes, "as HGETALL"},
    {"hrandfield", PickOfWitness, kSometimes, "chance"},
    {"hscan", FieldsOfWitness, kSometimes, "as SCAN"},
    {"hvals", SameElements, kSometimes, "as HGETALL"},
    {"info", OwnReport, kAlways, "each server's own figures"},
    {"keys", SameElements, kAlways, "the order of keys is that of the hash"},
    {"lastsave", SameSign, kSometimes, "each server's own start"},
    {"latency|doctor", SameKind, kAlways, "our own words"},
    {"latency|help", OwnText, kAlways, "our own words"},
    {"latency|histogram", SameKind, kAlways, "each server's own times"},
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
    {"object|encoding", PackedSinceThen, kAlways,
     "small sets and lists are packed since 7.2; and Redis unpacks a sorted set to sort it"},
    {"object|help", OwnText, kAlways, "our own words"},
    {"object|idletime", BothIdle, kSometimes,
     "the clocks differ; and Redis shares small integers between keys, with their idle time"},
    {"object|refcount", SameSign, kSometimes, "Redis shares small integers where there is no maxmemory"},
    {"pfdebug", SameRuns, kSometimes, "of half an instruction at the end Redis decodes the byte behind, too"},
    {"pexpiretime", NearDeadline, kSometimes, "as TTL, for relative expiries"},
    {"pttl", NearMilliseconds, kSometimes, "as TTL"},
    {"randomkey", KeyOfWitness, kAlways, "chance"},
    {"scan", PageOfWitness, kAlways,
     "cursors and pages are each server's own; a whole iteration shows the same keys"},
    {"script|help", OwnText, kAlways, "our own words"},
    {"sdiff", SameElements, kSometimes, "the order of members is each server's own"},
    {"sinter", SameElements, kSometimes, "as SDIFF"},
    {"slowlog|get", SameKind, kSometimes, "each server's own times"},
    {"slowlog|help", OwnText, kAlways, "our own words"},
    {"slowlog|len", SameKind, kSometimes, "each server's own times"},
    {"smembers", SameElements, kAlways, "as SDIFF"},
    {"sort", SameButForTies, kSometimes, "equal texts have no order"},
    {"sort_ro", SameButForTies, kSometimes, "as SORT"},
    {"spop", MembersOfWitness, kSometimes, "chance"},
    {"srandmember", MembersOfWitness, kSometimes, "chance"},
    {"sscan", PagesOfMembers, kAlways, "cursors and pages are each server's own"},
    {"sunion", SameElements, kAlways, "as SDIFF"},
    {"time", NearTime, kAlways, "the servers read their clocks at different moments"},
    {"xgroup|help", OwnText, kAlways, "our own words"},
    {"xinfo|consumers", SameButForTimes, kSometimes, "the clocks differ; and with inactive, as in 7.2"},
    {"xinfo|groups", SameButForTimes, kSometimes, "7.0 counts otherwise how far a group has come"},
    {"xinfo|stream", SameButForTimes, kSometimes,
     "a stream of several nodes is no radix tree here; and as XINFO CONSUMERS, with FULL"},
    {"xpending", SameButForIdle, kSometimes, "the clocks differ"},
    {"xinfo|help", OwnText, kAlways, "our own words"},
    {"ttl", RoundedFromWitness, kSometimes, "the servers read their clocks at different moments"},
    {"zadd", SameScores, kSometimes, "7.0 writes scores with 17 digits"},
    {"zdiff", SameScores, kSometimes, "as ZADD"},
    {"zincrby", SameScores, kSometimes, "as ZADD"},
    {"zinter", SameScores, kSometimes, "as ZADD"},
    {"zlexcount", SameScoresOrUnordered, kSometimes, "names are in order where scores are equal"},
    {"zmpop", SameScores, kSometimes, "as ZADD"},
    {"zmscore", SameScores, kSometimes, "as ZADD"},
    {"zpopmax", SameScores, kSometimes, "as ZADD"},
    {"zpopmin", SameScores, kSometimes, "as ZADD"},
    {"zrandmember", PickOfWitness, kSometimes, "chance"},
    {"zrange", SameScoresOrUnordered, kSometimes, "as ZADD and ZLEXCOUNT"},
    {"zrangebylex", SameScoresOrUnordered, kSometimes, "as ZLEXCOUNT"},
    {"zrangebyscore", SameScores, kSometimes, "as ZADD"},
    {"zrangestore", SameScoresOrUnordered, kSometimes, "as ZLEXCOUNT"},
    {"zrank", SameError, kSometimes, "7.0 takes no word after the member", kErrors},
    {"zremrangebylex", SameScoresOrUnordered, kSometimes, "as ZLEXCOUNT"},
    {"zrevrange", SameScores, kSometimes, "as ZADD"},
    {"zrevrangebylex", SameScoresOrUnordered, kSometimes, "as ZLEXCOUNT"},
    {"zrevrangebyscore", SameScores, kSometimes, "as ZADD"},
    {"zrevrank", SameError, kSometimes, "as ZRANK", kErrors},
    {"zscan", ScoresOfWitness, kSometimes, "as SCAN, and as ZADD"},
    {"zscore", SameScores, kSometimes, "as ZADD"},
    {"zunion", SameScores, kSometimes, "as ZADD"},
};

bool IsRow(const CommandTable& table, std::string_view full_name) {
  const size_t bar = full_name.find('|');
  const TableRow* row = table.Find(full_name.substr(0, bar));
  if (row == nullptr || bar == std::string_view::npos) return row != nullptr;
  return CommandTable::FindSubcommand(*row, full_name.substr(bar + 1)) != nullptr;
}

}  // namespace

Normalisers::Normalisers() : uses_(std::size(kNormalisers)) {}

bool Normalisers::Same(const Case& sent, const std::string& redis, const std::string& mayfly,
                       const Surroundings& surroundings) {
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
  const auto one_of = [](const std::string& bytes) {
    std::vector<Reply> replies = TakeReplies(bytes);
    return replies.size() == 1 ? std::move(replies[0]) : NoReply();
  };
  return found->same({sent.words, redis_replies[0], mayfly_replies[0], surroundings,
                      one_of(surroundings.redis_before), one_of(surroundings.mayfly_before)});
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
