// Reads the position of a bit, an argument of bitmap commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/bits/bits.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Returns nothing, after an error reply, if the bit would lie beyond proto-max-bulk-len. What a master has sent has no limit.
// With `field_width`, "#3" is the place of the fourth field of `field_width` bits.
inline std::optional<uint64_t> ReadBitOffset(Context& ctx, std::string_view text, unsigned field_width = 0) {
  const bool counts_fields = field_width > 0 && !text.empty() && text[0] == '#';
  std::optional<int64_t> offset = ParseInteger(counts_fields ? text.substr(1) : text);
  // Redis lets this product overflow, and then writes to another place.
  if (offset && counts_fields && __builtin_mul_overflow(*offset, int64_t{field_width}, &*offset))
    offset.reset();
  const uint64_t most_bytes = ctx.server.options.settings().proto_max_bulk_len;
  const bool fits =
      offset && *offset >= 0 &&
      (static_cast<uint64_t>(*offset) / kByteBits < most_bytes || ctx.origin == Origin::kMaster);
  if (fits) return static_cast<uint64_t>(*offset);
  ctx.Fail("ERR bit offset is not an integer or out of range");
  return std::nullopt;
}

}  // namespace mayfly
