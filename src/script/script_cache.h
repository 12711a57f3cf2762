// The scripts of EVAL and SCRIPT LOAD by their SHA-1, compiled.
//
// A script known only from EVAL is forgotten after kMostFromEval other scripts have been used: programs that write a new
// script for each call would fill the memory otherwise. A script from SCRIPT LOAD stays until SCRIPT FLUSH. (As Redis 7.4.)
// Owns the scripts and the interpreter that holds their functions; the first script starts the interpreter. Loop thread
// only.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>

#include "script/interpreter.h"
#include "server/hubs/accounts.h"

namespace mayfly::script {

struct CachedScript {
  std::string sha;  // 40 lower-case hexadecimal digits
  std::string text;
  uint32_t flags = 0;  // ScriptFlag
  FunctionRef function = LUA_NOREF;
  bool is_loaded = false;  // by SCRIPT LOAD
  std::list<CachedScript*>::iterator
      place{};  // position among the scripts of EVAL; unused for a loaded script
};

class ScriptCache {
 public:
  static constexpr size_t kMostFromEval = 500;
  static constexpr size_t kShaDigits = 40;
  enum class From : uint8_t { kEval, kLoad };

  explicit ScriptCache(Server& server);

  // Finds a script by its SHA-1 in any case of letters; null if unknown. Valid until the next Load or Flush.
  const CachedScript* Find(std::string_view sha);
  // Returns the script of this text, and compiles an unknown text first. On an error returns null and puts a whole error
  // into `problem`. Throws std::bad_alloc.
  const CachedScript* Load(std::string_view text, From from, std::string& problem);
  // Forgets all scripts.
  void Flush() noexcept;

  // REQUIRES: the cache has a script.
  Interpreter& interpreter() noexcept { return *interpreter_; }

 private:
  // SHA-1 spreads evenly: the first digits suffice as a hash.
  struct FirstDigits {
    size_t operator()(std::string_view sha) const noexcept {
      size_t hash;
      std::memcpy(&hash, sha.data(), sizeof hash);
      return hash;
    }
  };

  CachedScript* Lookup(std::string_view lower_sha) noexcept;
  void Remove(CachedScript& script) noexcept;
  void Count() noexcept;

  Server& server_;
  const Accounts::Account heap_account_;
  const Accounts::Account text_account_;
  std::unique_ptr<Interpreter> interpreter_;
  std::unordered_map<std::string_view, std::unique_ptr<CachedScript>, FirstDigits> scripts_;
  std::list<CachedScript*> from_eval_;  // the most recently used script comes first
  uint64_t text_bytes_ = 0;
};

}  // namespace mayfly::script
