// How commands find hashes, and what they answer with.
#pragma once

#include <memory>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include "cache/types/hash_value.h"
#include "config/options.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// A command drops at most this many members that are due. The value treats the others as absent, and the loop drops
// them in slices.
inline constexpr size_t kDropAtOnce = 10'000;

// Drops what is due of a value that was found. A key without other members is gone.
template <typename T>
inline void DropDueMembers(Context& ctx, const Key& key, Typed<T>& found) {
  if (found.entry == nullptr || !found.entry->timed()) [[likely]]
    return;
  found.entry = ctx.keyspace.DropDueMembers(key, *found.entry, ctx.now, kDropAtOnce);
  if (found.entry == nullptr) found.value = nullptr;
}

// The hash that a command reads, without fields that are due; null if there is no such key. False, after having
// answered the error, if the key holds another type.
inline bool ReadHash(Context& ctx, const Key& key, HashValue*& hash) {
  Typed<HashValue> found;
  if (!ctx.ReadTyped(key, found)) return false;
  DropDueMembers(ctx, key, found);
  hash = found.value;
  return true;
}

// The hash that a command changes; both null if there is no such key. Likewise.
inline bool FindHash(Context& ctx, const Key& key, Typed<HashValue>& found) {
  if (!ctx.FindTyped(key, found)) return false;
  DropDueMembers(ctx, key, found);
  return true;
}

inline HashLimits HashLimitsOf(Context& ctx) {
  const config::Settings& settings = ctx.server.options.settings();
  return {.fields = static_cast<size_t>(settings.hash_max_listpack_entries),
          .text_bytes = settings.hash_max_listpack_value};
}

// Lets edit(HashValue&, changed) change the hash, which sets `changed` once it has changed anything, and reports that
// as `event`. If memory runs out in between, what was done is reported all the same, and std::bad_alloc is thrown;
// the client is closed then, because an error would say that nothing was done. Returns the entry, or null if the key
// was removed with its last field.
template <typename Edit>
Entry* EditFields(Context& ctx, const Key& key, Entry& entry, const Event& event, Edit&& edit) {
  bool failed = false;
  bool changed = false;
  Entry* const kept = ctx.keyspace.EditRich<HashValue>(key, entry, ctx.now, event, [&](HashValue& hash) {
    try {
      edit(hash, changed);
    } catch (const std::bad_alloc&) {
      failed = true;
    }
    return changed;
  });
  if (failed && changed) ctx.session.pool.NoteFailed();
  if (failed) throw std::bad_alloc();
  return kept;
}

// Sets fields (HashValue::Set), and reports that as `event`. Returns how many are new.
inline size_t SetFields(Context& ctx, const Key& key, const Typed<HashValue>& found,
                        std::span<const std::string_view> pairs, bool keep_deadlines, const Event& event) {
  HashValue::Progress progress;
  const auto set = [&](HashValue& hash) {
    hash.Set(pairs, HashLimitsOf(ctx), ctx.keyspace.home(), keep_deadlines, progress);
  };
  if (found.entry == nullptr) {
    auto fresh = std::make_unique<HashValue>();
    set(*fresh);
    ctx.keyspace.PutRich(key, nullptr, std::move(fresh), Expiry::Never(), ctx.now, event);
    return progress.added;
  }
  EditFields(ctx, key, *found.entry, event, [&](HashValue& hash, bool& changed) {
    try {
      set(hash);
    } catch (...) {
      changed = progress.fields != 0;
      throw;
    }
    changed = true;
  });
  return progress.added;
}

}  // namespace mayfly
