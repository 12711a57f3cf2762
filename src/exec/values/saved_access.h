// Lets a client wait that would change a value in place while the value is saved in slices.
//
// A save sees each value as it was when the save began (snapshot/large/). A change of a hash, a set or a sorted set costs the
// save one member, a change of some bytes of a string a copy of these, and elements come and go at the ends of a list or a stream.
// But a change in the middle of a half-saved list needs the rest of the list first, and a string that becomes longer needs the
// rest of the string. Such a request waits
// (RequestPostponed), and the save puts the value aside, into memory, in its next slices, before it writes anything else: the
// wait ends then, wherever in the file the value will come. The parts of a transaction and the calls of a script cannot wait,
// and neither can a client that was blocked and is woken: they pay for the rest, or for the copy, at once.
#pragma once

#include "cache/entry/value_listener.h"
#include "cache/keyspace/databases.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// A request that takes no more elements from an end of a half-saved list or stream does not wait.
inline constexpr uint64_t kTakenAtOnce = 1000;

[[gnu::noinline, gnu::cold]] inline void AwaitSaveOf(Context& ctx, Entry& entry) {
  if (!ctx.MayBePostponed()) return;
  ctx.keyspace.ShowToWalk(entry);
  SlicedReader* const reader = ctx.server.databases.ReaderOf(entry);
  if (reader == nullptr) return;
  reader->OnAwaited();
  throw RequestPostponed();
}

// Must precede a change in place of a string, a list or a stream; `entry` may be null. Throws RequestPostponed.
// REQUIRES: the request has changed nothing and written no reply yet.
[[gnu::always_inline]] inline void AwaitSave(Context& ctx, Entry* entry) {
  if (entry != nullptr && ctx.server.databases.walked()) [[unlikely]]
    AwaitSaveOf(ctx, *entry);
}

// A change in place of some bytes of a string, as long as this object lives. If a save reads the string, the save copies these
// bytes first, or the request waits: throws RequestPostponed.
// REQUIRES: entry.encoding() == Encoding::kBlock; the request has changed nothing and written no reply yet.
class TextEdit {
 public:
  TextEdit(Context& ctx, Entry& entry, size_t begin, size_t end) {
    if (ctx.server.databases.walked()) [[unlikely]]
      Begin(ctx, entry, begin, end);
  }
  TextEdit(const TextEdit&) = delete;
  TextEdit& operator=(const TextEdit&) = delete;
  ~TextEdit() {
    if (reader_ != nullptr) [[unlikely]]
      reader_->EndEdit();
  }

 private:
  [[gnu::noinline, gnu::cold]] void Begin(Context& ctx, Entry& entry, size_t begin, size_t end) {
    ctx.keyspace.ShowToWalk(entry);
    SlicedReader* const reader = ctx.server.databases.ReaderOf(entry);
    if (reader != nullptr && reader->BeginEdit(begin, end))
      reader_ = reader;
    else
      AwaitSaveOf(ctx, entry);
  }

  SlicedReader* reader_ = nullptr;  // to be told of the end
};

}  // namespace mayfly
