// Reads ids and trim options of commands on streams.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "cache/types/stream/stream_value.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// "ms-sequence" or "ms", as in XADD, XDEL and kin.
struct StreamIdText {
  StreamId id;
  bool any_sequence = false;  // "ms-*"
};
enum class StreamIdForm : uint8_t {
  kStrict,       // "-" and "+" are no ids
  kAnySequence,  // also "ms-*"
  kRange         // "-" and "+" are the first and the last id
};
// `missing_sequence` is the sequence of an id without a sequence. Returns nothing, after an error reply, if the text is no
// id.
std::optional<StreamIdText> ReadStreamId(Context& ctx, std::string_view text, StreamIdForm form,
                                         uint64_t missing_sequence = 0);

// An id of the strict form, without an error reply.
std::optional<StreamId> ParseStreamId(std::string_view text) noexcept;

// A bound of XRANGE; "(" before an id excludes the id.
std::optional<StreamId> ReadRangeStart(Context& ctx, std::string_view text);
std::optional<StreamId> ReadRangeEnd(Context& ctx, std::string_view text);

void ReplyStreamId(Context& ctx, StreamId id);
// The id and the array of fields and values; ReplyStreamEntry makes an array of them.
void ReplyStreamEntryParts(Context& ctx, const StreamEntry& entry);
void ReplyStreamEntry(Context& ctx, const StreamEntry& entry);
// The array of entries from `low` to `high`, at most `count` (0: no limit). Returns the number of entries.
size_t ReplyStreamRange(Context& ctx, const StreamValue& stream, StreamId low, StreamId high, uint64_t count,
                        bool falling = false);

// Reads KEEPREF, DELREF or ACKED, if one comes next. Returns false if none does.
bool AcceptReferences(Args& args, std::optional<StreamReferences>& references);

// The options of XADD and XTRIM.
struct StreamAddOptions {
  std::optional<StreamReferences> references = {};
  std::optional<StreamTrim> trim = {};
  bool no_new_stream = false;           // NOMKSTREAM
  std::optional<StreamIdText> id = {};  // of XADD; nothing for "*"
};
// Reads the options from the cursor on; for XADD also the id, up to the first field. False after an error reply.
bool ReadStreamAddOptions(Context& ctx, Args& args, bool adds, StreamAddOptions& options);

}  // namespace mayfly
