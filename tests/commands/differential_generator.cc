#include "commands/differential_generator.h"

#include <functional>

namespace mayfly::testing {
namespace {

constexpr int64_t kFarthestTtlS = 1'000'000'000;
constexpr int64_t kNearestTtlS = 1'000;

}  // namespace

struct RequestGenerator::Recipe {
  size_t weight;
  Words (*make)(RequestGenerator&);
};

const RequestGenerator::Recipe RequestGenerator::kRecipes[] = {
    {12, [](RequestGenerator& g) { return g.SetLike(); }},
    {3,
     [](RequestGenerator& g) {
       return Words{"SET", g.Key(), g.Value()};
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"SETEX", g.Key(), g.TimeFor("EX"), g.Value()};
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"PSETEX", g.Key(), g.TimeFor("PX"), g.Value()};
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"SETNX", g.Key(), g.Value()};
     }},
    {3,
     [](RequestGenerator& g) {
       Words request{"MSET"};
       for (size_t i = g.Below(4); i != SIZE_MAX; --i) {
         request.push_back(g.Key());
         request.push_back(g.Value());
       }
       return request;
     }},
    {6,
     [](RequestGenerator& g) {
       return Words{"GET", g.Key()};
     }},
    {3,
     [](RequestGenerator& g) {
       Words request = g.Keys(6);
       request.insert(request.begin(), "MGET");
       return request;
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"GETDEL", g.Key()};
     }},
    {8, [](RequestGenerator& g) { return g.GetEx(); }},
    {3,
     [](RequestGenerator& g) {
       return Words{g.Pick({"INCR", "DECR"}), g.Key()};
     }},
    {5,
     [](RequestGenerator& g) {
       return Words{g.Pick({"INCRBY", "DECRBY"}), g.Key(), g.Amount()};
     }},
    {4,
     [](RequestGenerator& g) {
       return Words{"APPEND", g.Key(), g.Value()};
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"STRLEN", g.Key()};
     }},
    {4,
     [](RequestGenerator& g) {
       Words request = g.Keys(4);
       request.insert(request.begin(), g.Pick({"DEL", "UNLINK", "EXISTS", "TOUCH"}));
       return request;
     }},
    {2,
     [](RequestGenerator& g) {
       return Words{"TYPE", g.Key()};
     }},
    {12, [](RequestGenerator& g) { return g.Expire(); }},
    {8,
     [](RequestGenerator& g) {
       return Words{g.Pick({"TTL", "PTTL", "EXPIRETIME", "PEXPIRETIME"}), g.Key()};
     }},
    {3,
     [](RequestGenerator& g) {
       return Words{"PERSIST", g.Key()};
     }},
    {4, [](RequestGenerator& g) { return g.Scan(); }},
    {2,
     [](RequestGenerator& g) {
       return Words{"KEYS", g.Pattern()};
     }},
    {1, [](RequestGenerator&) { return Words{"RANDOMKEY"}; }},
    {1, [](RequestGenerator&) { return Words{"DBSIZE"}; }},
    {4,
     [](RequestGenerator& g) {
       return Words{"OBJECT", g.Pick({"ENCODING", "IDLETIME", "encoding"}), g.Key()};
     }},
    {1,
     [](RequestGenerator& g) {
       return Words{"OBJECT", g.Pick({"nonsense", "", "ENCODINGS"}), g.Key()};
     }},
    {1,
     [](RequestGenerator& g) {
       Words request{g.Pick({"FLUSHDB", "FLUSHALL"})};
       if (g.OneIn(2)) request.push_back(g.Pick({"ASYNC", "SYNC", "sync", "NOW", ""}));
       return request;
     }},
    {1,
     [](RequestGenerator& g) {
       return Words{g.Pick({"GETS", "FOO\r\nBAR", "", "set "}), g.Key(), g.Value()};
     }},
};

RequestGenerator::Words RequestGenerator::Next() {
  size_t sum = 0;
  for (const Recipe& recipe : kRecipes) sum += recipe.weight;
  size_t drawn = Below(sum);
  const Recipe* recipe = kRecipes;
  for (; drawn >= recipe->weight; ++recipe) drawn -= recipe->weight;
  Words request = recipe->make(*this);
  if (OneIn(25)) Spoil(request);
  MixCase(request[0]);
  return request;
}

const RequestGenerator::Words& RequestGenerator::EveryKey() {
  static const Words kKeys{
      "a", "b", "c", "d", "key:1", "key:2", "key:10", "", std::string("k\0\r\n", 4), std::string(200, 'k')};
  return kKeys;
}

RequestGenerator::Words RequestGenerator::Keys(size_t most) {
  Words keys;
  for (size_t count = 1 + Below(most); count > 0; --count) keys.push_back(Key());
  return keys;
}

std::string RequestGenerator::Value() {
  if (OneIn(3)) return Amount();
  if (OneIn(200)) return std::string(600'000, 'B');
  static constexpr size_t kSizes[] = {0,   1,   20,   43,     44,     45,     127,
                                      128, 129, 1023, 16'383, 16'384, 16'385, 40'000};
  const size_t size = kSizes[OneIn(4) ? Below(std::size(kSizes)) : Below(7)];
  std::string value(size, static_cast<char>('a' + Below(26)));
  if (size > 0 && OneIn(4)) value[Below(size)] = static_cast<char>(Below(256));
  return value;
}

std::string RequestGenerator::Amount() {
  static const Words kEdges{"0",
                            "1",
                            "-1",
                            "9223372036854775807",
                            "-9223372036854775808",
                            "9223372036854775808",
                            "-9223372036854775809",
                            "9223372036854775806",
                            "4611686018427387904",
                            "2147483648",
                            "-2147483649",
                            "65536",
                            "255",
                            "10000",
                            "9999",
                            "+1",
                            "01",
                            "-0",
                            "00",
                            " 1",
                            "1 ",
                            "",
                            "-",
                            "1.0",
                            "1e3",
                            "0x10",
                            "99999999999999999999",
                            "x"};
  if (OneIn(3)) return std::to_string(static_cast<int64_t>(random_()) >> Below(64));
  return Pick(kEdges);
}

// A number for EX, PX, EXAT or PXAT: mostly one that works, else one at an edge where both servers must agree
// whatever the millisecond.
std::string RequestGenerator::TimeFor(const std::string& word) {
  const bool milliseconds = word[0] == 'P';
  const bool absolute = word.size() == 4;
  if (!OneIn(3)) {
    const int64_t ahead = std::uniform_int_distribution<int64_t>(kNearestTtlS, kFarthestTtlS)(random_);
    const int64_t seconds = absolute ? now_s_ + ahead : ahead;
    return std::to_string(milliseconds ? seconds * 1000 + static_cast<int64_t>(Below(1000)) : seconds);
  }
  static const Words kPast{
      "0", "-1", "-1000", "-9223372036854775", "-9223372036854775808", "-9223372036854776"};
  static const Words kTooFar{"9223372036854775807", "9223372036854775000", "9223372036854776",
                             "9223372036854775808"};
  static const Words kAbsolute{"1",          "1000000000",          "9223372036854775",
                               "9999999999", "9223372036854774000", "281474976710656"};
  static const Words kNonsense{"", "x", "1.5", "+5", " 5", "5 ", "05", "1e3"};
  if (OneIn(4)) return Pick(kNonsense);
  if (absolute && OneIn(2)) return Pick(kAbsolute);
  return Pick(OneIn(2) ? kPast : kTooFar);
}

// "**" is left out: in Redis it matches every key but the empty one, here that one, too.
std::string RequestGenerator::Pattern() {
  static const Words kPatterns{"*",  "a",   "key:*",   "key:?", "k*1*", "[a-c]", "[^a]", "[c-a]",
                               "?",  "\\a", "",        "**1",   "[",    "[a",    "a\\",  "*0",
                               "[]", "[^]", "key:[12", "*\n*",  "K*",   "[a-",   "?*?*?"};
  return Pick(kPatterns);
}

void RequestGenerator::AddExpireOption(Words& request) {
  const std::string word = Pick({"EX", "PX", "EXAT", "PXAT"});
  request.push_back(word);
  request.push_back(TimeFor(word));
}

RequestGenerator::Words RequestGenerator::SetLike() {
  Words request{"SET", Key(), Value()};
  for (size_t options = Below(4); options > 0; --options) {
    const size_t kind = Below(8);
    if (kind < 4) {
      AddExpireOption(request);
    } else {
      request.push_back(Pick({"NX", "XX", "GET", "KEEPTTL", "nx", "xx", "get", "keepttl"}));
    }
  }
  return request;
}

RequestGenerator::Words RequestGenerator::GetEx() {
  Words request{"GETEX", Key()};
  if (!OneIn(6)) {
    OneIn(4) ? request.push_back(Pick({"PERSIST", "persist", "KEEPTTL", "NX"})) : AddExpireOption(request);
  }
  if (OneIn(8)) AddExpireOption(request);
  return request;
}

RequestGenerator::Words RequestGenerator::Expire() {
  static constexpr const char* kCommands[][2] = {
      {"EXPIRE", "EX"}, {"PEXPIRE", "PX"}, {"EXPIREAT", "EXAT"}, {"PEXPIREAT", "PXAT"}};
  const auto& command = kCommands[Below(4)];
  Words request{command[0], Key(), TimeFor(command[1])};
  for (size_t conditions = Below(3); conditions > 0; --conditions) {
    request.push_back(Pick({"NX", "XX", "GT", "LT", "nx", "xx", "gt", "lt"}));
  }
  if (OneIn(20)) request.push_back(Pick({"", "ZZ", "NXX", "a\r\nb\n", "\n\nodd\n", std::string("a\0b", 3)}));
  return request;
}

RequestGenerator::Words RequestGenerator::Scan() {
  static const Words kOddCursors{"1",  "7", "x", "", "-1", "+3", " 1", "1 ", "007", "18446744073709551616",
                                 "1.5"};
  Words request{"SCAN", OneIn(3) ? Pick(kOddCursors) : "0"};
  if (!OneIn(3)) request.insert(request.end(), {"COUNT", "1000000"});
  if (OneIn(4))
    request.insert(request.end(), {"COUNT", Pick({"1", "0", "-1", "x", "", "9223372036854775808"})});
  if (OneIn(2)) request.insert(request.end(), {"match", Pattern()});
  if (OneIn(4)) request.insert(request.end(), {"TYPE", Pick({"string", "STRING", "hash", "nonsense"})});
  if (OneIn(20)) request.push_back(Pick({"COUNT", "MATCH", "TYPE", "NOVALUES"}));
  return request;
}

// Too few arguments, too many, or another order.
void RequestGenerator::Spoil(Words& request) {
  if (OneIn(2)) {
    request.push_back(OneIn(2) ? Key() : Amount());
  } else if (request.size() > 1) {
    request.pop_back();
  }
  if (request.size() > 3 && OneIn(4)) std::swap(request[1 + Below(request.size() - 1)], request.back());
}

void RequestGenerator::MixCase(std::string& word) {
  if (!OneIn(4)) return;
  for (char& c : word) {
    if (c >= 'A' && c <= 'Z' && OneIn(2)) c = static_cast<char>(c + 32);
  }
}

}  // namespace mayfly::testing
