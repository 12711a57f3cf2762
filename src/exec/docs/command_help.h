// HELP of every container command, made from the container's rows and thus never out of date.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/dispatch/context.h"

namespace mayfly {

inline constexpr std::string_view kHelpOnHelp = "Prints this help.";

// The lines of a HELP reply: a heading, and two lines for each subcommand. Names become upper case.
class HelpText {
 public:
  explicit HelpText(std::string_view container);
  void Add(std::string_view name, std::string_view syntax, std::string_view summary);
  void Reply(resp::Writer& reply) const;

 private:
  std::vector<std::string> lines_;
};

// REQUIRES: ctx.row is a subcommand.
void ReplyHelp(Context& ctx, Args& args);

// The row of HELP, for a container's subcommands.
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
