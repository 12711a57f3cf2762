#include "exec/values/group_counts.h"

#include "cache/types/stream/stream_groups.h"

namespace mayfly {
namespace {

// Clients and files may name any number as what a group has read, and as what was added to its stream. So sums are unsigned, and
// wrap as Redis's do.

// Number of entries ever added up to this ID, of a stream with this first entry; StreamGroup::kUnknown if the stream does not know.
int64_t AddedUpTo(const StreamValue& stream, StreamId first, StreamId id) {
  const auto added = static_cast<int64_t>(stream.added());
  if (added == 0) return 0;
  if (stream.length() == 0 && id <= stream.last_id()) return added;
  if (id != StreamId{} && id < stream.max_deleted_id()) return StreamGroup::kUnknown;
  if (id == stream.last_id()) return added;
  if (id > stream.last_id()) return StreamGroup::kUnknown;
  const bool whole = stream.max_deleted_id() == StreamId{} || stream.max_deleted_id() < first;
  if (!whole || id > first) return StreamGroup::kUnknown;
  return static_cast<int64_t>(stream.added() - stream.length() + (id == first ? 1 : 0));
}

// True if an entry after the ID, among those that are left, may have been deleted.
bool HasGapsAfter(const StreamValue& stream, StreamId first, StreamId id) {
  const StreamId deleted = stream.max_deleted_id();
  if (stream.length() == 0 || deleted == StreamId{}) return false;
  return deleted >= first && deleted >= id;
}

}  // namespace

void DeliveryCount::Add(StreamGroup& group, StreamId id) const {
  const bool counts = group.entries_read != StreamGroup::kUnknown && group.last_id >= first_ &&
                      !HasGapsAfter(stream_, first_, group.last_id);
  if (counts)
    group.entries_read = static_cast<int64_t>(static_cast<uint64_t>(group.entries_read) + 1);
  else if (stream_.added() != 0)
    group.entries_read = AddedUpTo(stream_, first_, id);
  group.last_id = id;
}

std::optional<int64_t> LagOf(const StreamValue& stream, const StreamGroup& group) {
  const auto added = static_cast<int64_t>(stream.added());
  if (added == 0 || stream.length() == 0) return 0;
  const StreamId first = stream.FirstEntryId();
  if (group.last_id < first && stream.max_deleted_id() < first) return static_cast<int64_t>(stream.length());
  const int64_t read =
      group.entries_read != StreamGroup::kUnknown && !HasGapsAfter(stream, first, group.last_id)
          ? group.entries_read
          : AddedUpTo(stream, first, group.last_id);
  if (read == StreamGroup::kUnknown) return std::nullopt;
  return static_cast<int64_t>(stream.added() - static_cast<uint64_t>(read));
}

}  // namespace mayfly
