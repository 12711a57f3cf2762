// JITTER and SLIDE: words beside a relative TTL of SET, GETEX, EXPIRE and PEXPIRE.
//
//   EX 1800 JITTER 5          a deadline by chance between 5 % earlier and 5 % later
//   EX 1800 SLIDE             each access moves the deadline to 1800 s after it
//   EX 1800 SLIDE MAX 86400   but at most to 86400 s after now; in the unit of the TTL, and not less than the TTL
//
// Reads in two steps, like ExpireOption, and holds views of the arguments.
#pragma once

#include <optional>
#include <string_view>

#include "exec/arguments/expire_options.h"

namespace mayfly {

class TtlWords {
 public:
  static constexpr int64_t kJitterMax = 100;  // percent

  // Takes the arguments after `word`, the word just read. False if `word` is neither JITTER nor SLIDE, if the number is
  // missing, or if the word was given before; problem() says why.
  bool Take(uint64_t word, Args& args) noexcept;
  bool given() const noexcept { return slides_ || jitter_; }
  // True if the words may be used with `expire`: only a relative TTL has jitter or slides.
  bool Fits(const ExpireOption& expire) noexcept {
    if (!given() || (expire.given() && expire.base() == TimeBase::kNow)) return true;
    problem_ = "ERR JITTER and SLIDE need a relative TTL: EX or PX";
    return false;
  }
  // Why Take or Fits failed, as an error text: Redis's "ERR syntax error" if none of the words was the reason.
  std::string_view problem() const noexcept { return problem_; }
  // Changes the relative `expiry`, and writes the rules of SLIDE to `terms`. False after an error reply. REQUIRES: expiry is
  // relative and was read at ctx.now.
  bool Resolve(Context& ctx, TimeUnit unit, Expiry& expiry, EntryTerms& terms) const;

 private:
  bool Blame(std::string_view problem) noexcept {
    problem_ = problem;
    return false;
  }

  std::optional<std::string_view> jitter_;
  std::optional<std::string_view> most_;  // SLIDE MAX
  bool slides_ = false;
  std::string_view problem_ = errors::kSyntax;
};

}  // namespace mayfly
