#include "differential/value_pools.h"

#include <iterator>

#include "base/text/numbers.h"
#include "base/time/clock.h"
#include "differential/pool.h"
#include "differential/real_time.h"

namespace mayfly::testing {
namespace {

using Text = std::string_view;

constexpr int64_t kFarthestTtlS = 1'000'000'000;
constexpr int64_t kNearestTtlS = 1'000'000;

// Options that both servers have, with values that change no reply but CONFIG GET's.
Words OptionAndValue(ValuePools& pools) {
  static constexpr Text kPairs[][2] = {
      {"hz", "10"},
      {"hz", "100"},
      {"HZ", "50"},
      {"tcp-keepalive", "300"},
      {"tcp-keepalive", "60"},
      {"lfu-log-factor", "10"},
      {"lfu-decay-time", "1"},
      {"slowlog-max-len", "128"},
      {"latency-tracking", "yes"},
      {"latency-tracking", "YES"},
      {"maxmemory-policy", "allkeys-lru"},
      {"maxmemory-policy", "noeviction"},
  };
  const auto& pair = kPairs[pools.dice().Below(std::size(kPairs))];
  return {std::string(pair[0]), std::string(pair[1])};
}

constexpr Pool kCommonPools[] = {
    {"config|set", "parameter_value", OptionAndValue},
    {"config|get", "parameter",
     [](ValuePools& p) {
       return OneOf(
           p, {"hz", "HZ", "maxmemory-samples", "databases", "tcp-keepalive", "maxmemory-policy", "nosuch",
               "lfu-*", "latency-tracking", "save", "appendonly", "", "[h]z", "slowlog-max-len"});
     }},
    {"incrbyfloat", "increment", [](ValuePools& p) { return Words{p.Float()}; }},
    {"incrbyfloat", "float", [](ValuePools& p) { return Words{p.Float()}; }},
    {"setbit", "value", [](ValuePools& p) { return OneOf(p, {"0", "1"}); }},
    {"bitfield", "value", [](ValuePools& p) { return Words{p.Amount()}; }},
    {"setrange", "offset", [](ValuePools& p) { return Words{p.Position()}; }},
    {"client|kill", "client-id", [](ValuePools& p) { return OneOf(p, {"999999", "1000000", "123456789"}); }},
    {"client|kill", "ip:port",
     [](ValuePools& p) { return OneOf(p, {"127.0.0.2:1", "[::1]:1", "/nosuch:0"}); }},
    {"client|kill", "username", [](ValuePools& p) { return OneOf(p, {"nobody", "somebody"}); }},
    {"client|no-evict", "enabled", [](ValuePools& p) { return OneOf(p, {"on", "off"}); }},
    {"client|pause", "timeout", [](ValuePools& p) { return OneOf(p, {"0", "1", "2"}); }},
    {"client|unblock", "client-id", [](ValuePools& p) { return OneOf(p, {"999999", "1000000", "0", "-1"}); }},
    {"client|list", "client-id", [](ValuePools& p) { return OneOf(p, {"999999", "1000000", "123456789"}); }},
    {"command|getkeys", "command", [](ValuePools& p) { return p.WholeRequest(); }},
    {"command|getkeysandflags", "command", [](ValuePools& p) { return p.WholeRequest(); }},
    {"select", "index", [](ValuePools& p) { return Words{p.Database()}; }},
    {"lolwut", "version", [](ValuePools& p) { return OneOf(p, {"1", "5", "6", "7"}); }},

    {"lrem", "count", [](ValuePools& p) { return Words{p.Position()}; }},
    {"sort", "pattern", [](ValuePools& p) { return Words{p.ElementPattern()}; }},
    {"sort_ro", "pattern", [](ValuePools& p) { return Words{p.ElementPattern()}; }},
    {"sort", "offset", [](ValuePools& p) { return Words{p.Position()}; }},
    {"sort_ro", "offset", [](ValuePools& p) { return Words{p.Position()}; }},
    {"lset", "index", [](ValuePools& p) { return OneOf(p, {"0", "0", "-1", "1", "5"}); }},

    {"", "key", [](ValuePools& p) { return Words{p.Key()}; }},
    {"", "key1", [](ValuePools& p) { return Words{p.Key()}; }},
    {"", "key2", [](ValuePools& p) { return Words{p.Key()}; }},
    {"", "destkey", [](ValuePools& p) { return Words{p.Key()}; }},
    {"", "value", [](ValuePools& p) { return Words{p.Value()}; }},
    {"", "increment", [](ValuePools& p) { return Words{p.Amount()}; }},
    {"", "decrement", [](ValuePools& p) { return Words{p.Amount()}; }},
    {"", "seconds", [](ValuePools& p) { return Words{p.Duration(ValuePools::Unit::kSeconds)}; }},
    {"", "milliseconds", [](ValuePools& p) { return Words{p.Duration(ValuePools::Unit::kMilliseconds)}; }},
    {"", "unix-time-seconds", [](ValuePools& p) { return Words{p.Deadline(ValuePools::Unit::kSeconds)}; }},
    {"", "unix-time-milliseconds",
     [](ValuePools& p) { return Words{p.Deadline(ValuePools::Unit::kMilliseconds)}; }},
    {"", "db", [](ValuePools& p) { return Words{p.Database()}; }},
    {"", "destination-db", [](ValuePools& p) { return Words{p.Database()}; }},
    {"", "index1", [](ValuePools& p) { return Words{p.Database()}; }},
    {"", "index2", [](ValuePools& p) { return Words{p.Database()}; }},
    {"", "offset", [](ValuePools& p) { return Words{p.BitOffset()}; }},
    {"", "bit", [](ValuePools& p) { return OneOf(p, {"0", "1"}); }},
    {"", "start", [](ValuePools& p) { return Words{p.Position()}; }},
    {"", "end", [](ValuePools& p) { return Words{p.Position()}; }},
    {"", "stop", [](ValuePools& p) { return Words{p.Position()}; }},
    {"", "element", [](ValuePools& p) { return Words{p.Element()}; }},
    {"", "pivot", [](ValuePools& p) { return Words{p.Element()}; }},
    {"", "index", [](ValuePools& p) { return Words{p.Position()}; }},
    {"", "numkeys", [](ValuePools& p) { return OneOf(p, {"1", "1", "1", "2", "3"}); }},
    {"", "rank", [](ValuePools& p) { return OneOf(p, {"1", "2", "-1", "-2", "3", "100", "-100", "0"}); }},
    {"", "num-matches", [](ValuePools& p) { return OneOf(p, {"0", "1", "2", "3", "100"}); }},
    {"", "operation", [](ValuePools& p) { return OneOf(p, {"AND", "OR", "XOR", "NOT", "and", "Xor"}); }},
    {"", "integer", [](ValuePools& p) { return Words{p.Amount()}; }},
    {"", "encoding",
     [](ValuePools& p) {
       return OneOf(
           p, {"u1", "u2", "u8", "i8", "u16", "i16", "u31", "i32", "u63", "i64", "i5", "i1", "U8", "I8"});
     }},
    {"", "min-match-len", [](ValuePools& p) { return OneOf(p, {"0", "1", "2", "3", "4", "10", "-1"}); }},
    {"", "len", [](ValuePools& p) { return OneOf(p, {"0", "1", "2", "3", "4", "10", "-1"}); }},
    {"", "pattern", [](ValuePools& p) { return Words{p.Pattern()}; }},
    {"", "cursor",
     [](ValuePools& p) {
       return p.dice().OneIn(3)
                  ? OneOf(p, {"1", "7", "007", "0", "+3", "-1", Text("0\0", 2), Text("5\0x", 3)})
                  : Words{"0"};
     }},
    {"", "count",
     [](ValuePools& p) {
       return p.dice().OneIn(4) ? OneOf(p, {"1", "2", "10", "9223372036854775807"}) : Words{"1000000"};
     }},
    {"", "samples", [](ValuePools& p) { return OneOf(p, {"0", "1", "5", "1000"}); }},
    {"", "type", [](ValuePools& p) { return OneOf(p, {"string", "STRING", "hash", "nonsense"}); }},
    {"", "section",
     [](ValuePools& p) {
       return OneOf(p, {"server", "clients", "keyspace", "all", "everything", "nosuch"});
     }},
    {"", "message", [](ValuePools& p) { return Words{p.Value()}; }},
    {"", "connection-name", [](ValuePools& p) { return OneOf(p, {"worker", "w:1", "", "!~"}); }},
    {"", "clientname", [](ValuePools& p) { return OneOf(p, {"worker", "w:1", "", "!~"}); }},
    {"", "username", [](ValuePools& p) { return OneOf(p, {"default", "default", "default", "nobody"}); }},
    {"", "password", [](ValuePools& p) { return OneOf(p, {"secret", "", "x y"}); }},
    {"", "protover", [](ValuePools& p) { return OneOf(p, {"2", "3"}); }},
    {"", "category", [](ValuePools& p) { return OneOf(p, {"string", "STRING", "keyspace", "nosuch"}); }},
    {"", "module-name", [](ValuePools& p) { return OneOf(p, {"any", ""}); }},
    {"", "command-name",
     [](ValuePools& p) {
       return OneOf(
           p, {"get", "GET", "set", "mset", "client|id", "object|encoding", "config", "nosuch", "", "get|x"});
     }},
    {"", "subcommand", [](ValuePools& p) { return OneOf(p, {"INFO", "SLOTS", "nosuch", "MYID"}); }},
};

constexpr Text kEdges[] = {"9223372036854775807",
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
                           "9999"};
constexpr Text kNoNumbers[] = {
    "+1", "01", "-0", "00", " 1", "1 ", "", "-", "1.0", "1e3", "0x10", "x", "99999999999999999999"};

// The keys on which commands of a group mostly meet.
struct OwnKeys {
  Text group;
  Words keys;
};
const OwnKeys kOwnKeys[] = {
    {"geo", {"geo:a", "geo:b"}},          {"hash", {"hash:a", "hash:b", "hash:c"}},
    {"set", {"set:a", "set:b", "set:c"}}, {"hyperloglog", {"hll:a", "hll:b", "hll:c"}},
    {"stream", {"stream:a", "stream:b"}}, {"sorted-set", {"zset:a", "zset:b", "zset:c", "zset:d"}},
};
const Words kPlainKeys{
    "a", "b", "c", "d", "key:1", "key:2", "key:10", "", std::string("k\0\r\n", 4), std::string(200, 'k')};

bool IsNumber(const SyntaxArgument& argument) {
  return argument.type == ArgumentType::kInteger || argument.type == ArgumentType::kDouble ||
         argument.type == ArgumentType::kUnixTime;
}

}  // namespace

const Words& ValuePools::EveryKey() {
  static const Words kKeys = [] {
    Words all = kPlainKeys;
    for (const OwnKeys& own : kOwnKeys) all.insert(all.end(), own.keys.begin(), own.keys.end());
    return all;
  }();
  return kKeys;
}

std::string ValuePools::Key() {
  if (dice_.OneIn(8)) return dice_.Any(EveryKey());
  for (const OwnKeys& own : kOwnKeys) {
    if (own.group == group_) return dice_.Any(own.keys);
  }
  return dice_.Any(group_ == "generic" ? EveryKey() : kPlainKeys);
}

Words ValuePools::Tame(Text row, const SyntaxArgument& argument) {
  const Pool* found = nullptr;
  for (const std::span<const Pool> pools :
       {SetPools(), HyperLogLogPools(), StreamPools(), HashPools(), SortedSetPools(), GeoPools(), DumpPools(),
        std::span<const Pool>(kCommonPools)}) {
    for (const Pool& pool : pools) {
      const bool fits = pool.argument == argument.name && (pool.row.empty() || pool.row == row);
      // Those of one command go before those of all.
      if (fits && (found == nullptr || (found->row.empty() && !pool.row.empty()))) found = &pool;
    }
  }
  if (found != nullptr) return found->draw(*this);
  if (argument.type == ArgumentType::kBlock) return {};
  return {TameOfType(argument.type)};
}

std::string ValuePools::TameOfType(ArgumentType type) {
  switch (type) {
    case ArgumentType::kKey:
      return Key();
    case ArgumentType::kInteger:
      return Position();
    case ArgumentType::kDouble:
      return Float();
    case ArgumentType::kPattern:
      return Pattern();
    case ArgumentType::kUnixTime:
      return Deadline(Unit::kSeconds);
    default:
      return Value();
  }
}

std::string ValuePools::Hostile(Text row, const SyntaxArgument& argument) {
  // A long pause would hold up the run.
  if (row == "client|pause") return OneOf(*this, {"-1", "x", "", "1.5", "9223372036854775808"})[0];
  // Options that mean nothing here take any number.
  if (row == "config|set")
    return OneOf(*this,
                 {"x", "", "1.5", "nan", "9223372036854775808", "a b", "a\r\nb\n", Text("a\0b", 3)})[0];
  if (IsNumber(argument) && dice_.OneIn(2)) return dice_.Pick(kEdges);
  if (IsNumber(argument)) return dice_.Pick(kNoNumbers);
  static const Words kOdd{"",
                          "x",
                          "-1",
                          "0",
                          "a\r\nb\n",
                          "\n\nodd\n",
                          std::string("a\0b", 3),
                          "a b",
                          "\xff\xfe",
                          std::string(70, 'o'),
                          "u64",
                          "i65",
                          "u0",
                          "#-1",
                          "nan",
                          "-inf",
                          "2",
                          "16",
                          "{}"};
  return dice_.OneIn(3) ? dice_.Pick(kNoNumbers) : dice_.Any(kOdd);
}

// Numbers, words of few letters that have much in common, and blocks of the sizes at which values are kept
// differently.
std::string ValuePools::Value() {
  if (dice_.OneIn(3)) return Amount();
  if (dice_.OneIn(10)) return Float();
  if (dice_.OneIn(500)) return std::string(600'000, 'B');
  if (dice_.OneIn(4)) {
    std::string word(dice_.Below(20), 'a');
    for (char& c : word) c = static_cast<char>('a' + dice_.Below(3));
    return word;
  }
  static constexpr size_t kSizes[] = {0,   1,   20,   43,     44,     45,     127,
                                      128, 129, 1023, 16'383, 16'384, 16'385, 40'000};
  const size_t size = kSizes[dice_.OneIn(8) ? dice_.Below(std::size(kSizes)) : dice_.Below(7)];
  std::string value(size, static_cast<char>('a' + dice_.Below(26)));
  if (size > 0 && dice_.OneIn(4)) value[dice_.Below(size)] = static_cast<char>(dice_.Below(256));
  return value;
}

// Mostly one of a few, so that lists hold some of them several times.
std::string ValuePools::Element() {
  static constexpr Text kFew[] = {"a", "b", "c", "10", "-1", "", "9223372036854775807", "01"};
  return dice_.OneIn(4) ? Value() : std::string(dice_.Pick(kFew));
}

// Of SORT. Most keys are short, so some of these find one.
std::string ValuePools::ElementPattern() {
  return OneOf(*this, {"*", "#", "nosort", "key:*", "*->field", "a*", "", "**", "*->"})[0];
}

std::string ValuePools::Amount() {
  if (dice_.OneIn(10)) return dice_.Pick(kNoNumbers);
  if (dice_.OneIn(5)) return dice_.Pick(kEdges);
  if (dice_.OneIn(3)) return std::to_string(static_cast<int64_t>(dice_.Bits()) >> dice_.Below(64));
  return std::to_string(dice_.Between(-10, 100));
}

std::string ValuePools::Float() {
  static constexpr Text kEven[] = {"0",    "1.5",  "-1.5", "3.0e3", "0.1",   "-0.1", "1e-5", "10",   "0.5",
                                   "1e10", "5e-1", ".5",   "1.",    "0.001", "1e17", "-0",   "3.14", "2.50"};
  static constexpr Text kOdd[] = {
      "1e308",  "-1e308", "1e400",  "nan", "inf",   "-inf",   "infinity",
      "1e-400", "0x10",   "1e",     "1,5", " 1.5",  "1.5 ",   "",
      "+1.5",   "00.5",   "1e4932", "-",   "1.5.1", "1e5000", "12345678901234567890.123456789"};
  return dice_.OneIn(6) ? dice_.Pick(kOdd) : dice_.Pick(kEven);
}

std::string ValuePools::Database() { return OneOf(*this, {"0", "0", "0", "0", "0", "1", "1", "2", "15"})[0]; }

std::string ValuePools::BitOffset() {
  if (dice_.OneIn(4)) return "#" + std::to_string(dice_.Below(20));
  if (dice_.OneIn(60)) return OneOf(*this, {"8388607", "8388608", "4294967295", "1000000", "131071"})[0];
  return std::to_string(dice_.Below(dice_.OneIn(4) ? 1000 : 70));
}

// Where a range begins or ends, or a value is written to.
std::string ValuePools::Position() {
  if (dice_.OneIn(15)) return dice_.Pick(kEdges);
  if (dice_.OneIn(60)) return OneOf(*this, {"1048575", "1048576", "100000", "40000"})[0];
  return std::to_string(dice_.Between(-8, 50));
}

std::string ValuePools::Duration(Unit unit) {
  static constexpr Text kPast[] = {
      "0", "-1", "-1000", "-9223372036854775", "-9223372036854775808", "-9223372036854776"};
  static constexpr Text kTooFar[] = {"9223372036854775807", "9223372036854775000", "9223372036854776",
                                     "9223372036854775808"};
  if (brief_ && unit == Unit::kMilliseconds) return std::to_string(dice_.Between(1, kBriefMs));
  if (dice_.OneIn(6)) return dice_.OneIn(2) ? dice_.Pick(kPast) : dice_.Pick(kTooFar);
  const int64_t seconds = dice_.Between(kNearestTtlS, kFarthestTtlS);
  if (unit == Unit::kSeconds) return std::to_string(seconds);
  return std::to_string(seconds * kMsPerSecond + dice_.Between(0, kMsPerSecond - 1));
}

std::string ValuePools::Deadline(Unit unit) {
  std::string drawn = DrawDeadline(unit);
  const std::optional<int64_t> number = ParseInteger(drawn);
  int64_t ms = 0;
  const int64_t unit_ms = unit == Unit::kSeconds ? kMsPerSecond : 1;
  if (number && !__builtin_mul_overflow(*number, unit_ms, &ms)) deadlines_ms_.insert(ms);
  return drawn;
}

std::string ValuePools::DrawDeadline(Unit unit) {
  static constexpr Text kAbsolute[] = {"1",          "1000000000",          "9223372036854775",
                                       "9999999999", "9223372036854774000", "281474976710656"};
  constexpr size_t kOften = 2;
  constexpr int64_t kRounded[] = {0, 499, 500};  // how seconds are rounded hangs on these
  if (brief_ && unit == Unit::kMilliseconds) return std::to_string(RealMs() + dice_.Between(0, kBriefMs));
  if (dice_.OneIn(5)) return dice_.Pick(kAbsolute);
  if (dice_.OneIn(8)) return Duration(unit);
  const bool again = !dice_.OneIn(3);
  const int64_t seconds = now_s_ + (again ? kNearestTtlS + static_cast<int64_t>(dice_.Below(kOften))
                                          : dice_.Between(kNearestTtlS, kFarthestTtlS));
  if (unit == Unit::kSeconds) return std::to_string(seconds);
  return std::to_string(seconds * kMsPerSecond + (again ? kRounded[dice_.Below(std::size(kRounded))]
                                                        : dice_.Between(0, kMsPerSecond - 1)));
}

std::string ValuePools::Pattern() {
  return OneOf(*this, {"*",   "a",   "key:*", "key:?", "k*1*",    "[a-c]", "[^a]", "[c-a]", "?",
                       "\\a", "",    "**1",   "[",     "[a",      "a\\",   "*0",   "[]",    "[^]",
                       "**",  "***", "K*",    "[a-",   "key:[12", "*\n*",  "?*",   "?*?*?", "*?"})[0];
}

Words ValuePools::WholeRequest() {
  static const std::vector<Words> kRequests{{"GET", "a"},
                                            {"set", "a", "1", "EX", "10000000"},
                                            {"MSET", "a", "1", "b", "2"},
                                            {"MGET", "a", "b", "c"},
                                            {"PING"},
                                            {"OBJECT", "ENCODING", "a"},
                                            {"COPY", "a", "b"},
                                            {"CONFIG", "GET", "x"},
                                            {"nosuch", "a"},
                                            {"RENAME", "a", "b"},
                                            {"BITOP", "AND", "a", "b", "c"},
                                            {"GET"},
                                            {"LCS", "a", "b"},
                                            {"EXPIRE", "a", "10000000"},
                                            {"DEL", "a", ""},
                                            {"SELECT", "1"},
                                            {"MEMORY", "USAGE", "a"}};
  return dice_.Any(kRequests);
}

}  // namespace mayfly::testing
