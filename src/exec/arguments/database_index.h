// Reads the number of a database, for SELECT, MOVE, COPY and SWAPDB.
#pragma once

#include <optional>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Returns nothing, after an error reply, if the text is not a number, not a 32-bit number or not a database.
inline std::optional<unsigned> ReadDatabaseIndex(Context& ctx, std::string_view text) {
  const std::optional<int64_t> index = ParseInteger(text);
  if (!index) return ctx.Fail(errors::kNotInteger), std::nullopt;
  if (*index < INT32_MIN || *index > INT32_MAX) return ctx.Fail(errors::kNotInt32), std::nullopt;
  if (*index < 0 || *index >= static_cast<int64_t>(ctx.server.databases.count()))
    return ctx.Fail(errors::kNoSuchDatabase), std::nullopt;
  return static_cast<unsigned>(*index);
}

}  // namespace mayfly
