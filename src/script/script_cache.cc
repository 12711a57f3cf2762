#include "script/script_cache.h"

#include <new>
#include <utility>

#include "base/bits/sha1.h"
#include "base/text/ascii.h"
#include "script/shebang.h"
#include "server/figures/stats.h"
#include "server/hubs/hubs.h"

namespace mayfly::script {

ScriptCache::ScriptCache(Server& server)
    : server_(server),
      heap_account_(server.hubs.accounts, server.stats.scripts.eval_heap_bytes),
      text_account_(server.hubs.accounts, server.stats.scripts.cached_bytes) {}

CachedScript* ScriptCache::Lookup(std::string_view lower_sha) noexcept {
  const auto found = scripts_.find(lower_sha);
  if (found == scripts_.end()) return nullptr;
  CachedScript& script = *found->second;
  if (!script.is_loaded) from_eval_.splice(from_eval_.begin(), from_eval_, script.place);
  return &script;
}

const CachedScript* ScriptCache::Find(std::string_view sha) {
  if (sha.size() != kShaDigits) return nullptr;
  if (CachedScript* const found = Lookup(sha)) return found;  // nearly all clients send lower case
  std::array<char, kShaDigits> lower;
  for (size_t i = 0; i < kShaDigits; ++i) lower[i] = mayfly::Lower(sha[i]);
  return Lookup({lower.data(), lower.size()});
}

const CachedScript* ScriptCache::Load(std::string_view text, From from, std::string& problem) {
  std::string sha = HexOf(Sha1Of(text));
  if (CachedScript* const known = Lookup(sha)) {
    if (from == From::kLoad && !known->is_loaded) {
      from_eval_.erase(known->place);
      known->is_loaded = true;
    }
    return known;
  }
  const Shebang shebang = ReadShebang(text);
  if (!shebang.problem.empty()) {
    problem = "ERR " + shebang.problem;
    return nullptr;
  }
  if (interpreter_ == nullptr)
    interpreter_ = std::make_unique<Interpreter>(server_, server_.stats.scripts.eval_heap_bytes);
  CachedScript* added = nullptr;
  std::string why;
  const FunctionRef function = interpreter_->CompileScript(text.substr(shebang.size), why);
  if (function == LUA_NOREF) {
    problem = "ERR Error compiling script (new function): " + why;
    return nullptr;
  }
  try {
    auto script = std::make_unique<CachedScript>(CachedScript{.sha = std::move(sha),
                                                              .text = std::string(text),
                                                              .flags = shebang.flags,
                                                              .function = function,
                                                              .is_loaded = from == From::kLoad});
    std::list<CachedScript*> place;
    if (!script->is_loaded) {
      place.push_front(script.get());
      script->place = place.begin();
    }
    const std::string_view key = script->sha;
    added = scripts_.try_emplace(key, std::move(script)).first->second.get();
    from_eval_.splice(from_eval_.begin(), place);
  } catch (const std::bad_alloc&) {
    interpreter_->Forget(function);
    throw;
  }
  text_bytes_ += text.size();
  if (from_eval_.size() > kMostFromEval) Remove(*from_eval_.back());
  Count();
  return added;
}

void ScriptCache::Remove(CachedScript& script) noexcept {
  interpreter_->Forget(script.function);
  text_bytes_ -= script.text.size();
  if (!script.is_loaded) from_eval_.erase(script.place);
  scripts_.erase(scripts_.find(script.sha));
}

void ScriptCache::Flush() noexcept {
  scripts_.clear();
  from_eval_.clear();
  text_bytes_ = 0;
  interpreter_.reset();
  Count();
}

void ScriptCache::Count() noexcept {
  constexpr uint64_t kNodeBytes = sizeof(std::string_view) + 2 * sizeof(void*);
  server_.stats.scripts.cached = scripts_.size();
  server_.stats.scripts.cached_bytes =
      text_bytes_ + scripts_.size() * (sizeof(CachedScript) + kNodeBytes + kShaDigits);
}

}  // namespace mayfly::script
