// Lets a client wait that would change a stream while the stream is saved in slices (saved_access.h). Both functions throw
// RequestPostponed. REQUIRES: the request has changed nothing and written no reply yet.
#pragma once

#include "cache/types/stream/stream_value.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// Must precede a trim of the stream, which may be absent, or the deletion of entries up to an ID. Waits only until a save has
// read most of what goes.
void AwaitSaveForTrim(Context& ctx, const Typed<StreamValue>& found, const StreamTrim& trim);
// Must precede a change of the stream's groups. A save reads groups at once before they change; if they hold much, the request
// waits until they are read.
void AwaitSaveOfGroups(Context& ctx, Entry& entry, const StreamValue& stream);

}  // namespace mayfly
