#include "exec/arguments/expire_options.h"

namespace mayfly {

void RefuseExpireTime(Context& ctx) { ctx.Fail(errors::InvalidExpireTime(ctx.row.full_name)); }

}  // namespace mayfly
