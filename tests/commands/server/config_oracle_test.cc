// CONFIG SET and GET of every option that a real redis-server knows as well, with values of every kind: the
// replies must be the same, byte for byte. Options that only a start can set are compared by starts.
#include <algorithm>
#include <set>
#include <stdexcept>

#include "config/sources/files.h"
#include "config/words.h"
#include "support/command_test.h"
#include "support/oracle.h"

namespace mayfly::testing {
namespace {

using config::Option;

// Where the answers differ, and why. An empty value stands for any.
struct Difference {
  std::string_view option;
  std::string_view value;
  std::string_view reason;
};
constexpr Difference kDifferences[] = {
    {"maxmemory", "50%", "may be a percentage here"},
    {"maxmemory", "101%", "may be a percentage here"},
    {"maxmemory", "auto", "may be auto here"},
    {"maxmemory-policy", "", "allkeys-sieve and the S3-FIFO policies are among the names"},
    {"maxmemory-samples", "", "at most 64, as in Redis 8"},
    {"loglevel", "", "nothing is among the names, as in Redis 7.2"},
    {"latency-tracking-info-percentiles", "+1", "no number here"},
    {"latency-tracking-info-percentiles", "+900 01", "no number here"},
    {"hz", "", "Redis answers the nearest frequency that it can have"},
    {"repl-backlog-size", "", "Redis answers the size that it has made of it"},
    {"save", "1 ", "Redis takes an empty word for a 0"},
    {"cluster-config-file", "", "may change here: it is written by people"},
    {"maxmemory-clients", "9223372036854775808", "Redis says that it is more than 100 percent"},
    {"cluster-announce-ip", "", "no spaces and the like, which would forge fields of CLUSTER NODES"},
    {"cluster-link-sendbuf-limit", "9223372036854775808", "too large here"},
    {"activedefrag", "yes", "depends on how the redis-server was built"},
    {"tls-replication", "yes", "depends on the redis-server's certificates"},
    {"tls-cluster", "yes", "depends on the redis-server's certificates"},
    {"appendonly", "yes", "refused"},
};

// Where to listen: the redis-server would.
bool IsListening(std::string_view name) { return name == "port" || name == "tls-port" || name == "bind"; }

const Difference* FindDifference(const Option& option, std::string_view value) {
  for (const Difference& difference : kDifferences) {
    if (difference.option == option.name && (difference.value.empty() || difference.value == value))
      return &difference;
  }
  return nullptr;
}

std::vector<const Option*> AllOptions() {
  std::vector<const Option*> options;
  for (const std::span<const Option> half : {config::MayflyOptions(), config::RedisOptions()}) {
    for (const Option& option : half) options.push_back(&option);
  }
  return options;
}

bool NeedsStart(const Option& option) { return option.Has(config::kFixed) || option.Has(config::kProtected); }

bool IsBytes(const Option& option) {
  if (std::holds_alternative<uint64_t config::Settings::*>(option.target)) return true;
  if (std::holds_alternative<config::MaxMemory config::Settings::*>(option.target)) return true;
  if (std::holds_alternative<config::ClientMemory config::Settings::*>(option.target)) return true;
  const auto* kind = std::get_if<config::Foreign>(&option.target);
  return kind != nullptr && *kind == config::Foreign::kBytes;
}

// Values of every kind, and those at the limits of this one.
std::vector<std::string> ValuesFor(const Option& option) {
  const std::string any = R"(
      garbage "a b" "a  b" " " yes NO -1 0 1 65 1000 01 +1 1.5 "1 " 9223372036854775808 50% 101% -5% auto
      2mb 2MB 1tb KEA Eglmn "K E" "save now" "now FORCE default" "nosave save" "1 2 3" "1 2" "-2001 0 0"
      "900 1" 900 "900 1 300 10" "+900 01" "1 0" "1 -1" "50 99.5" 101 {port} {nosuch} a-b.c a_b volatile-ttl "normal 0 0" "nosuch 0 0 0" always
      "replica 0 0 60" absolute relative optional clients swapdb panic hostname allchannels debug)";
  std::vector<std::string> values = config::SplitWords(any).value();
  if (!IsBytes(option)) values.emplace_back();  // an empty number of bytes is 0 for Redis alone
  if (option.min > std::numeric_limits<int64_t>::min()) values.push_back(std::to_string(option.min - 1));
  values.push_back(std::to_string(option.min));
  // Redis reserves what so many clients would need.
  if (option.name != "maxclients" && option.max > 0) values.push_back(std::to_string(option.max));
  if (option.max > 0 && option.max < std::numeric_limits<int64_t>::max())
    values.push_back(std::to_string(option.max + 1));
  return values;
}

class ConfigBesideRedis : public CommandTest {
 public:
  bool RedisKnows(std::string_view name) {
    return RedisAnswers({"CONFIG", "GET", std::string(name)}) != "*0\r\n";
  }

  // Both servers' replies to a CONFIG SET and, if it is accepted, to a CONFIG GET after it.
  bool SameAfter(const std::string& name, const std::string& value) {
    const std::vector<std::string> set = {"CONFIG", "SET", name, value};
    const std::vector<std::string> get = {"CONFIG", "GET", name};
    ours = RunRaw(EncodeRequest(set));
    theirs = RedisAnswers(set);
    if (ours == theirs && ours == "+OK\r\n") {
      ours = RunRaw(EncodeRequest(get));
      theirs = RedisAnswers(get);
    }
    return ours == theirs;
  }

  std::string RedisAnswers(const std::vector<std::string>& words) {
    return oracle_.Ask(EncodeRequest(words), 1)[0];
  }

  std::string ours;
  std::string theirs;

 private:
  Oracle oracle_;
};

// What a redis-server complains of when it is started with this flag.
std::string RedisComplaint(const std::string& flag, const std::string& value) {
  try {
    const Oracle oracle({flag, value});
  } catch (const std::runtime_error& error) {
    std::string text = error.what();
    while (text.ends_with('\n')) text.pop_back();
    return text.substr(text.rfind('\n') + 1);
  }
  return "(starts)";
}

std::string OurComplaint(const std::string& flag, const std::string& value) {
  config::Files files;
  files.directory = [](const std::string&, std::string& absolute) -> config::Problem {
    absolute = "/";
    return std::nullopt;
  };
  config::Options options(0, files);
  const std::vector<std::string> words = {flag, value};
  const config::Problem error = options.Load(words, {}).error;
  const std::string place = flag + ": ";
  if (!error) return "(starts)";
  return error->starts_with(place) ? error->substr(place.size()) : *error;
}

}  // namespace

TEST_CASE_METHOD(ConfigBesideRedis, "CONFIG SET takes and refuses what redis-server does, in its words") {
  std::set<const Difference*> differed;
  size_t compared = 0;
  for (const Option* option : AllOptions()) {
    for (const std::string_view name_or_alias : {option->name, option->alias}) {
      const std::string name(name_or_alias);
      if (name.empty() || IsListening(option->name) || option->Has(config::kNoConfig) || !RedisKnows(name))
        continue;
      for (const std::string& value : ValuesFor(*option)) {
        const bool same = SameAfter(name, value);
        const Difference* const difference = FindDifference(*option, value);
        if (!same && difference != nullptr) differed.insert(difference);
        if (same || difference != nullptr) continue;
        CAPTURE(name, value);
        CHECK(Bulk(ours) == Bulk(theirs));
      }
      ++compared;
    }
  }
  CHECK(compared > 180);
  for (const Difference& difference : kDifferences) {
    CAPTURE(difference.option, difference.value);
    CHECK(differed.contains(&difference));
  }
}

TEST_CASE("a start takes and refuses the options that CONFIG SET cannot change as redis-server does") {
  const char* const same_here[] = {"tcp-backlog", "unixsocketperm", "enable-debug-command", "dbfilename",
                                   "rdbchecksum"};
  size_t compared = 0;
  for (const Option* option : AllOptions()) {
    const bool redis_only = std::holds_alternative<config::Foreign>(option->target);
    const bool chosen = std::count(std::begin(same_here), std::end(same_here), option->name) != 0;
    if (!NeedsStart(*option) || option->Has(config::kRefused) || (!redis_only && !chosen)) continue;
    // Redis 7.0 knows the lists of processors by their older names alone.
    const std::string flag = "--" + std::string(option->alias.empty() ? option->name : option->alias);
    std::vector<std::string> values = {"garbage", "a/b", ""};
    if (option->max < std::numeric_limits<int64_t>::max() && option->max > 0) {
      values.push_back(std::to_string(option->min - 1));
      values.push_back(std::to_string(option->max + 1));
    }
    for (const std::string& value : values) {
      if (option->name == "unixsocketperm" && value.empty()) continue;  // Redis takes it for a 0
      CAPTURE(flag, value);
      CHECK(OurComplaint(flag, value) == RedisComplaint(flag, value));
      ++compared;
    }
  }
  CHECK(compared > 60);
}

}  // namespace mayfly::testing
