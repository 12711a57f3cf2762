// Changes a part of a string and may grow the string, for APPEND, SETRANGE and the bitmap commands.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/memory/shared_bytes.h"
#include "cache/entry/value.h"
#include "config/sources/options.h"
#include "exec/values/saved_access.h"
#include "exec/values/string_access.h"

namespace mayfly {

// The bytes of a new value, zeros at first: in this object if small enough for an entry, else in a block.
class StringDraft {
 public:
  // Throws std::bad_alloc.
  explicit StringDraft(size_t size) : size_(size) {
    if (size > sizeof near_) {
      far_ = SharedBytes::Zeros(size);
    } else {
      std::memset(near_, 0, size);
    }
  }
  StringDraft(const StringDraft&) = delete;
  StringDraft& operator=(const StringDraft&) = delete;

  char* data() noexcept { return far_ ? far_.data() : near_; }
  // Borrows the bytes: the draft must live until the keyspace has stored them.
  StringValue Take() {
    if (far_) return StringValue::Block(std::move(far_));
    return StringValue::Edited({near_, size_});
  }

 private:
  size_t size_;
  SharedBytes far_;
  char near_[Entry::kMaxInlineValue];
};

// The bytes of a string that an edit may change.
struct EditedBytes {
  size_t begin = 0;
  size_t end = 0;
};

// Extends the string of `key` with zeros to at least `edited.end` bytes, and calls `write` with the first byte of the string; write
// returns true if any byte has changed. An absent key (null) is created; an existing key keeps its expiry. A change is reported as
// `event`. The request may wait for a save of the string (TextEdit).
// REQUIRES: `existing` is a string, and the result of Find for the key just before.
template <typename Write>
void EditString(Context& ctx, const Key& key, Entry* existing, EditedBytes edited, const Event& event,
                Write&& write) {
  assert(existing == nullptr || (IsString(*existing) && existing->key() == key.text));
  if (existing != nullptr && existing->encoding() == Encoding::kBlock) {
    const TextEdit edit(ctx, *existing, edited.begin, edited.end);
    return ctx.keyspace.EditBlock(*ctx.keyspace.WithDeadline(key, *existing, ctx.now), edited.end, event,
                                  write);
  }
  // `write` may begin to answer, so any refusal of a new key must come first.
  const Expiry expiry = existing == nullptr
                            ? ctx.keyspace.lifetimes().Obeying(key.text, Expiry::Never(), ctx.now)
                            : Expiry::Never();
  char digits[kMaxIntegerText];
  const std::string_view old = existing != nullptr ? TextOf(*existing, digits) : std::string_view();
  StringDraft draft(std::max(edited.end, old.size()));
  old.copy(draft.data(), old.size());
  // An unchanged text is stored nevertheless: the value may have been an integer.
  const bool changed = write(draft.data()) || existing == nullptr || edited.end > old.size();
  if (existing == nullptr)
    ctx.keyspace.Put(key, nullptr, draft.Take(), expiry, ctx.now, event);
  else
    ctx.keyspace.PutValue(key, *existing, draft.Take(), ctx.now, changed ? event : events::kUnreported);
}

// False, after an error reply, if the sum is more than proto-max-bulk-len. What a master has sent has no limit.
inline bool RequireStringSize(Context& ctx, uint64_t size, uint64_t more) {
  const uint64_t most = ctx.server.options.settings().proto_max_bulk_len;
  if ((size <= most && more <= most - size) || ctx.origin == Origin::kMaster) return true;
  ctx.Fail(errors::kStringTooBig);
  return false;
}

}  // namespace mayfly
