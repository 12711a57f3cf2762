#include "script/library_store.h"

#include <utility>
#include <vector>

#include "base/text/ascii.h"
#include "config/words.h"
#include "script/redis_library.h"
#include "script/register_function.h"
#include "script/shebang.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"

namespace mayfly::script {
namespace {

// The first line of a library: "#!lua name=mylib".
struct Heading {
  std::string engine;
  std::string name;
  size_t size = 0;      // of the line, without the line end
  std::string problem;  // the error; empty without an error
};

Heading ReadHeading(std::string_view text) {
  constexpr std::string_view kName = "name=";
  Heading heading;
  const auto fail = [&heading](std::string problem) {
    heading.problem = std::move(problem);
    return heading;
  };
  if (!text.starts_with("#!")) return fail("Missing library metadata");
  heading.size = text.find('\n');
  if (heading.size == std::string_view::npos) return fail("Invalid library metadata");
  const std::optional<std::vector<std::string>> split = config::SplitWords(text.substr(0, heading.size));
  if (!split || split->empty()) return fail("Invalid library metadata");
  const std::vector<std::string>& words = *split;
  heading.engine = words[0].substr(2);
  std::optional<std::string> name;
  for (size_t i = 1; i < words.size(); ++i) {
    if (!SameIgnoringCase(std::string_view(words[i]).substr(0, kName.size()), kName))
      return fail("Invalid metadata value given: " + words[i]);
    if (name) return fail("Invalid metadata value, name argument was given multiple times");
    name = words[i].substr(kName.size());
  }
  if (!name) return fail("Library name was not given");
  heading.name = *name;
  return heading;
}

}  // namespace

LibraryStore::LibraryStore(Server& server)
    : server_(server),
      heap_account_(server.hubs.accounts, server.stats.scripts.function_heap_bytes),
      text_account_(server.hubs.accounts, server.stats.scripts.library_bytes) {}

const Library* LibraryStore::Load(std::string_view text, bool replaces, std::string& problem) {
  Heading heading = ReadHeading(text);
  const auto fail = [&problem](std::string why) {
    problem = std::move(why);
    return nullptr;
  };
  if (!heading.problem.empty()) return fail(std::move(heading.problem));
  if (!IsFunctionName(heading.name)) return fail(kBadName);
  if (!SameIgnoringCase(heading.engine, kEngineName))
    return fail("Engine '" + heading.engine + "' not found");
  const auto old = libraries_.find(heading.name);
  if (old != libraries_.end() && !replaces) return fail("Library '" + heading.name + "' already exists");
  if (interpreter_ == nullptr)
    interpreter_ = std::make_unique<Interpreter>(server_, server_.stats.scripts.function_heap_bytes);

  std::map<std::string, Library, std::less<>> added;
  Library& library = added.try_emplace(heading.name).first->second;
  library.name = heading.name;
  library.text = text;
  struct Guard {  // gives up the registered functions
    LibraryStore& store;
    Library* library;
    ~Guard() {
      if (library != nullptr) store.Forget(*library);
    }
  } guard{*this, &library};
  if (!interpreter_->RunOnce(text.substr(heading.size), PushLoadingApi, &library, problem)) return nullptr;
  if (library.functions.empty()) return fail("No functions registered");
  for (const auto& [lower, function] : library.functions) {
    const auto other = functions_.find(lower);
    const bool is_new =
        other == functions_.end() || (old != libraries_.end() && old->second.functions.contains(lower));
    if (!is_new) return fail("Function " + function.name + " already exists");
  }
  // All work that needs memory comes before the end of the old library.
  std::map<std::string, const Function*, std::less<>> names;
  for (const auto& [lower, function] : library.functions) names.emplace(lower, &function);
  guard.library = nullptr;
  if (old != libraries_.end()) Delete(heading.name);
  libraries_.merge(added);
  functions_.merge(names);
  Count();
  return &libraries_.find(heading.name)->second;
}

bool LibraryStore::Delete(std::string_view name) noexcept {
  const auto found = libraries_.find(name);
  if (found == libraries_.end()) return false;
  for (const auto& [lower, function] : found->second.functions) functions_.erase(lower);
  Forget(found->second);
  libraries_.erase(found);
  Count();
  return true;
}

void LibraryStore::Flush() noexcept {
  functions_.clear();
  libraries_.clear();
  interpreter_.reset();
  Count();
}

const Function* LibraryStore::Find(std::string_view name) const {
  const auto found = functions_.find(LowerCase(name));
  return found != functions_.end() ? found->second : nullptr;
}

void LibraryStore::Forget(const Library& library) noexcept {
  for (const auto& [lower, function] : library.functions) interpreter_->Forget(function.function);
}

void LibraryStore::Count() noexcept {
  ScriptFigures& figures = server_.stats.scripts;
  figures.libraries = libraries_.size();
  figures.functions = functions_.size();
  figures.library_bytes = 0;
  for (const auto& [name, library] : libraries_)
    figures.library_bytes +=
        sizeof library + library.text.size() + library.functions.size() * sizeof(Function);
}

}  // namespace mayfly::script
