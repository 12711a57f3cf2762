#include "script/libraries/lua_pattern.h"

#include <cctype>
#include <cstring>

namespace mayfly::script {
namespace {

constexpr char kEscape = '%';

unsigned char Byte(const char* at) noexcept { return static_cast<unsigned char>(*at); }

// Returns true if a byte is in the class of a letter: %a and its kin.
bool IsOfClass(unsigned char c, unsigned char letter) noexcept {
  int found = 0;
  switch (std::tolower(letter)) {
    case 'a':
      found = std::isalpha(c);
      break;
    case 'c':
      found = std::iscntrl(c);
      break;
    case 'd':
      found = std::isdigit(c);
      break;
    case 'l':
      found = std::islower(c);
      break;
    case 'p':
      found = std::ispunct(c);
      break;
    case 's':
      found = std::isspace(c);
      break;
    case 'u':
      found = std::isupper(c);
      break;
    case 'w':
      found = std::isalnum(c);
      break;
    case 'x':
      found = std::isxdigit(c);
      break;
    case 'z':
      found = c == 0 ? 1 : 0;
      break;
    default:
      return letter == c;
  }
  return (found != 0) == (std::islower(letter) != 0);
}

}  // namespace

// One more level of the recursion.
class PatternMatch::Level {
 public:
  explicit Level(PatternMatch& match) : depth_(match.depth_) {
    if (++depth_ > kMostDepth) luaL_error(match.L_, "pattern too complex");
  }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  ~Level() { --depth_; }

 private:
  int& depth_;
};

// ---- captures

int PatternMatch::PushCaptures(const char* begin, const char* end) {
  const int count = captures_ == 0 && begin != nullptr ? 1 : captures_;
  luaL_checkstack(L_, count, "too many captures");
  for (int i = 0; i < count; ++i) PushCapture(i, begin, end);
  return count;
}

void PatternMatch::PushCapture(int index, const char* begin, const char* end) {
  if (index >= captures_) {
    if (index != 0) luaL_error(L_, "invalid capture index");
    return lua_pushlstring(L_, begin, static_cast<size_t>(end - begin));
  }
  const Capture& capture = capture_[static_cast<size_t>(index)];
  if (capture.size == kUnfinished) luaL_error(L_, "unfinished capture");
  if (capture.size == kPosition) return lua_pushinteger(L_, capture.begin - begin_ + 1);
  lua_pushlstring(L_, capture.begin, static_cast<size_t>(capture.size));
}

const char* PatternMatch::BeginCapture(const char* at, const char* pattern, ptrdiff_t size) {
  if (captures_ >= LUA_MAXCAPTURES) luaL_error(L_, "too many captures");
  capture_[static_cast<size_t>(captures_)] = {at, size};
  ++captures_;
  const char* const end = Match(at, pattern);
  if (end == nullptr) --captures_;
  return end;
}

const char* PatternMatch::EndCapture(const char* at, const char* pattern) {
  int open = captures_ - 1;
  while (open >= 0 && capture_[static_cast<size_t>(open)].size != kUnfinished) --open;
  if (open < 0) luaL_error(L_, "invalid pattern capture");
  Capture& capture = capture_[static_cast<size_t>(open)];
  capture.size = at - capture.begin;
  const char* const end = Match(at, pattern);
  if (end == nullptr) capture.size = kUnfinished;
  return end;
}

// ---- items

// The end of the item at `item`: one byte, a class or a set.
const char* PatternMatch::ItemEnd(const char* item) {
  const char* at = item + 1;
  if (*item == kEscape) {
    if (*at == '\0') luaL_error(L_, "malformed pattern (ends with '%%')");
    return at + 1;
  }
  if (*item != '[') return at;
  if (*at == '^') ++at;
  do {  // a bracket in the first place stands for itself
    if (*at == '\0') luaL_error(L_, "malformed pattern (missing ']')");
    if (*at++ == kEscape && *at != '\0') ++at;
  } while (*at != ']');
  steps_.Add(static_cast<size_t>(at - item));
  return at + 1;
}

// `last` is the set's closing bracket.
bool PatternMatch::MatchesSet(unsigned char c, const char* set, const char* last) {
  const bool wanted = set[1] != '^';
  const char* at = wanted ? set : set + 1;
  steps_.Add(static_cast<size_t>(last - set) / 4);
  while (++at < last) {
    if (*at == kEscape) {
      ++at;
      if (IsOfClass(c, Byte(at))) return wanted;
    } else if (at[1] == '-' && at + 2 < last) {
      at += 2;
      if (Byte(at - 2) <= c && c <= Byte(at)) return wanted;
    } else if (Byte(at) == c) {
      return wanted;
    }
  }
  return !wanted;
}

bool PatternMatch::MatchesByte(unsigned char c, const char* item, const char* item_end) {
  switch (*item) {
    case '.':
      return true;
    case kEscape:
      return IsOfClass(c, Byte(item + 1));
    case '[':
      return MatchesSet(c, item, item_end - 1);
    default:
      return Byte(item) == c;
  }
}

// ---- matching

// Matches as many as possible, then fewer.
const char* PatternMatch::MatchMost(const char* at, const char* item, const char* item_end) {
  const char* last = at;
  for (; MatchesItem(last, item, item_end); ++last) steps_.Add(1);
  for (;; --last) {
    const char* const end = Match(last, item_end + 1);
    if (end != nullptr || last == at) return end;
  }
}

// Matches as few as possible, then more.
const char* PatternMatch::MatchLeast(const char* at, const char* item, const char* item_end) {
  for (;; ++at) {
    const char* const end = Match(at, item_end + 1);
    if (end != nullptr) return end;
    if (!MatchesItem(at, item, item_end)) return nullptr;
  }
}

// Matches %b and two bytes.
const char* PatternMatch::MatchBalanced(const char* at, const char* pair) {
  if (pair[0] == '\0' || pair[1] == '\0') luaL_error(L_, "unbalanced pattern");
  if (*at != pair[0]) return nullptr;
  size_t open = 1;
  while (++at < end_) {
    steps_.Add(1);
    if (*at == pair[1]) {
      if (--open == 0) return at + 1;
    } else if (*at == pair[0]) {
      ++open;
    }
  }
  return nullptr;
}

// Matches %1 and its kin: the text of a capture, once more.
const char* PatternMatch::MatchAgain(const char* at, unsigned char digit) {
  const int index = digit - '1';
  if (index < 0 || index >= captures_ || capture_[static_cast<size_t>(index)].size == kUnfinished)
    luaL_error(L_, "invalid capture index");
  const Capture& capture = capture_[static_cast<size_t>(index)];
  if (capture.size < 0 || end_ - at < capture.size) return nullptr;
  const auto size = static_cast<size_t>(capture.size);
  steps_.Add(size / 8);
  return std::memcmp(capture.begin, at, size) == 0 ? at + size : nullptr;
}

// Matches an escape other than a class of bytes, and moves `pattern` past the escape. `goes_on`: the rest must be matched
// from the result on. If `pattern` has not moved, the escape is a class.
const char* PatternMatch::MatchEscape(const char* at, const char*& pattern, bool& goes_on) {
  const char* const what = pattern + 1;
  if (*what == 'b') {
    at = MatchBalanced(at, pattern + 2);
    pattern += 4;
  } else if (*what == 'f') {
    const char* const set = pattern + 2;
    if (*set != '[') luaL_error(L_, "missing '[' after '%%f' in pattern");
    const char* const set_end = ItemEnd(set);
    const unsigned char before = at == begin_ ? '\0' : Byte(at - 1);
    if (MatchesSet(before, set, set_end - 1) || !MatchesSet(Byte(at), set, set_end - 1)) at = nullptr;
    pattern = set_end;
  } else if (std::isdigit(Byte(what)) != 0) {
    at = MatchAgain(at, Byte(what));
    pattern += 2;
  } else {
    return nullptr;
  }
  goes_on = at != nullptr;
  return at;
}

const char* PatternMatch::Match(const char* at, const char* pattern) {
  const Level level(*this);
  for (;;) {
    steps_.Add(1);
    switch (*pattern) {
      case '\0':
        return at;
      case '(':
        return pattern[1] == ')' ? BeginCapture(at, pattern + 2, kPosition)
                                 : BeginCapture(at, pattern + 1, kUnfinished);
      case ')':
        return EndCapture(at, pattern + 1);
      case '$':
        if (pattern[1] == '\0') return at == end_ ? at : nullptr;
        break;
      case kEscape: {
        const char* const before = pattern;
        bool goes_on = false;
        const char* const matched = MatchEscape(at, pattern, goes_on);
        if (goes_on) {
          at = matched;
          continue;
        }
        if (pattern != before) return nullptr;
        break;
      }
      default:
        break;
    }
    const char* const item_end = ItemEnd(pattern);
    switch (*item_end) {
      case '*':
        return MatchMost(at, pattern, item_end);
      case '+':
        return MatchesItem(at, pattern, item_end) ? MatchMost(at + 1, pattern, item_end) : nullptr;
      case '-':
        return MatchLeast(at, pattern, item_end);
      case '?':
        if (MatchesItem(at, pattern, item_end)) {
          const char* const end = Match(at + 1, item_end + 1);
          if (end != nullptr) return end;
        }
        pattern = item_end + 1;
        continue;
      default:
        if (!MatchesItem(at, pattern, item_end)) return nullptr;
        ++at;
        pattern = item_end;
    }
  }
}

}  // namespace mayfly::script
