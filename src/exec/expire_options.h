// The expiry options that SET, GETEX and their kin share: EX, PX, EXAT and PXAT with a number.
//
// Redis looks at the words of all options before it looks at any number, so reading has two steps: Accept
// while the cursor passes the options, Resolve when the rest of the command is known to be well formed. Holds
// views of the arguments: it dies when the handler returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "exec/context.h"

namespace mayfly {

enum class TimeUnit : uint8_t { kSeconds, kMilliseconds };
enum class TimeBase : uint8_t { kNow, kEpoch };

// `number` of `unit` in ms; nothing where 64 bits cannot say it.
std::optional<int64_t> ToMilliseconds(int64_t number, TimeUnit unit) noexcept;

// The expiry that `number` asks for; nothing, and an error answered, where it is no number, not positive, or
// its Unix time in ms is more than 64 bits can say.
std::optional<Expiry> ReadExpiry(Context& ctx, std::string_view number, TimeUnit unit, TimeBase base);

class ExpireOption {
 public:
  // Passes one option with its number. False where the next argument is none of the four, where its number is
  // missing, or where a different one was given before. The same one may come again: the last counts.
  bool Accept(Args& args) noexcept;

  bool given() const noexcept { return !word_.empty(); }
  TimeBase base() const noexcept { return base_; }
  // As ReadExpiry. REQUIRES: given().
  std::optional<Expiry> Resolve(Context& ctx) const { return ReadExpiry(ctx, number_, unit_, base_); }

 private:
  std::string_view word_;
  std::string_view number_;
  TimeUnit unit_ = TimeUnit::kSeconds;
  TimeBase base_ = TimeBase::kNow;
};

}  // namespace mayfly
