#include "exec/values/stream_saved_access.h"

#include "cache/types/stream/stream_groups.h"
#include "cache/types/value_listeners.h"
#include "exec/values/saved_access.h"

namespace mayfly {

void AwaitSaveForTrim(Context& ctx, const Typed<StreamValue>& found, const StreamTrim& trim) {
  if (found.value == nullptr || !ctx.server.databases.walked()) return;
  if (found.value->MayTrimMoreThan(kTakenAtOnce, trim)) AwaitSave(ctx, found.entry);
  if (trim.references == StreamReferences::kDelete) AwaitSaveOfGroups(ctx, *found.entry, *found.value);
}

void AwaitSaveOfGroups(Context& ctx, Entry& entry, const StreamValue& stream) {
  if (!ctx.server.databases.walked() || !ctx.MayBePostponed()) return;
  if (stream.groups() == nullptr || !stream.groups()->IsLarge()) return;
  ctx.keyspace.ShowToWalk(entry);
  const StreamListener* const listener = stream.stream_listener();
  if (listener != nullptr && listener->UnreadPending() > kTakenAtOnce) AwaitSaveOf(ctx, entry);
}

}  // namespace mayfly
