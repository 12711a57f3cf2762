// Finds hashes for commands, and writes answers from hashes.
#pragma once

#include <span>
#include <string_view>

#include "cache/types/hash_value.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "exec/values/edit_or_create.h"
#include "exec/values/kept_deadlines.h"
#include "exec/values/timed_access.h"

namespace mayfly {

// The hash that a command reads, without fields that are due; null if there is no such key. False, after having
// answered the error, if the key holds another type.
inline bool ReadHash(Context& ctx, const Key& key, HashValue*& hash) {
  Typed<HashValue> found;
  if (!ReadLive(ctx, key, found)) return false;
  hash = found.value;
  return true;
}

// The hash that a command changes; both null if there is no such key. Likewise.
inline bool FindHash(Context& ctx, const Key& key, Typed<HashValue>& found) {
  return FindLive(ctx, key, found);
}

inline HashLimits HashLimitsOf(Context& ctx) {
  const config::Settings& settings = ctx.server.options.settings();
  return {.fields = static_cast<size_t>(settings.hash_max_listpack_entries),
          .text_bytes = settings.hash_max_listpack_value};
}

// Sets fields (HashValue::Set), and reports that as `event`. Returns how many are new.
inline size_t SetFields(Context& ctx, const Key& key, const Typed<HashValue>& found,
                        std::span<const std::string_view> pairs, bool keep_deadlines, const Event& event) {
  HashValue::Progress progress;
  Effect effect{.command = "HSET", .arguments = pairs};
  KeptDeadlines kept;
  bool tells = event.effect == nullptr;
  if (tells && keep_deadlines && found.value != nullptr && ctx.server.databases.changes().WantsEffects()) {
    tells = kept.Note(*found.value, pairs, ctx.now);
    effect.next = kept.first();
  }
  const Event told = tells ? event.With(effect) : event;
  EditOrCreate<HashValue>(
      ctx, key, found,
      [&](HashValue& hash) {
        hash.Set(pairs, HashLimitsOf(ctx), ctx.keyspace.home(), keep_deadlines, progress);
      },
      [&] { return progress.fields != 0 ? &told : nullptr; });
  return progress.added;
}

}  // namespace mayfly
