#include "script/library_store.h"

#include <algorithm>
#include <new>
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
  const Library* const library = LoadInto(all_, interpreter_, text, replaces, problem);
  Count();
  return library;
}

const Library* LibraryStore::LoadInto(LibrarySet& set, std::unique_ptr<Interpreter>& interpreter,
                                      std::string_view text, bool replaces, std::string& problem) const {
  Heading heading = ReadHeading(text);
  const auto fail = [&problem](std::string why) {
    problem = std::move(why);
    return nullptr;
  };
  if (!heading.problem.empty()) return fail(std::move(heading.problem));
  if (!IsFunctionName(heading.name)) return fail(kBadName);
  if (!SameIgnoringCase(heading.engine, kEngineName))
    return fail("Engine '" + heading.engine + "' not found");
  const auto old = set.libraries.find(heading.name);
  if (old != set.libraries.end() && !replaces) return fail("Library '" + heading.name + "' already exists");
  if (interpreter == nullptr)
    interpreter = std::make_unique<Interpreter>(server_, server_.stats.scripts.function_heap_bytes);

  std::map<std::string, Library, std::less<>> added;
  Library& library = added.try_emplace(heading.name).first->second;
  library.name = heading.name;
  library.text = text;
  struct Guard {  // gives up the registered functions
    Interpreter& interpreter;
    Library* library;
    ~Guard() {
      if (library != nullptr) Forget(*library, interpreter);
    }
  } guard{*interpreter, &library};
  if (!interpreter->RunOnce(text.substr(heading.size), PushLoadingApi, &library, problem)) return nullptr;
  if (library.functions.empty()) return fail("No functions registered");
  for (const auto& [lower, function] : library.functions) {
    const auto other = set.functions.find(lower);
    const bool is_new =
        other == set.functions.end() || (old != set.libraries.end() && old->second.functions.contains(lower));
    if (!is_new) return fail("Function " + function.name + " already exists");
  }
  // All work that needs memory comes before the end of the old library.
  std::map<std::string, const Function*, std::less<>> names;
  for (const auto& [lower, function] : library.functions) names.emplace(lower, &function);
  guard.library = nullptr;
  if (old != set.libraries.end()) Erase(set, heading.name, *interpreter);
  set.libraries.merge(added);
  set.functions.merge(names);
  return &set.libraries.find(heading.name)->second;
}

void LibraryStore::Erase(LibrarySet& set, std::string_view name, Interpreter& interpreter) noexcept {
  const auto found = set.libraries.find(name);
  for (const auto& [lower, function] : found->second.functions) set.functions.erase(lower);
  Forget(found->second, interpreter);
  set.libraries.erase(found);
}

bool LibraryStore::Delete(std::string_view name) noexcept {
  NoteDropped(name);
  if (all_.libraries.find(name) == all_.libraries.end()) return false;
  Erase(all_, name, *interpreter_);
  Count();
  return true;
}

void LibraryStore::Flush() noexcept {
  if (dropped_) dropped_->all = true;
  all_.functions.clear();
  all_.libraries.clear();
  interpreter_.reset();
  Count();
}

const Function* LibraryStore::Find(std::string_view name) const {
  const auto found = all_.functions.find(LowerCase(name));
  return found != all_.functions.end() ? found->second : nullptr;
}

void LibraryStore::Forget(const Library& library, Interpreter& interpreter) noexcept {
  for (const auto& [lower, function] : library.functions) interpreter.Forget(function.function);
}

void LibraryStore::Count() noexcept {
  ScriptFigures& figures = server_.stats.scripts;
  figures.libraries = all_.libraries.size();
  figures.functions = all_.functions.size();
  figures.library_bytes = 0;
  for (const auto& [name, library] : all_.libraries)
    figures.library_bytes +=
        sizeof library + library.text.size() + library.functions.size() * sizeof(Function);
}

// ---- snapshots

void LibraryStore::ForEachText(const std::function<void(std::string_view)>& fn) const {
  for (const auto& [name, library] : all_.libraries) fn(library.text);
}

// If a name cannot be remembered, no library comes any more: none comes back that a client has dropped.
void LibraryStore::NoteDropped(std::string_view name) noexcept {
  if (!dropped_) return;
  try {
    dropped_->names.emplace(name);
  } catch (const std::bad_alloc&) {
    dropped_->all = true;
  }
}

FunctionLibraries::Adoption LibraryStore::Adopt(std::string_view text, bool replaces, std::string& problem) {
  if (dropped_->all) return Adoption::kOvertaken;
  const Heading heading = ReadHeading(text);
  const bool known = heading.problem.empty();
  if (known && dropped_->names.contains(heading.name)) return Adoption::kOvertaken;
  if (known && !replaces && all_.libraries.contains(heading.name)) return Adoption::kOvertaken;
  return Load(text, replaces, problem) != nullptr ? Adoption::kLoaded : Adoption::kRefused;
}

// ---- several at a time

LibraryStore::Restoration::~Restoration() {
  for (const auto& [name, library] : set_.libraries) Forget(library, *interpreter_);
}

bool LibraryStore::Restoration::Add(std::string_view text, std::string& problem) {
  return store_.LoadInto(set_, interpreter_, text, /*replaces=*/false, problem) != nullptr;
}

bool LibraryStore::Restoration::IsReplaced(const Function& function) const {
  return std::any_of(set_.libraries.begin(), set_.libraries.end(), [&](const auto& added) {
    const auto old = store_.all_.libraries.find(added.first);
    return old != store_.all_.libraries.end() && old->second.functions.contains(LowerCase(function.name));
  });
}

std::string LibraryStore::Restoration::Conflict() const {
  const LibrarySet& present = store_.all_;
  for (const auto& [name, library] : set_.libraries) {
    if (policy_ == RestorePolicy::kAppend && present.libraries.contains(name))
      return "Library " + name + " already exists";
  }
  for (const auto& [lower, function] : set_.functions) {
    if (present.functions.contains(lower) && !IsReplaced(*function))
      return "Function " + function->name + " already exists";
  }
  return {};
}

bool LibraryStore::Restoration::Finish(std::string& problem) {
  if (policy_ == RestorePolicy::kFlush) {
    store_.Flush();
    store_.interpreter_ = std::move(fresh_);
  } else {
    problem = Conflict();
    if (!problem.empty()) return false;
    for (const auto& [name, library] : set_.libraries) {
      if (store_.all_.libraries.contains(name)) Erase(store_.all_, name, *interpreter_);
    }
  }
  store_.all_.libraries.merge(set_.libraries);
  store_.all_.functions.merge(set_.functions);
  store_.Count();
  return true;
}

}  // namespace mayfly::script
