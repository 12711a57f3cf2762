// Files in memory, and an Options that was loaded from them, for the tests of this folder.
#pragma once

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/glob.h"
#include "config/sources/files.h"
#include "config/sources/options.h"
#include "config/words.h"

namespace mayfly::config {

class TestFiles {
 public:
  TestFiles() = default;
  TestFiles(const TestFiles&) = delete;  // files_ points here
  TestFiles& operator=(const TestFiles&) = delete;

  void Put(const std::string& path, std::string text) { texts_[path] = std::move(text); }

  std::string Text(const std::string& path) const { return texts_.at(path); }
  // A file that can be read only once.
  void PutPipe(const std::string& path, std::string text) {
    Put(path, std::move(text));
    pipes_.insert(path);
  }
  void RefuseWrites() { refuses_writes_ = true; }
  size_t writes() const { return writes_; }

  const Files& files() const { return files_; }

 private:
  Problem Read(const std::string& path, std::string& text) const {
    const auto found = texts_.find(path);
    if (found == texts_.end()) return Printable(path) + ": No such file or directory";
    text = found->second;
    if (text.size() > kConfigBytesMax) return Printable(path) + ": too large";
    return std::nullopt;
  }
  Problem ReadAgain(const std::string& path, std::string& text) const {
    if (pipes_.contains(path)) return Printable(path) + ": is not a regular file";
    return Read(path, text);
  }
  std::vector<std::string> Expand(const std::string& pattern) const {
    std::vector<std::string> paths;
    for (const auto& [path, text] : texts_) {
      if (GlobMatch(pattern, path)) paths.push_back(path);
    }
    return paths;
  }
  static Problem Directory(const std::string& path, std::string& absolute) {
    if (path == "/missing") return Printable(path) + ": No such file or directory";
    absolute = path == "./" ? "/here" : path;
    return std::nullopt;
  }
  Problem Write(const std::string& path, const std::string& text) {
    if (refuses_writes_) return Printable(path) + ": Permission denied";
    ++writes_;
    texts_[path] = text;
    return std::nullopt;
  }

  bool refuses_writes_ = false;
  size_t writes_ = 0;
  std::map<std::string, std::string> texts_;
  std::set<std::string> pipes_;
  Files files_{[this](const std::string& path, std::string& text) { return Read(path, text); },
               [this](const std::string& path, std::string& text) { return ReadAgain(path, text); },
               [this](const std::string& pattern) { return Expand(pattern); }, Directory,
               [this](const std::string& path, const std::string& text) { return Write(path, text); }};
};

// REQUIRES: `files` outlives it.
struct Loaded {
  static constexpr uint64_t kMemoryBytes = 1000 << 20;

  Loaded(const TestFiles& files, const std::vector<std::string>& words,
         const std::vector<std::string>& environment = {})
      : options(kMemoryBytes, files.files()) {
    LoadResult result = options.Load(words, environment);
    error = result.error.value_or("");
    answer = result.answer.value_or("");
    warnings = std::move(result.warnings);
  }

  std::string Get(const std::string& name) const { return options.Get(name).value_or("(unknown)"); }
  // The error text of a CONFIG SET, "" for success.
  std::string Set(const std::vector<NameValue>& pairs) { return options.Set(pairs, warnings).value_or(""); }

  Options options;
  std::string error;
  std::string answer;
  std::vector<std::string> warnings;
};

inline bool MayBeSet(const Option& option) { return !option.Has(kFixed) && !option.Has(kProtected); }

// Calls `follower(settings, option)` for each option that CONFIG SET changes, in the order of the table.
template <typename Fn>
void FollowEach(Options& options, Fn follower) {
  for (const Option& option : MayflyOptions()) {
    if (!MayBeSet(option)) continue;
    const auto follow = [follower, &option](const Settings& settings) { follower(settings, option); };
    std::visit(
        [&](auto member) {
          if constexpr (!std::is_same_v<decltype(member), Foreign>) options.Follow(follow, member);
        },
        option.target);
  }
}

}  // namespace mayfly::config
