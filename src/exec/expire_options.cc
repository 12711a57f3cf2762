#include "exec/expire_options.h"

#include "base/numbers.h"

namespace mayfly {

bool ToMilliseconds(int64_t number, TimeUnit unit, int64_t& ms) noexcept {
  constexpr int64_t kMsPerSecond = 1000;
  return !__builtin_mul_overflow(number, unit == TimeUnit::kSeconds ? kMsPerSecond : 1, &ms);
}

bool ReadExpiry(Context& ctx, std::string_view number, TimeUnit unit, TimeBase base, Expiry& expiry) {
  int64_t parsed = 0;
  if (!ParseInteger(number, parsed)) {
    ctx.Fail(errors::kNotInteger);
    return false;
  }
  int64_t ms = 0;
  int64_t unix_ms = 0;
  // The deadline of a relative TTL is monotonic, yet EXPIRETIME must be able to tell it as Unix time.
  if (!ToMilliseconds(parsed, unit, ms) || ms <= 0 ||
      (base == TimeBase::kNow && __builtin_add_overflow(ms, ctx.now.wall_ms, &unix_ms))) {
    ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name));
    return false;
  }
  expiry = base == TimeBase::kEpoch ? Expiry::At(ms) : Expiry::In(static_cast<uint64_t>(ms), ctx.now);
  return true;
}

}  // namespace mayfly
