// HELP of every container: its text is made from the container's rows, so it cannot be out of date.
#pragma once

#include "exec/context.h"

namespace mayfly {

// REQUIRES: ctx.row is a subcommand.
void ReplyHelp(Context& ctx, Args& args);

// The row of it, for a container's subcommands.
constexpr Command HelpRow(std::string_view since, uint32_t acl = 0) noexcept {
  return {.name = "help",
          .arity = 2,
          .flags = kLoading | kStale,
          .acl = acl,
          .handler = ReplyHelp,
          .since = since,
          .complexity = "O(1)",
          .summary = "Lists the subcommands."};
}

}  // namespace mayfly
