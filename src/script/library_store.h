// The libraries of FUNCTION LOAD and their functions.
//
// A library is a text that registers functions while it is loaded: the functions stay, compiled, until the library is
// deleted. Names of functions are unique among all libraries, in any case of letters. Owns the libraries and the interpreter
// that holds their functions; the first library starts the interpreter.
//
// Several libraries come together or not at all with a Restoration (FUNCTION RESTORE). During the load of a snapshot file the
// store remembers what clients have dropped: server/function_libraries.h. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "script/interpreter.h"
#include "server/function_libraries.h"
#include "server/hubs/accounts.h"

namespace mayfly::script {

struct Function {
  std::string name;
  std::optional<std::string> description;
  uint32_t flags = 0;  // ScriptFlag
  FunctionRef function = LUA_NOREF;
};

struct Library {
  std::string name;
  std::string text;
  std::map<std::string, Function> functions;  // by the name in lower case
};

// Libraries without a name in common.
struct LibrarySet {
  std::map<std::string, Library, std::less<>> libraries;
  std::map<std::string, const Function*, std::less<>> functions;  // by the name in lower case
};

// What clients have dropped since a load began.
struct DroppedLibraries {
  bool all = false;
  std::set<std::string, std::less<>> names;
};

enum class RestorePolicy : uint8_t {
  kAppend,   // no name may exist
  kReplace,  // libraries of the same name are replaced
  kFlush,    // the present libraries go
};

class LibraryStore final : public FunctionLibraries {
 public:
  static constexpr std::string_view kEngineName = "LUA";

  class Restoration;

  explicit LibraryStore(Server& server);
  ~LibraryStore() = default;

  // Loads a library and returns the library. If `replaces`, the new library may replace a library of the same name. On an
  // error returns null, changes nothing, and puts the reason into `problem`, without a code. Throws std::bad_alloc.
  const Library* Load(std::string_view text, bool replaces, std::string& problem);
  // Returns false if no library has this name.
  bool Delete(std::string_view name) noexcept;
  void Flush() noexcept override;

  // Finds a function by its name in any case of letters; null without such a function.
  const Function* Find(std::string_view name) const;
  // The libraries by name.
  const std::map<std::string, Library, std::less<>>& libraries() const noexcept { return all_.libraries; }
  size_t functions() const noexcept { return all_.functions.size(); }

  // REQUIRES: functions() != 0.
  Interpreter& interpreter() noexcept { return *interpreter_; }

  void ForEachText(const std::function<void(std::string_view)>& fn) const override;
  void BeginLoad() noexcept override { dropped_.emplace(); }
  Adoption Adopt(std::string_view text, bool replaces, std::string& problem) override;
  void EndLoad() noexcept override { dropped_.reset(); }

 private:
  // Runs the text and adds its library to `set`, as Load does. Starts the interpreter if it is null.
  const Library* LoadInto(LibrarySet& set, std::unique_ptr<Interpreter>& interpreter, std::string_view text,
                          bool replaces, std::string& problem) const;
  // REQUIRES: the set has a library of this name.
  static void Erase(LibrarySet& set, std::string_view name, Interpreter& interpreter) noexcept;
  static void Forget(const Library& library, Interpreter& interpreter) noexcept;
  void NoteDropped(std::string_view name) noexcept;
  void Count() noexcept;

  Server& server_;
  const Accounts::Account heap_account_;
  const Accounts::Account text_account_;
  std::unique_ptr<Interpreter> interpreter_;
  LibrarySet all_;
  std::optional<DroppedLibraries> dropped_;  // while a file is loaded
};

// Libraries that join the store together, or not at all:
//
//   Restoration restoration(store, policy);
//   for each text: if (!restoration.Add(text, problem)) return ... nothing has changed
//   if (!restoration.Finish(problem)) return ... nothing has changed
//
// Borrows the store. REQUIRES: the store does not change meanwhile.
class LibraryStore::Restoration {
 public:
  Restoration(LibraryStore& store, RestorePolicy policy) noexcept
      : store_(store),
        policy_(policy),
        interpreter_(policy == RestorePolicy::kFlush ? fresh_ : store.interpreter_) {}
  ~Restoration();
  Restoration(const Restoration&) = delete;
  Restoration& operator=(const Restoration&) = delete;

  // Runs the text. False: it cannot be loaded, or has a name in common with an added one. Throws std::bad_alloc.
  bool Add(std::string_view text, std::string& problem);
  // False: a name exists. REQUIRES: called once.
  bool Finish(std::string& problem);

 private:
  // Empty if the policy lets all names of the set join the store, or else the reason.
  std::string Conflict() const;
  bool IsReplaced(const Function& function) const;

  LibraryStore& store_;
  const RestorePolicy policy_;
  std::unique_ptr<Interpreter> fresh_;  // kFlush: the store's next interpreter
  std::unique_ptr<Interpreter>& interpreter_;
  LibrarySet set_;
};

}  // namespace mayfly::script
