// The handler of every HELP subcommand: its text is made from the container's rows, so it cannot be out of
// date.
#pragma once

#include "exec/context.h"

namespace mayfly {

// REQUIRES: ctx.row is a subcommand.
void ReplyHelp(Context& ctx, Args& args);

}  // namespace mayfly
