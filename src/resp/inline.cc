#include "resp/inline.h"

#include <cassert>
#include <cstddef>
#include <utility>

#include "base/text/ascii.h"

namespace mayfly::resp {
namespace {

// isspace of the "C" locale.
bool IsBlank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r'); }
// As in Redis, form feed and vertical tab are skipped before a word but do not end one.
bool EndsWord(char c) noexcept { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }
bool IsQuote(char c) noexcept { return c == '"' || c == '\''; }

char Unescape(char c) noexcept {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

class Splitter {
 public:
  Splitter(std::string_view line, ArgList& args) noexcept : line_(line), args_(args) {}

  bool Run() {
    const size_t before = args_.size();
    for (;;) {
      while (!AtEnd() && IsBlank(line_[at_])) ++at_;
      if (AtEnd()) return true;
      if (!Word()) {
        args_.Truncate(before);
        return false;
      }
    }
  }

 private:
  bool AtEnd() const noexcept { return at_ == line_.size(); }

  bool Word() {
    const size_t begin = at_;
    while (!AtEnd() && !EndsWord(line_[at_]) && !IsQuote(line_[at_])) ++at_;
    const std::string_view plain = line_.substr(begin, at_ - begin);
    if (AtEnd() || !IsQuote(line_[at_])) {
      args_.Add(plain);
      return true;
    }
    if (!text_) MakeText();
    char* const word = out_;
    out_ += plain.copy(out_, plain.size());
    const char quote = line_[at_++];
    if (!(quote == '"' ? DoubleQuoted() : SingleQuoted())) return false;
    args_.Add({word, static_cast<size_t>(out_ - word)});
    return AtEnd() || IsBlank(line_[at_]);
  }

  // Copies the word's text up to the closing quote and skips the quote. Returns false without a closing quote.
  bool DoubleQuoted() noexcept {
    while (!AtEnd()) {
      const char c = line_[at_++];
      if (c == '"') return true;
      *out_++ = c == '\\' && !AtEnd() ? Escape() : c;
    }
    return false;
  }
  bool SingleQuoted() noexcept {
    while (!AtEnd()) {
      char c = line_[at_++];
      if (c == '\'') return true;
      if (c == '\\' && !AtEnd() && line_[at_] == '\'') c = line_[at_++];
      *out_++ = c;
    }
    return false;
  }
  // Decodes the escape sequence after a backslash.
  // REQUIRES: !AtEnd().
  char Escape() noexcept {
    assert(!AtEnd());
    const char c = line_[at_++];
    if (c != 'x' || line_.size() - at_ < 2) return Unescape(c);
    const int high = HexDigit(line_[at_]);
    const int low = HexDigit(line_[at_ + 1]);
    if (high < 0 || low < 0) return c;
    at_ += 2;
    return static_cast<char>(high * 16 + low);
  }

  // Words only get shorter: a block of the line's length has room for all words.
  void MakeText() {
    SharedBytes text = SharedBytes::Allocate(line_.size());
    out_ = text.data();
    text_ = true;
    args_.Keep(ArgList::kNoArgument, std::move(text));
  }

  const std::string_view line_;
  ArgList& args_;
  size_t at_ = 0;
  bool text_ = false;
  char* out_ = nullptr;
};

}  // namespace

bool SplitInline(std::string_view line, ArgList& args) { return Splitter(line, args).Run(); }

}  // namespace mayfly::resp
