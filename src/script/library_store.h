// The libraries of FUNCTION LOAD and their functions.
//
// A library is a text that registers functions while it is loaded: the functions stay, compiled, until the library is
// deleted. Names of functions are unique among all libraries, in any case of letters. Owns the libraries and the interpreter
// that holds their functions; the first library starts the interpreter. Loop thread only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "script/interpreter.h"
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

class LibraryStore {
 public:
  static constexpr std::string_view kEngineName = "LUA";

  explicit LibraryStore(Server& server);

  // Loads a library and returns the library. If `replaces`, the new library may replace a library of the same name. On an
  // error returns null, changes nothing, and puts the reason into `problem`, without a code. Throws std::bad_alloc.
  const Library* Load(std::string_view text, bool replaces, std::string& problem);
  // Returns false if no library has this name.
  bool Delete(std::string_view name) noexcept;
  void Flush() noexcept;

  // Finds a function by its name in any case of letters; null without such a function.
  const Function* Find(std::string_view name) const;
  // The libraries by name.
  const std::map<std::string, Library, std::less<>>& libraries() const noexcept { return libraries_; }
  size_t functions() const noexcept { return functions_.size(); }

  // REQUIRES: functions() != 0.
  Interpreter& interpreter() noexcept { return *interpreter_; }

 private:
  void Forget(const Library& library) noexcept;
  void Count() noexcept;

  Server& server_;
  const Accounts::Account heap_account_;
  const Accounts::Account text_account_;
  std::unique_ptr<Interpreter> interpreter_;
  std::map<std::string, Library, std::less<>> libraries_;
  std::map<std::string, const Function*, std::less<>> functions_;  // by the name in lower case
};

}  // namespace mayfly::script
