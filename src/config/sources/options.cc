#include "config/sources/options.h"

#include <algorithm>
#include <cassert>

#include "base/text/ascii.h"
#include "base/text/glob.h"
#include "base/text/numbers.h"
#include "config/apply.h"
#include "config/directive.h"
#include "config/namespace_values.h"
#include "config/nearest.h"
#include "config/sources/candidate.h"
#include "config/sources/command_line.h"
#include "config/sources/conf_file.h"
#include "config/sources/conf_rewrite.h"
#include "config/sources/environment.h"
#include "config/sources/files.h"
#include "config/values.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

std::string SetFailed(const std::string& name, const std::string& reason) {
  return "CONFIG SET failed (possibly related to argument '" + name + "') - " + reason;
}

bool IsKnownToConfig(const Option& option) { return !option.Has(kNoConfig); }

void ResolveMaxMemory(uint64_t memory_bytes, MaxMemory& maxmemory, std::vector<std::string>& warnings) {
  maxmemory.Resolve(memory_bytes);
  if (maxmemory.request != MaxMemory::Request::kBytes && memory_bytes == 0)
    warnings.emplace_back(
        "maxmemory is unlimited: neither a cgroup limit nor the machine's memory could be read");
  if (maxmemory.request == MaxMemory::Request::kAuto && memory_bytes != 0 &&
      memory_bytes < MaxMemory::kAutoLeast)
    warnings.push_back("maxmemory auto is " + FormatBytesHuman(maxmemory.bytes) + " of " +
                       FormatBytesHuman(memory_bytes) +
                       ": less than 48 MB are little for the program and the buffers of clients");
}

// The warnings about options that were accepted without effect: one line for all of them, and one for each
// option that has a warning of its own.
std::vector<std::string> IgnoredWarnings(const std::map<const Option*, std::string>& foreign) {
  std::vector<std::string> changed;
  std::vector<std::string> at_default;
  std::vector<std::string> lines;
  for (const auto& [option, value] : foreign) {
    const bool is_default = value == option->default_text;
    if (!option->Has(kIgnored)) continue;
    if (!is_default && !option->doc.empty()) {
      lines.emplace_back(option->doc);
    } else {
      (is_default ? at_default : changed).emplace_back(option->name);
    }
  }
  std::string line;
  for (const std::string& name : changed) line += (line.empty() ? "" : ", ") + name;
  if (!at_default.empty()) line += line.empty() ? "at Redis's default " : "; at Redis's default ";
  for (size_t i = 0; i < at_default.size(); ++i) line += (i == 0 ? "" : ", ") + at_default[i];
  if (!line.empty()) lines.push_back("options without a meaning here are ignored: " + line);
  return lines;
}

// What a file says with these lines, without the word "user".
std::vector<UserLine> UsersOf(const std::vector<std::string>& lines) {
  std::vector<UserLine> users;
  for (const std::string& line : lines) {
    const std::vector<std::string> words = SplitWords(line).value_or(std::vector<std::string>{line});
    users.push_back({words[0], {words.begin() + 1, words.end()}});
  }
  return users;
}

template <typename T>
bool Contains(const std::vector<T>& all, const T& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// The users of these lines of which `wanted` is true, in force as far as no later line takes them away.
template <typename Wanted>
std::vector<UserLine> UsersIn(std::span<const Directive> directives, Wanted wanted) {
  const Option* const option = FindOption("user");
  std::vector<UserLine> users;
  for (const Directive& directive : directives) {
    if (FindOption(directive.name) != option) continue;
    const std::vector<std::string> words = WordsOf(*option, directive);
    if (words.empty() || (words.size() == 1 && words[0].empty()))
      users.clear();
    else if (wanted(directive))
      users.push_back({words[0], {words.begin() + 1, words.end()}, directive.place});
  }
  return users;
}

// All users in one text, in the place of all lines that the file has.
ConfLine UsersLine(const std::vector<std::string>& users) {
  std::string text;
  for (const std::string& user : users) text.append(text.empty() ? "user " : "\nuser ").append(user);
  return {FindOption("user"), std::move(text)};
}

}  // namespace

struct Options::Preparation {
  Candidate candidate;
  std::vector<const Option*> options;
};

Options::Options(uint64_t memory_bytes, const Files& files) : memory_bytes_(memory_bytes), files_(files) {
  state_.settings.maxmemory.Resolve(memory_bytes_);
}

Options::~Options() = default;

LoadResult Options::Load(std::span<const std::string> words, std::span<const std::string> environment) {
  LoadResult result;
  CommandLine line;
  if ((result.error = ReadCommandLine(words, line))) return result;
  if (line.answer) {
    result.answer = std::move(line.answer);
    return result;
  }
  ConfFileReader reader(files_);
  std::vector<Directive> directives;
  if (line.conf_file && (result.error = reader.Read(*line.conf_file, directives))) {
    result.error->append(IfFlagIsMeant(*line.conf_file));
    return result;
  }
  const size_t of_conf_file = directives.size();
  for (const Directive& include : line.directives) {
    if (include.name != "include") continue;
    for (const std::string& pattern : include.words) {
      if ((result.error = reader.Include(include.place, pattern, directives))) return result;
    }
  }
  if ((result.error = ReadEnvironment(environment, files_, directives, result.warnings))) return result;
  std::copy_if(line.directives.begin(), line.directives.end(), std::back_inserter(directives),
               [](const Directive& directive) { return directive.name != "include"; });

  Adopt(directives, result);
  if (result.error) return result;
  command_line_users_ =
      UsersIn(std::span(directives).subspan(of_conf_file), [](const auto&) { return true; });
  if (line.conf_file && *line.conf_file != "-") result.error = FindConfFile(*line.conf_file);
  return result;
}

LoadResult Options::Load(std::span<const Directive> directives) {
  LoadResult result;
  Adopt(directives, result);
  return result;
}

void Options::Adopt(std::span<const Directive> directives, LoadResult& result) {
  State state;
  std::map<const Option*, std::string> blames;
  if ((result.error = Apply(directives, state, blames))) return;
  if ((result.error = Finish(state, blames, result.warnings))) return;
  state_ = std::move(state);
}

// The path is made absolute now, because the working directory may change later.
Problem Options::FindConfFile(const std::string& path) {
  Problem problem = files_.directory("./", start_folder_);
  if (problem && !path.starts_with('/')) return problem;
  conf_file_ = AsAtStart(path);
  return std::nullopt;
}

std::string Options::AsAtStart(const std::string& path) const {
  return path.starts_with('/') || start_folder_.empty() ? path : start_folder_ + "/" + path;
}

Problem Options::Apply(std::span<const Directive> directives, State& state,
                       std::map<const Option*, std::string>& blames) const {
  for (const Directive& directive : directives) {
    const Option* option = nullptr;
    std::string foreign_text;
    if (Problem problem = ApplyDirective(directive, state.settings, option, foreign_text)) return problem;
    if (std::holds_alternative<Foreign>(option->target)) state.foreign[option] = foreign_text;
    for (Renaming& renaming : state.settings.renamings) {
      if (renaming.blame.empty()) renaming.blame = directive.Blame();
    }
    for (UserLine& line : state.settings.users) {
      if (line.blame.empty()) line.blame = directive.Blame();
    }
    blames[option] = directive.place;
  }
  return std::nullopt;
}

// Checks that must wait until every source was read, because a later source may override the value of an
// earlier one.
Problem Options::Finish(State& state, std::map<const Option*, std::string>& blames,
                        std::vector<std::string>& warnings) const {
  for (const auto& [option, value] : state.foreign) {
    if (IsRefused(*option, value)) return blames[option] + ": " + Refusal(*option, value);
  }
  if (Problem problem = CheckNamespaces(state.settings)) return problem;
  Directory& dir = state.settings.dir;
  std::string absolute;
  if (Problem problem = files_.directory(dir.path, absolute)) return "dir " + *problem;
  dir.path = std::move(absolute);
  ResolveMaxMemory(memory_bytes_, state.settings.maxmemory, warnings);
  for (std::string& line : IgnoredWarnings(state.foreign)) warnings.push_back(std::move(line));
  return std::nullopt;
}

std::string Options::Value(const Option& option) const {
  if (!option.Has(kInert)) {
    if (const auto found = state_.foreign.find(&option); found != state_.foreign.end()) return found->second;
  }
  return FormatValue(option, state_.settings);
}

std::optional<std::string> Options::Get(std::string_view name) const {
  const Option* option = FindOption(name);
  if (option == nullptr || option->Has(kNoConfig)) return std::nullopt;
  return Value(*option);
}

std::vector<NameValue> Options::Match(std::string_view pattern) const {
  std::vector<NameValue> found;
  if (!HasGlobSyntax(pattern)) {
    if (std::optional<std::string> value = Get(pattern)) found.emplace_back(pattern, std::move(*value));
    return found;
  }
  for (const std::span<const Option> half : {MayflyOptions(), RedisOptions()}) {
    for (const Option& option : half) {
      if (option.Has(kNoConfig)) continue;
      for (const std::string_view name : {option.name, option.alias}) {
        if (!name.empty() && GlobMatch(pattern, name, GlobCase::kIgnore))
          found.emplace_back(name, Value(option));
      }
    }
  }
  return found;
}

Problem Options::CheckSet(std::span<const NameValue> pairs) const {
  for (size_t i = 0; i < pairs.size(); ++i) {
    const std::string& name = pairs[i].first;
    const Option* option = FindOption(name);
    if (option == nullptr || option->Has(kNoConfig))
      // Redis shows the name up to a zero byte.
      return "Unknown option or number of arguments for CONFIG SET - '" + name.substr(0, name.find('\0')) +
             "'" + DidYouMean(name, {}, IsKnownToConfig);
    const char* reason = nullptr;
    if (option->Has(kFixed)) reason = "can't set immutable config";
    if (option->Has(kProtected)) reason = "can't set protected config";
    const auto same = [&](const NameValue& other) { return FindOption(other.first) == option; };
    if (std::any_of(pairs.begin(), pairs.begin() + static_cast<std::ptrdiff_t>(i), same))
      reason = "duplicate parameter";
    if (reason != nullptr) return SetFailed(name, reason);
  }
  return std::nullopt;
}

// The candidates that one CONFIG SET has asked. They are dropped at its end, in whatever way it ends, unless they were
// adopted.
class Options::Attempt {
 public:
  explicit Attempt(const std::vector<Preparation>& candidates)
      : candidates_(candidates), asked_(candidates.size()) {}
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;
  ~Attempt() { EndWith(&Candidate::drop); }

  // Asks each candidate of the options that these pairs name once.
  Problem Prepare(std::span<const NameValue> pairs, const Settings& wanted) {
    for (const auto& [name, value] : pairs) {
      const Option* const option = FindOption(name);
      for (size_t i = 0; i < candidates_.size(); ++i) {
        if (asked_[i] || !Contains(candidates_[i].options, option)) continue;
        asked_[i] = true;
        if (Problem problem = candidates_[i].candidate.prepare(wanted))
          return SetFailed(std::string(option->name), *problem);
      }
    }
    return std::nullopt;
  }
  void Adopt() noexcept { EndWith(&Candidate::adopt); }

 private:
  void EndWith(std::function<void()> Candidate::* ending) noexcept {
    for (size_t i = 0; i < candidates_.size(); ++i) {
      if (asked_[i]) (candidates_[i].candidate.*ending)();
      asked_[i] = false;
    }
  }

  const std::vector<Preparation>& candidates_;
  std::vector<bool> asked_;
};

Problem Options::Set(std::span<const NameValue> pairs, std::vector<std::string>& warnings) {
  if (Problem problem = CheckSet(pairs)) return problem;
  State state = state_;
  std::set<const Option*> changed = changed_;
  std::map<const Option*, std::string> ignored;
  for (const auto& [name, value] : pairs) {
    const Option* option = FindOption(name);
    const std::vector<std::string> words =
        option->Has(kMultiWord) ? SplitAtSpaces(value) : std::vector<std::string>{value};
    std::string foreign_text;
    Problem problem;
    if (option->Has(kRepeats)) problem = ReadValue(*option, {}, state.settings, foreign_text);
    if (!problem) problem = ReadValue(*option, words, state.settings, foreign_text);
    if (!problem && IsRefused(*option, foreign_text)) problem = option->doc;
    if (problem) return SetFailed(LowerCase(name), *problem);
    changed.insert(option);
    if (!std::holds_alternative<Foreign>(option->target)) continue;
    ignored[option] = foreign_text;
    state.foreign[option] = std::move(foreign_text);
  }
  Attempt attempt(candidates_);
  if (Problem problem = attempt.Prepare(pairs, state.settings)) return problem;
  if (state.settings.maxmemory != state_.settings.maxmemory)
    ResolveMaxMemory(memory_bytes_, state.settings.maxmemory, warnings);
  for (std::string& line : IgnoredWarnings(ignored)) warnings.push_back(std::move(line));
  // Whatever needs memory comes first: what is in force must not differ from what its followers know.
  std::vector<const Follower*> called;
  for (const Following& following : followers_) {
    const auto changes = [&](const Option* option) {
      return !HasSameValue(*option, state_.settings, state.settings);
    };
    if (std::any_of(following.options.begin(), following.options.end(), changes))
      called.push_back(&following.follower);
  }
  state_ = std::move(state);
  changed_ = std::move(changed);
  attempt.Adopt();
  for (const Follower* follower : called) (*follower)(state_.settings);
  return std::nullopt;
}

Problem Options::ReadConfFile(Said& said) const {
  Files files = files_;
  files.read = [this](const std::string& path, std::string& text) {
    return files_.read_again(AsAtStart(path), text);
  };
  files.expand = [this](const std::string& pattern) { return files_.expand(AsAtStart(pattern)); };
  ConfFileReader reader(files);
  std::vector<Directive> directives;
  if (Problem problem = reader.Read(conf_file_, directives)) return problem;
  std::map<const Option*, std::string> blames;
  if (Problem problem = Apply(directives, said.state, blames)) return problem;
  for (const Directive& directive : directives) said.named[FindOption(directive.name)] |= directive.included;
  said.users = UsersIn(directives, [](const Directive& directive) { return !directive.included; });
  said.included_users = UsersIn(directives, [](const Directive& directive) { return directive.included; });
  return std::nullopt;
}

// An option whose lines add to each other is emptied first, of what an included file says.
std::vector<ConfLine> Options::NewLines(const Said& said) const {
  std::vector<ConfLine> lines;
  for (const Option* option : changed_) {
    const auto naming = said.named.find(option);
    std::string line = LineOf(*option, state_.settings, state_.foreign);
    if (line == LineOf(*option, said.state.settings, said.state.foreign)) continue;
    const bool included = naming != said.named.end() && naming->second;
    if (included && option->Has(kRepeats)) line.insert(0, std::string(option->name) + " \"\"\n");
    lines.push_back({option, std::move(line), included});
  }
  return lines;
}

Problem Options::UsersElsewhere(std::vector<UserLine>& users) const {
  if (conf_file_.empty() || !no_rewrite_.empty()) return std::nullopt;
  Said said;
  if (Problem problem = ReadConfFile(said)) return "Rewriting config file: " + *problem;
  users = std::move(said.included_users);
  users.insert(users.end(), command_line_users_.begin(), command_line_users_.end());
  return std::nullopt;
}

Problem Options::Rewrite(const std::vector<std::string>& users) const {
  if (!no_rewrite_.empty()) return no_rewrite_;
  if (conf_file_.empty()) return "The server is running without a config file";
  Said said;
  std::string text;
  Problem problem = ReadConfFile(said);
  if (!problem) problem = files_.read_again(conf_file_, text);
  if (problem) return "Rewriting config file: " + *problem;
  std::vector<ConfLine> lines = NewLines(said);
  if (UsersOf(users) != said.users) lines.push_back(UsersLine(users));
  if (lines.empty()) return std::nullopt;
  const std::string rewritten = RewriteConf(text, std::move(lines));
  if (rewritten.size() > kConfigBytesMax) {
    problem = Printable(conf_file_) + ": would be larger than " + std::to_string(kConfigBytesMax) + " bytes";
  } else {
    problem = files_.write(conf_file_, rewritten);
  }
  if (problem) return "Rewriting config file: " + *problem;
  return std::nullopt;
}

void Options::LowerMaxClients(uint64_t most) noexcept {
  assert(followers_.empty());
  state_.settings.maxclients = static_cast<int64_t>(most);
}

void Options::FollowMaster(MasterAddress master) {
  changed_.insert(FindOption(&Settings::replicaof));
  state_.settings.replicaof = std::move(master);
}

void Options::SetMemoryBytes(uint64_t memory_bytes) {
  if (memory_bytes == memory_bytes_) return;
  memory_bytes_ = memory_bytes;
  state_.settings.maxmemory.Resolve(memory_bytes_);
  const Option* const maxmemory = FindOption(&Settings::maxmemory);
  for (size_t i = 0; i < followers_.size(); ++i) {
    if (Contains(followers_[i].options, maxmemory)) followers_[i].follower(state_.settings);
  }
}

std::vector<const Option*> Options::RowsOf(std::initializer_list<Target> members) {
  assert(members.size() != 0);
  std::vector<const Option*> options;
  for (const Target& member : members) {
    const Option* const option = FindOption(member);
    assert(option != nullptr && !option->Has(kFixed) && !option->Has(kProtected));
    options.push_back(option);
  }
  return options;
}

void Options::AddCandidate(Candidate&& candidate, std::vector<const Option*>&& rows) {
  candidates_.push_back({std::move(candidate), std::move(rows)});
}

}  // namespace mayfly::config
