// The expiry options of SET, GETEX and similar commands: EX, PX, EXAT and PXAT with a number.
//
// Redis reads the words of all options before any number, so reading has two steps: Take while the cursor passes the
// options, Resolve when the rest of the command is known to be well formed. Holds views of the arguments: dies when the
// handler returns.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/text/numbers.h"
#include "base/time/clock.h"
#include "exec/arguments/word.h"
#include "exec/dispatch/context.h"

namespace mayfly {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// Sets `ms` to `number` of `unit`; false if the product does not fit into 64 bits.
inline bool ToMilliseconds(int64_t number, TimeUnit unit, int64_t& ms) noexcept {
  return !__builtin_mul_overflow(number, unit == TimeUnit::kSeconds ? kMsPerSecond : 1, &ms);
}

// Answers with the error for an invalid time to live.
[[gnu::cold]] void RefuseExpireTime(Context& ctx);

// Sets `expiry` by `number`. False, after an error reply, if the text is not a number, not positive, or if the Unix time in
// ms does not fit into 64 bits.
[[gnu::always_inline]] inline bool ReadExpiry(Context& ctx, std::string_view number, TimeUnit unit,
                                              TimeBase base, Expiry& expiry) {
  int64_t parsed = 0;
  if (!ParseInteger(number, parsed)) [[unlikely]] {
    ctx.Fail(errors::kNotInteger);
    return false;
  }
  int64_t ms = 0;
  int64_t unix_ms = 0;
  // The deadline of a relative TTL is monotonic, but EXPIRETIME must be able to show the deadline as Unix time.
  if (!ToMilliseconds(parsed, unit, ms) || ms <= 0 ||
      (base == TimeBase::kNow && __builtin_add_overflow(ms, ctx.now.wall_ms, &unix_ms))) [[unlikely]] {
    RefuseExpireTime(ctx);
    return false;
  }
  expiry = base == TimeBase::kEpoch ? Expiry::At(ms) : Expiry::In(static_cast<uint64_t>(ms), ctx.now);
  return true;
}

class ExpireOption {
 public:
  // Takes the number after `word`, the word just read. False if `word` is none of the four words, if the number is missing,
  // or if a different word was given before. The same word may be given again: the last number counts.
  bool Take(uint64_t word, Args& args) noexcept {
    switch (word) {
      case WordOf("EX"):
        return TakeNumber(word, TimeUnit::kSeconds, TimeBase::kNow, args);
      case WordOf("PX"):
        return TakeNumber(word, TimeUnit::kMilliseconds, TimeBase::kNow, args);
      case WordOf("EXAT"):
        return TakeNumber(word, TimeUnit::kSeconds, TimeBase::kEpoch, args);
      case WordOf("PXAT"):
        return TakeNumber(word, TimeUnit::kMilliseconds, TimeBase::kEpoch, args);
      default:
        return false;
    }
  }

  bool given() const noexcept { return word_ != 0; }
  TimeBase base() const noexcept { return base_; }
  // Seconds if no option was given.
  TimeUnit unit() const noexcept { return unit_; }
  // True for a valid time that has come already: of EXAT or PXAT. A key with such a deadline goes at once.
  bool IsPast(Now now) const noexcept {
    int64_t number = 0;
    int64_t ms = 0;
    return given() && base_ == TimeBase::kEpoch && ParseInteger(number_, number) &&
           ToMilliseconds(number, unit_, ms) && ms > 0 && ms <= now.wall_ms;
  }
  // Like ReadExpiry. REQUIRES: given().
  [[gnu::noinline]] bool Resolve(Context& ctx, Expiry& expiry) const {
    assert(given());
    return ReadExpiry(ctx, number_, unit_, base_, expiry);
  }

 private:
  bool TakeNumber(uint64_t word, TimeUnit unit, TimeBase base, Args& args) noexcept {
    if (args.Done() || (given() && word_ != word)) return false;
    word_ = word;
    unit_ = unit;
    base_ = base;
    number_ = args.Next();
    return true;
  }

  uint64_t word_ = 0;
  std::string_view number_;
  TimeUnit unit_ = TimeUnit::kSeconds;
  TimeBase base_ = TimeBase::kNow;
};

}  // namespace mayfly
