#include "exec/expire_options.h"

#include "base/numbers.h"

namespace mayfly {
namespace {

struct ExpireWord {
  std::string_view word;
  TimeUnit unit;
  TimeBase base;
};

constexpr ExpireWord kExpireWords[] = {
    {"EX", TimeUnit::kSeconds, TimeBase::kNow},
    {"PX", TimeUnit::kMilliseconds, TimeBase::kNow},
    {"EXAT", TimeUnit::kSeconds, TimeBase::kEpoch},
    {"PXAT", TimeUnit::kMilliseconds, TimeBase::kEpoch},
};

}  // namespace

std::optional<int64_t> ToMilliseconds(int64_t number, TimeUnit unit) noexcept {
  if (unit == TimeUnit::kMilliseconds) return number;
  int64_t ms = 0;
  if (__builtin_mul_overflow(number, int64_t{1000}, &ms)) return std::nullopt;
  return ms;
}

std::optional<Expiry> ReadExpiry(Context& ctx, std::string_view number, TimeUnit unit, TimeBase base) {
  const std::optional<int64_t> parsed = ParseInteger(number);
  if (!parsed) {
    ctx.Fail(errors::kNotInteger);
    return std::nullopt;
  }
  const std::optional<int64_t> ms = ToMilliseconds(*parsed, unit);
  const bool positive = ms && *ms > 0;
  if (positive && base == TimeBase::kEpoch) return Expiry::At(*ms);
  // The deadline of a relative TTL is monotonic, yet EXPIRETIME must be able to tell it as Unix time.
  int64_t unix_ms = 0;
  if (positive && !__builtin_add_overflow(*ms, ctx.now.wall_ms, &unix_ms)) {
    return Expiry::In(static_cast<uint64_t>(*ms), ctx.now);
  }
  ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name));
  return std::nullopt;
}

bool ExpireOption::Accept(Args& args) noexcept {
  for (const ExpireWord& known : kExpireWords) {
    if (given() && word_ != known.word) continue;
    if (!args.Accept(known.word, 1)) continue;
    word_ = known.word;
    unit_ = known.unit;
    base_ = known.base;
    number_ = args.Next();
    return true;
  }
  return false;
}

}  // namespace mayfly
