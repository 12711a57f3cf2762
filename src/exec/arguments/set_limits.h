// The options with the limits for each form of a set.
#pragma once

#include "cache/types/set_value.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"

namespace mayfly {

inline SetLimits SetLimitsOf(const Context& ctx) noexcept {
  const config::Settings& settings = ctx.server.options.settings();
  return {.integers = static_cast<size_t>(settings.set_max_intset_entries),
          .packed = static_cast<size_t>(settings.set_max_listpack_entries),
          .packed_bytes = settings.set_max_listpack_value};
}

}  // namespace mayfly
