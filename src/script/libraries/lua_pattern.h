// Patterns of Lua 5.1, matched with limits on recursion and time. A pattern that tries many ways takes exponential
// time, and the library's own matcher looks at no clock.
//
// Answers and error texts are Lua 5.1's. As in Lua, a pattern ends at its first zero byte. Borrows text and pattern; both
// must lie on the stack of Lua. Loop thread only.
#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "script/lua/lua_api.h"
#include "script/lua/script_clock.h"

namespace mayfly::script {

class PatternMatch {
 public:
  // REQUIRES: `text` ends with an uncounted zero byte, like all strings of Lua.
  PatternMatch(lua_State* L, std::string_view text) noexcept
      : L_(L), begin_(text.data()), end_(text.data() + text.size()), steps_(L) {}
  PatternMatch(const PatternMatch&) = delete;
  PatternMatch& operator=(const PatternMatch&) = delete;

  // The end of the match from `from` on; null: no match. May raise an error.
  const char* MatchAt(const char* from, const char* pattern) {
    captures_ = 0;
    depth_ = 0;
    return Match(from, pattern);
  }
  // Pushes the captures of the last match, from `begin` to `end`, or the whole match if the pattern has no captures. Returns
  // the number of values. With `begin` null a match without captures pushes nothing.
  int PushCaptures(const char* begin, const char* end);
  // Pushes capture `index`, from 0; without captures, 0 is the whole match.
  void PushCapture(int index, const char* begin, const char* end);

 private:
  static constexpr ptrdiff_t kUnfinished = -1;
  static constexpr ptrdiff_t kPosition = -2;
  // A level takes between 100 and 400 bytes of the stack.
  static constexpr int kMostDepth = 8192;
  struct Capture {
    const char* begin;
    ptrdiff_t size;
  };
  class Level;

  const char* Match(const char* at, const char* pattern);
  const char* MatchEscape(const char* at, const char*& pattern, bool& goes_on);
  const char* MatchMost(const char* at, const char* item, const char* item_end);
  const char* MatchLeast(const char* at, const char* item, const char* item_end);
  const char* MatchBalanced(const char* at, const char* pair);
  const char* MatchAgain(const char* at, unsigned char digit);
  const char* BeginCapture(const char* at, const char* pattern, ptrdiff_t size);
  const char* EndCapture(const char* at, const char* pattern);
  const char* ItemEnd(const char* item);
  bool MatchesSet(unsigned char c, const char* set, const char* last);
  bool MatchesItem(const char* at, const char* item, const char* item_end) {
    return at < end_ && MatchesByte(static_cast<unsigned char>(*at), item, item_end);
  }
  bool MatchesByte(unsigned char c, const char* item, const char* item_end);

  lua_State* const L_;
  const char* const begin_;
  const char* const end_;
  StepBatch steps_;
  int captures_ = 0;
  int depth_ = 0;
  std::array<Capture, LUA_MAXCAPTURES> capture_;
};

}  // namespace mayfly::script
