// Finds and changes consumer groups of streams, for commands.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "cache/keyspace/databases.h"
#include "cache/types/stream/stream_groups.h"
#include "cache/types/stream/stream_value.h"
#include "exec/dispatch/context.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/stream_saved_access.h"

namespace mayfly {

// A change of a group that has no name among the notifications: what was delivered, claimed or acknowledged.
inline constexpr Event kDelivered{.name = "", .unseen = true};
inline constexpr Event kConsumerCreated{.name = "xgroup-createconsumer", .unseen = true};

// Milliseconds since a time of a group, which may come from a payload: 0 if the clock was set back, or, as in Redis, if the number
// does not fit into 64 bits.
inline int64_t MsSince(const Context& ctx, int64_t then_ms) noexcept {
  const uint64_t wrapped = static_cast<uint64_t>(ctx.now.wall_ms) - static_cast<uint64_t>(then_ms);
  return std::max<int64_t>(static_cast<int64_t>(wrapped), 0);
}

inline bool WantsEffects(const Context& ctx) noexcept {
  return ctx.server.databases.changes().WantsEffects();
}

struct FoundGroup {
  Entry* entry = nullptr;
  StreamValue* stream = nullptr;
  const StreamGroup* group = nullptr;  // null: no such key, or no such group
};

// Reads the key. False after the error of a key of another type. REQUIRES: AwaitSaveOfGroups precedes a change.
bool FindGroup(Context& ctx, const Key& key, std::string_view name, FoundGroup& found);
// The error of a command on pending entries.
void FailNoGroup(Context& ctx, std::string_view key, std::string_view group);
// The error of XGROUP and XINFO.
void FailNoGroupOfKey(Context& ctx, std::string_view key, std::string_view group);

// Lets edit(StreamValue&, StreamGroup&) change a group, and reports what() then, as EditValue.
template <typename Edit, typename What>
void EditGroup(Context& ctx, const Key& key, const FoundGroup& found, Edit&& edit, What&& what) {
  EditValue<StreamValue>(
      ctx, key, *found.entry,
      [&](StreamValue& stream) { edit(stream, *stream.EditGroups().Find(found.group->name)); },
      std::forward<What>(what));
}

// The consumer, which is created if there is none. Sets `created` then.
StreamConsumer& ConsumerIn(StreamGroup& group, std::string_view name, int64_t now_ms, bool& created);

}  // namespace mayfly
