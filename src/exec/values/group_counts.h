// How far a consumer group has come in its stream, in numbers of entries: entries-read and lag of XINFO.
//
// A group counts the entries that it has delivered. When it begins in the middle of a stream, or entries between are deleted, the
// count can be known from the stream alone only in some places: at its first entry, at its last one, and before the first one.
// See the command page of XINFO GROUPS.
#pragma once

#include <cstdint>
#include <optional>

#include "cache/types/stream/stream_value.h"

namespace mayfly {

class StreamGroup;

// Counts the entries that a group delivers, one after the other. The stream must not change meanwhile.
class DeliveryCount {
 public:
  explicit DeliveryCount(const StreamValue& stream) : stream_(stream), first_(stream.FirstEntryId()) {}

  // The group delivers this entry, which becomes its last one.
  void Add(StreamGroup& group, StreamId id) const;

 private:
  const StreamValue& stream_;
  const StreamId first_;
};

// Entries that the group has still to deliver; nothing if nobody can know.
std::optional<int64_t> LagOf(const StreamValue& stream, const StreamGroup& group);

}  // namespace mayfly
