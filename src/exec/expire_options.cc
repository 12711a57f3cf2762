#include "exec/expire_options.h"

#include "base/numbers.h"

namespace mayfly {
std::optional<int64_t> ToMilliseconds(int64_t number, TimeUnit unit) noexcept {
  if (unit == TimeUnit::kMilliseconds) return number;
  int64_t ms = 0;
  if (__builtin_mul_overflow(number, int64_t{1000}, &ms)) return std::nullopt;
  return ms;
}

bool ReadExpiry(Context& ctx, std::string_view number, TimeUnit unit, TimeBase base, Expiry& expiry) {
  const std::optional<int64_t> parsed = ParseInteger(number);
  if (!parsed) {
    ctx.Fail(errors::kNotInteger);
    return false;
  }
  const std::optional<int64_t> ms = ToMilliseconds(*parsed, unit);
  // The deadline of a relative TTL is monotonic, yet EXPIRETIME must be able to tell it as Unix time.
  int64_t unix_ms = 0;
  if (!ms || *ms <= 0 || (base == TimeBase::kNow && __builtin_add_overflow(*ms, ctx.now.wall_ms, &unix_ms))) {
    ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name));
    return false;
  }
  expiry = base == TimeBase::kEpoch ? Expiry::At(*ms) : Expiry::In(static_cast<uint64_t>(*ms), ctx.now);
  return true;
}

}  // namespace mayfly
