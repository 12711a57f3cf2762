#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "config/namespace_values.h"
#include "config/redis_values.h"
#include "config/scalars.h"
#include "config/snapshot_values.h"
#include "config/ttl_rule_values.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr size_t kBindAddressesMax = 16;
constexpr size_t kWordsPerOutputLimit = 4;

// The names of each enum's values, in the order of the enum.
constexpr std::array<std::string_view, 11> kPolicyNames = {
    "volatile-lru", "volatile-lfu",   "volatile-random", "volatile-ttl",   "volatile-s3fifo", "allkeys-lru",
    "allkeys-lfu",  "allkeys-random", "allkeys-sieve",   "allkeys-s3fifo", "noeviction"};
constexpr std::array<std::string_view, 5> kLogLevelNames = {"debug", "verbose", "notice", "warning",
                                                            "nothing"};
constexpr std::array<std::string_view, 3> kDebugCommandNames = {"no", "yes", "local"};
constexpr std::array<std::string_view, 3> kTlsAuthClientsNames = {"no", "yes", "optional"};
constexpr std::array<std::string_view, 4> kSupervisedNames = {"upstart", "systemd", "auto", "no"};
constexpr std::array<std::string_view, 9> kSyslogFacilityNames = {
    "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7"};
constexpr std::array<std::string_view, 2> kPubSubDefaultNames = {"allchannels", "resetchannels"};
constexpr std::array<std::string_view, 2> kClusterModeNames = {"no", "emulated"};
constexpr std::array<std::string_view, 3> kEndpointTypeNames = {"ip", "hostname", "unknown-endpoint"};
constexpr std::array<std::string_view, 2> kLoadModeNames = {"serve", "wait"};

std::span<const std::string_view> NamesOf(EvictionPolicy) noexcept { return kPolicyNames; }
std::span<const std::string_view> NamesOf(LogLevel) noexcept { return kLogLevelNames; }
std::span<const std::string_view> NamesOf(DebugCommand) noexcept { return kDebugCommandNames; }
std::span<const std::string_view> NamesOf(TlsAuthClients) noexcept { return kTlsAuthClientsNames; }
std::span<const std::string_view> NamesOf(Supervised) noexcept { return kSupervisedNames; }
std::span<const std::string_view> NamesOf(SyslogFacility) noexcept { return kSyslogFacilityNames; }
std::span<const std::string_view> NamesOf(PubSubDefault) noexcept { return kPubSubDefaultNames; }
std::span<const std::string_view> NamesOf(ClusterMode) noexcept { return kClusterModeNames; }
std::span<const std::string_view> NamesOf(EndpointType) noexcept { return kEndpointTypeNames; }
std::span<const std::string_view> NamesOf(LoadMode) noexcept { return kLoadModeNames; }

// Each Read takes the text of the value, or its words if the value may have several.
Problem Read(const Option&, const std::string& text, bool& value) { return ReadYesNo(text, value); }
Problem Read(const Option& option, const std::string& text, int64_t& value) {
  return ReadInteger(option, text, value);
}
Problem Read(const Option& option, const std::string& text, uint64_t& value) {
  return ReadByteCount(option, text, value);
}

// A text appears in log lines and in replies of one line: a line break could forge a line. A password may be anything.
Problem CheckText(const Option& option, const std::string& text) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (!option.Has(kSecret) && std::any_of(text.begin(), text.end(), is_control))
    return "argument must not contain line breaks or other control characters";
  const auto belongs = [](char c) {
    constexpr std::string_view kSigns = "-._:%";
    return IsLower(c) || IsUpper(c) || (c >= '0' && c <= '9') || kSigns.find(c) != std::string_view::npos;
  };
  if (option.Has(kToken) && !std::all_of(text.begin(), text.end(), belongs))
    return "argument may only contain letters, digits and the signs - . _ : %";
  if (option.Has(kFileName)) return CheckName(option, text, "filename");
  return std::nullopt;
}

Problem Read(const Option& option, const std::string& text, std::string& value) {
  if (Problem problem = CheckText(option, text)) return problem;
  value = text;
  return std::nullopt;
}

Problem Read(const Option& option, const std::string& text, Directory& value) {
  if (text.empty()) return "argument must be a directory";
  if (Problem problem = CheckText(option, text)) return problem;
  value.path = text;
  return std::nullopt;
}

Problem Read(const Option&, const std::string& text, HostName& value) {
  constexpr size_t kBytesMax = 255;
  if (text.size() > kBytesMax) return "Hostnames must be less than 256 characters";
  const auto belongs = [](char c) {
    return IsLower(c) || IsUpper(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  if (!std::all_of(text.begin(), text.end(), belongs))
    return "Hostnames may only contain alphanumeric characters, hyphens or dots";
  value.text = text;
  return std::nullopt;
}

Problem Read(const Option&, const std::string& text, EventClasses& value) {
  std::string classes;
  for (const char c : text) {
    const bool in_a = c == 'A' || EventClasses::kInA.find(c) != std::string_view::npos;
    if (!in_a && EventClasses::kBesideA.find(c) == std::string_view::npos)
      return "Invalid event class character. Use 'Ag$lshzxeKEtmdn'.";
    if (c == 'A') classes += EventClasses::kInA;
    classes += c;
  }
  const auto has = [&classes](char c) { return classes.find(c) != std::string::npos; };
  const bool all = std::all_of(EventClasses::kInA.begin(), EventClasses::kInA.end(), has);
  std::string letters = all ? "A" : "";
  const auto add = [&](std::string_view from) {
    std::copy_if(from.begin(), from.end(), std::back_inserter(letters), has);
  };
  if (!all) add(EventClasses::kInA);
  add(EventClasses::kBesideA);
  value.letters = std::move(letters);
  return std::nullopt;
}

Problem Read(const Option& option, const std::string& text, FileMode& value) {
  int64_t bits = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), bits, 8);
  if (error != std::errc() || end != text.data() + text.size())
    return "argument couldn't be parsed as an octal number";
  if (bits < option.min || bits > option.max) return "argument must be between 0 and 777 inclusive";
  value.bits = static_cast<uint32_t>(bits);
  return std::nullopt;
}

Problem Read(const Option&, const std::string& text, MaxMemory& value) {
  MaxMemory request;
  if (!text.empty() && text.back() == '%') {
    const std::optional<uint64_t> percent = ParseUnsigned(std::string_view(text).substr(0, text.size() - 1));
    if (!percent) return "argument must be a memory value";
    if (*percent < 1 || *percent > 100) return "percentage argument must be between 1 and 100 inclusive";
    request = {MaxMemory::Request::kPercent, *percent, 0};
  } else if (!SameIgnoringCase(text, "auto")) {
    const std::optional<uint64_t> bytes = ParseBytes(text);
    if (!bytes) return "argument must be a memory value";
    request = {MaxMemory::Request::kBytes, *bytes, *bytes};
  }
  value = request;
  return std::nullopt;
}

Problem Read(const Option&, const std::string& text, ClientMemory& value) {
  const char* const neither = "argument must be a memory or percent value";
  constexpr int64_t kWhole = 100;
  if (!text.ends_with('%')) {
    const std::optional<uint64_t> bytes = ParseBytes(text);
    if (!bytes || *bytes > kBytesMax) return neither;
    value = {.bytes = *bytes, .percent = 0};
    return std::nullopt;
  }
  const std::optional<int64_t> percent = ParseInteger(std::string_view(text).substr(0, text.size() - 1));
  if (!percent || *percent < 0) return neither;
  if (*percent > kWhole) return "percentage argument must be less or equal to 100";
  value = {.bytes = 0, .percent = static_cast<uint64_t>(*percent)};
  return std::nullopt;
}

template <typename Enum>
  requires std::is_enum_v<Enum>
Problem Read(const Option&, const std::string& text, Enum& value) {
  const std::span<const std::string_view> names = NamesOf(Enum{});
  for (size_t i = 0; i < names.size(); ++i) {
    if (!SameIgnoringCase(text, names[i])) continue;
    value = static_cast<Enum>(i);
    return std::nullopt;
  }
  return NoneOf(names);
}

Problem Read(const Option&, std::span<const std::string> words, std::vector<BindAddress>& value) {
  std::vector<BindAddress> addresses;
  if (words.size() == 1 && words[0].empty()) words = {};  // listen on no TCP address
  if (words.size() > kBindAddressesMax) return "Too many bind addresses specified.";
  for (const std::string& word : words) {
    const bool may_be_missing = word.starts_with('-');
    addresses.push_back({word.substr(may_be_missing ? 1 : 0), may_be_missing});
  }
  value = std::move(addresses);
  return std::nullopt;
}

Problem Read(const Option& option, std::span<const std::string> words, std::vector<double>& value) {
  std::vector<double> percentiles;
  if (words.size() == 1 && words[0].empty()) words = {};  // none
  for (const std::string& word : words) {
    double percentile = 0;
    const char* const end = word.data() + word.size();
    const auto [stop, error] = std::from_chars(word.data(), end, percentile);
    if (error != std::errc() || stop != end || !std::isfinite(percentile))
      return "Invalid " + std::string(option.name) + " parameters";
    if (percentile < 0 || percentile > 100)
      return std::string(option.name) + " parameters should sit between [0.0,100.0]";
    percentiles.push_back(percentile);
  }
  value = std::move(percentiles);
  return std::nullopt;
}

// Adds to the pairs of earlier lines.
Problem Read(const Option&, std::span<const std::string> words, std::vector<Renaming>& value) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) return std::nullopt;
  if (words.size() != 2) return "wrong number of arguments";
  value.push_back({words[0], words[1]});
  return std::nullopt;
}

// Adds to the users of earlier lines.
Problem Read(const Option&, std::span<const std::string> words, std::vector<UserLine>& value) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) {
    value.clear();
    return std::nullopt;
  }
  for (const UserLine& line : value) {
    if (line.name == words[0]) return "Duplicate user found. A user can only be defined once in config files";
  }
  value.push_back({words[0], {words.begin() + 1, words.end()}});
  return std::nullopt;
}

Problem Read(const Option&, const std::string& text, Duration& value) { return ReadDuration(text, value); }
Problem Read(const Option&, std::span<const std::string> words, std::vector<TtlRule>& value) {
  return ReadTtlRules(words, value);
}
Problem Read(const Option&, std::span<const std::string> words, std::vector<NamespaceTerms>& value) {
  return ReadNamespaces(words, value);
}
Problem Read(const Option&, std::span<const std::string> words, std::vector<SavePoint>& value) {
  return ReadSavePoints(words, value);
}
Problem Read(const Option&, std::span<const std::string> words, ShutdownFlags& value) {
  return ReadShutdownFlags(words, value);
}

// "no one" is the same as "".
Problem Read(const Option&, std::span<const std::string> words, MasterAddress& value) {
  if (words.empty() || (words.size() == 1 && words[0].empty())) {
    value = {};
    return std::nullopt;
  }
  if (words.size() != 2) return "wrong number of arguments";
  if (SameIgnoringCase(words[0], "no") && SameIgnoringCase(words[1], "one")) {
    value = {};
    return std::nullopt;
  }
  const std::optional<int64_t> port = ParseInteger(words[1]);
  if (!port || *port < 0 || *port > std::numeric_limits<uint16_t>::max()) return "Invalid master port";
  value = {.host = words[0], .port = static_cast<uint16_t>(*port)};
  return std::nullopt;
}

OutputLimit* FindClass(std::string_view name, OutputLimits& limits) noexcept {
  if (SameIgnoringCase(name, "normal")) return &limits.normal;
  if (SameIgnoringCase(name, "replica") || SameIgnoringCase(name, "slave")) return &limits.replica;
  if (SameIgnoringCase(name, "pubsub")) return &limits.pubsub;
  return nullptr;
}

// Changes only the named classes.
Problem Read(const Option&, std::span<const std::string> words, OutputLimits& value) {
  if (words.size() % kWordsPerOutputLimit != 0)
    return "Wrong number of arguments in buffer limit configuration.";
  OutputLimits limits = value;
  for (; !words.empty(); words = words.subspan(kWordsPerOutputLimit)) {
    OutputLimit* limit = FindClass(words[0], limits);
    if (limit == nullptr) return "Invalid client class specified in buffer limit configuration.";
    const std::optional<uint64_t> hard = ParseBytes(words[1]);
    const std::optional<uint64_t> soft = ParseBytes(words[2]);
    const std::optional<int64_t> seconds = ParseInteger(words[3]);
    if (!hard || !soft || !seconds || *seconds < 0 || *seconds > INT32_MAX)
      return "Error in hard, soft or soft_seconds setting in buffer limit configuration.";
    *limit = {*hard, *soft, *seconds};
  }
  value = limits;
  return std::nullopt;
}

std::string Format(bool value) { return value ? "yes" : "no"; }
std::string Format(int64_t value) { return std::to_string(value); }
std::string Format(uint64_t value) { return std::to_string(value); }
std::string Format(const std::string& value) { return value; }
std::string Format(const Directory& value) { return value.path; }
std::string Format(const HostName& value) { return value.text; }
std::string Format(Duration value) { return FormatDuration(value); }
std::string Format(const std::vector<TtlRule>& value) { return FormatTtlRules(value); }
std::string Format(const std::vector<NamespaceTerms>& value) { return FormatNamespaces(value); }
std::string Format(const std::vector<SavePoint>& value) { return FormatSavePoints(value); }
std::string Format(ShutdownFlags value) { return FormatShutdownFlags(value); }
std::string Format(const MasterAddress& value) {
  return value.host.empty() ? "" : value.host + ' ' + std::to_string(value.port);
}
std::string Format(const EventClasses& value) { return value.letters; }
std::string Format(const MaxMemory& value) { return std::to_string(value.bytes); }

std::string Format(const ClientMemory& value) {
  return value.percent == 0 ? std::to_string(value.bytes) : std::to_string(value.percent) + '%';
}

std::string Format(const FileMode& value) {
  char text[16];
  return std::string(text, std::to_chars(text, text + sizeof text, value.bits, 8).ptr);
}

template <typename Enum>
  requires std::is_enum_v<Enum>
std::string Format(Enum value) {
  return std::string(NamesOf(value)[static_cast<size_t>(value)]);
}

std::string Format(const std::vector<BindAddress>& value) {
  std::vector<std::string> words;
  words.reserve(value.size());
  for (const BindAddress& address : value)
    words.push_back((address.may_be_missing ? "-" : "") + address.host);
  return JoinWords(words);
}

std::string Format(const std::vector<double>& value) {
  std::vector<std::string> words;
  words.reserve(value.size());
  for (const double number : value) words.push_back(FormatDouble(number));
  return JoinWords(words);
}

std::string Format(const std::vector<Renaming>& value) {
  std::vector<std::string> words;
  for (const Renaming& renaming : value) {
    words.push_back(QuoteWord(renaming.from));
    words.push_back(QuoteWord(renaming.to));
  }
  return JoinWords(words);
}

std::string Format(const std::vector<UserLine>& value) {
  std::vector<std::string> words;
  for (const UserLine& line : value) {
    words.push_back(QuoteWord(line.name));
    for (const std::string& rule : line.rules) words.push_back(QuoteWord(rule));
  }
  return JoinWords(words);
}

std::string Format(const OutputLimits& value) {
  std::vector<std::string> words;
  const std::pair<const char*, const OutputLimit*> classes[] = {
      {"normal", &value.normal}, {"slave", &value.replica}, {"pubsub", &value.pubsub}};
  for (const auto& [name, limit] : classes) {
    words.emplace_back(name);
    words.push_back(std::to_string(limit->hard_bytes));
    words.push_back(std::to_string(limit->soft_bytes));
    words.push_back(std::to_string(limit->soft_seconds));
  }
  return JoinWords(words);
}

}  // namespace

std::span<const std::string_view> WordsFor(const Option& option) noexcept {
  static constexpr std::array<std::string_view, 2> kYesAndNo = {"yes", "no"};
  return std::visit(
      [](auto target) -> std::span<const std::string_view> {
        using T = decltype(target);
        if constexpr (std::is_same_v<T, bool Settings::*>) {
          return kYesAndNo;
        } else if constexpr (std::is_same_v<T, ShutdownFlags Settings::*>) {
          return ShutdownWords();
        } else if constexpr (!std::is_same_v<T, Foreign>) {
          using Value = std::remove_cvref_t<decltype(std::declval<Settings>().*target)>;
          if constexpr (std::is_enum_v<Value>) return NamesOf(Value{});
        }
        return {};
      },
      option.target);
}

Problem ReadValue(const Option& option, std::span<const std::string> words, Settings& settings,
                  std::string& foreign_text) {
  if (!option.Has(kMultiWord) && words.size() != 1) return "wrong number of arguments";
  return std::visit(
      [&](auto target) -> Problem {
        using T = decltype(target);
        if constexpr (std::is_same_v<T, Foreign>) {
          return ReadRedisValue(option, target, words, foreign_text);
        } else if constexpr (requires { Read(option, words, settings.*target); }) {
          return Read(option, words, settings.*target);
        } else {
          return Read(option, words[0], settings.*target);
        }
      },
      option.target);
}

std::string FormatValue(const Option& option, const Settings& settings) {
  return std::visit(
      [&](auto target) -> std::string {
        if constexpr (std::is_same_v<decltype(target), Foreign>) {
          return std::string(option.default_text);
        } else {
          return Format(settings.*target);
        }
      },
      option.target);
}

bool HasSameValue(const Option& option, const Settings& one, const Settings& other) noexcept {
  return std::visit(
      [&](auto target) {
        if constexpr (std::is_same_v<decltype(target), Foreign>) {
          return true;
        } else {
          return one.*target == other.*target;
        }
      },
      option.target);
}

}  // namespace mayfly::config
