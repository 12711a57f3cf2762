// The options of a running server: read once at the start, then answered by CONFIG GET and changed by CONFIG
// SET.
//
// Command line beats environment beats conf file beats default. Settings has the typed values. Of an option
// that only Redis has, the text is kept, so that CONFIG GET answers what was set. Invariant: Settings always
// holds values that were checked together; a failed Load or Set changes nothing.
//
// Parts of the server name the members of Settings that they depend on. Follow registers a function that is called after
// a change, and Prepare registers what must be ready before one (config/sources/candidate.h). A member that no option has
// fails an assert. These functions run inside Set and SetMemoryBytes. Loop thread only.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/option.h"
#include "config/problem.h"
#include "config/settings.h"

namespace mayfly::config {

struct Candidate;
struct ConfLine;
struct Directive;
struct Files;

using NameValue = std::pair<std::string, std::string>;

struct LoadResult {
  Problem error;                      // one line to print; exit code 1
  std::optional<std::string> answer;  // of --help or --version, to print; exit code 0
  std::vector<std::string> warnings;  // one line each, for the log
};

class Options {
 public:
  using Follower = std::function<void(const Settings& settings)>;

  // Starts with the defaults. `maxmemory auto` and percentages are taken of `memory_bytes`
  // (MemoryLimit::Smaller); 0 means unknown. `files` must outlive this object.
  Options(uint64_t memory_bytes, const Files& files);
  Options(const Options&) = delete;
  Options& operator=(const Options&) = delete;
  ~Options();

  // `words` are the command line without the program's name, `environment` all "NAME=value" texts.
  LoadResult Load(std::span<const std::string> words, std::span<const std::string> environment);
  // Likewise, of lines that were read already (config/sources/check.h).
  LoadResult Load(std::span<const Directive> directives);

  const Settings& settings() const noexcept { return state_.settings; }
  // What `maxmemory auto` and percentages are taken of; 0 = unknown.
  uint64_t memory_bytes() const noexcept { return memory_bytes_; }

  // The value of a name or alias in CONFIG GET's form; nothing for an unknown name.
  std::optional<std::string> Get(std::string_view name) const;
  // What CONFIG GET answers for one pattern. An option that matches by its name and by its alias is answered
  // twice. If the pattern has no wildcards, the answer spells the name as the pattern does.
  std::vector<NameValue> Match(std::string_view pattern) const;

  // CONFIG SET: all of the pairs or none. A problem is Redis's error text without "ERR "; `warnings` gets
  // lines about options that were accepted without effect.
  [[nodiscard]] Problem Set(std::span<const NameValue> pairs, std::vector<std::string>& warnings);

  // CONFIG REWRITE: writes the options that Set has changed to the conf file; the rest of the file stays. `users`
  // come in the place of the file's own lines for users. A problem is an error text without "ERR ".
  [[nodiscard]] Problem Rewrite(const std::vector<std::string>& users = {}) const;
  // The lines for users that the next start finds beside the conf file's own: in files that it includes, as they
  // are now, and on the command line. Written once more, such a user would be there twice. The blame of each is
  // where it stands. None if Rewrite would fail anyway.
  [[nodiscard]] Problem UsersElsewhere(std::vector<UserLine>& users) const;
  // The system lets fewer clients in than maxclients says. CONFIG REWRITE does not write that: it is not what somebody
  // wants. REQUIRES: nobody listens to changes yet.
  void LowerMaxClients(uint64_t most) noexcept;
  // REPLICAOF has changed the master; CONFIG REWRITE writes that. Throws std::bad_alloc.
  void FollowMaster(MasterAddress master);
  // The file of a cluster names this master, or none: replicaof says so too. CONFIG REWRITE does not write that.
  void ShowMaster(MasterAddress master) noexcept { state_.settings.replicaof = std::move(master); }
  // From now on CONFIG REWRITE fails with this text.
  void ForbidRewrite(std::string reason) { no_rewrite_ = std::move(reason); }
  const Files& files() const noexcept { return files_; }
  // The absolute path; empty if there is no conf file or if it was standard input.
  const std::string& conf_file() const noexcept { return conf_file_; }

  // To be called when the machine's memory or the cgroup's limit has changed: computes maxmemory again. If that memory
  // is another one now, the followers of maxmemory are called, also if maxmemory is set in bytes.
  void SetMemoryBytes(uint64_t memory_bytes);

  // Calls `follower` once after each CONFIG SET that has changed at least one of these members. All values of the
  // CONFIG SET are in force then, and what was prepared for them is adopted. Followers are called in the order in which
  // they were registered.
  template <typename... Values>
  void Follow(Follower follower, Values Settings::*... members) {
    followers_.push_back({std::move(follower), RowsOf({members...})});
  }
  // Calls `follower` now, too.
  template <typename... Values>
  void FollowFromNow(Follower follower, Values Settings::*... members) {
    follower(settings());
    Follow(std::move(follower), members...);
  }

  // Asks `candidate` before each CONFIG SET that names at least one of these members, also if it names the value that
  // they have already. All values of the CONFIG SET were read then, and none is in force. If the candidate refuses, the
  // error names the first option in the CONFIG SET that is one of these members. Candidates are adopted in the order in
  // which they were registered.
  template <typename... Values>
  void Prepare(Candidate&& candidate, Values Settings::*... members) {
    AddCandidate(std::move(candidate), RowsOf({members...}));
  }

 private:
  struct State {
    Settings settings;
    std::map<const Option*, std::string> foreign;  // the values of options that only Redis has
  };

  // Puts these lines in force, or sets the error of `result`.
  void Adopt(std::span<const Directive> directives, LoadResult& result);
  Problem Apply(std::span<const Directive> directives, State& state,
                std::map<const Option*, std::string>& blames) const;
  Problem Finish(State& state, std::map<const Option*, std::string>& blames,
                 std::vector<std::string>& warnings) const;
  Problem CheckSet(std::span<const NameValue> pairs) const;
  // The rows of these members, of which there is at least one. REQUIRES: each is an option's that CONFIG SET may change.
  static std::vector<const Option*> RowsOf(std::initializer_list<Target> members);
  void AddCandidate(Candidate&& candidate, std::vector<const Option*>&& rows);
  class Attempt;
  std::string Value(const Option& option) const;
  Problem FindConfFile(const std::string& path);
  // A path as it was meant at the start; the working directory may be another one now.
  std::string AsAtStart(const std::string& path) const;
  // What the conf file says as it is now.
  struct Said {
    State state;
    std::map<const Option*, bool> named;  // true if an included file names the option
    std::vector<UserLine> users;          // of its own lines
    std::vector<UserLine> included_users;
  };
  Problem ReadConfFile(Said& said) const;
  std::vector<ConfLine> NewLines(const Said& said) const;

  struct Following {
    Follower follower;
    std::vector<const Option*> options;
  };
  struct Preparation;

  uint64_t memory_bytes_;
  const Files& files_;
  State state_;
  std::string conf_file_;
  std::string start_folder_;  // where relative paths of the conf file's includes begin
  std::vector<UserLine> command_line_users_;
  std::string no_rewrite_;           // why; empty: it is allowed
  std::set<const Option*> changed_;  // by Set, since the start
  std::vector<Preparation> candidates_;
  std::deque<Following> followers_;  // those that are called may add some
};

}  // namespace mayfly::config
