#include "snapshot/values/stream_out.h"

#include <array>
#include <new>
#include <span>
#include <string_view>
#include <vector>

#include "cache/types/stream/stream_groups.h"
#include "snapshot/format/byte_order.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

// A listpack of this size gets no further entry.
constexpr size_t kEnoughBytes = size_t{1} << 20;
// The most bytes of an item's head and back length.
constexpr size_t kItemOverhead = 10;

// Items of an entry beside its fields and values.
constexpr int64_t kItemsWithSameFields = 3;
constexpr int64_t kItemsWithOwnFields = 4;

// Reserves room for a length still unknown, in the form of 4 bytes.
class LaterLength {
 public:
  explicit LaterLength(std::string& bytes) : bytes_(bytes), at_(bytes.size()) {
    bytes.push_back(static_cast<char>(length_form::kBits32));
    bytes.append(sizeof(uint32_t), '\0');
  }
  void Set(uint32_t length) noexcept {
    for (size_t i = sizeof length; i != 0; --i, length >>= 8) bytes_[at_ + i] = static_cast<char>(length);
  }

 private:
  std::string& bytes_;
  const size_t at_;
};

static_assert(StreamValue::kMostSaved + kEnoughBytes <= ListpackWriter::kMost / 2 - kEnoughBytes);

// Throws std::bad_alloc if the entry is too large for a listpack, which has the fields of the first entry twice.
size_t RoomFor(const StreamEntry& entry) {
  size_t bytes = (kItemsWithOwnFields + 1) * kItemOverhead;
  entry.ForEach([&](std::string_view field, std::string_view value) {
    bytes += field.size() + value.size() + 2 * kItemOverhead;
  });
  if (bytes >= ListpackWriter::kMost / 2 - kEnoughBytes) throw std::bad_alloc();
  return bytes;
}

bool HasFields(const StreamEntry& entry, const std::vector<std::string>& fields) {
  if (entry.fields() != fields.size()) return false;
  size_t equal = 0;
  size_t at = 0;
  entry.ForEach([&](std::string_view field, std::string_view) { equal += field == fields[at++] ? 1U : 0U; });
  return equal == fields.size();
}

class NodeWriter {
 public:
  NodeWriter(Compression compression, std::string& bytes) : out_(bytes, compression) {}

  // Writes the entries of a node as one listpack, or as several for large entries. Returns the number of listpacks.
  uint32_t Node(std::span<const StreamEntry> entries) {
    uint32_t written = 0;
    for (; !entries.empty(); ++written) {
      size_t count = 0;
      for (size_t bytes = 0; count < entries.size() && bytes < kEnoughBytes; ++count)
        bytes += RoomFor(entries[count]);
      Listpack(entries.first(count));
      entries = entries.subspan(count);
    }
    return written;
  }

  // Returns the size of the listpack.
  size_t Listpack(std::span<const StreamEntry> entries) {
    const StreamId first = entries[0].id;
    listpack_.Clear();
    listpack_.Append(static_cast<int64_t>(entries.size()));
    listpack_.Append(int64_t{0});
    fields_.clear();
    entries[0].ForEach([&](std::string_view field, std::string_view) { fields_.emplace_back(field); });
    listpack_.Append(static_cast<int64_t>(fields_.size()));
    for (const std::string& field : fields_) listpack_.Append(field);
    listpack_.Append(int64_t{0});
    for (const StreamEntry& entry : entries) AppendEntry(entry, first);
    out_.Length(Out::kStreamIdBytes);
    out_.StreamId(first.ms, first.sequence);
    const std::string_view finished = listpack_.Finish();
    out_.String(finished);
    return finished.size();
  }

 private:
  void AppendEntry(const StreamEntry& entry, StreamId first) {
    const bool same = HasFields(entry, fields_);
    listpack_.Append(same ? stream_flag::kSameFields : int64_t{0});
    listpack_.Append(static_cast<int64_t>(entry.id.ms - first.ms));
    listpack_.Append(static_cast<int64_t>(entry.id.sequence - first.sequence));
    const auto fields = static_cast<int64_t>(entry.fields());
    if (!same) listpack_.Append(fields);
    entry.ForEach([&](std::string_view field, std::string_view value) {
      if (!same) listpack_.Append(field);
      listpack_.Append(value);
    });
    listpack_.Append(same ? fields + kItemsWithSameFields : 2 * fields + kItemsWithOwnFields);
  }

  Out out_;
  ListpackWriter listpack_;
  std::vector<std::string> fields_;
};

void WriteId(StreamId id, Out& out) {
  out.Length(id.ms);
  out.Length(id.sequence);
}

}  // namespace

// The older type has no counts of entries read: servers since Redis 7 compute a count from the group's place, if the stream has
// one for the place.
uint8_t StreamTypeOf(const StreamValue& stream) noexcept {
  bool plain = stream.added() == stream.length() && stream.max_deleted_id() == StreamId{};
  if (stream.groups() != nullptr) {
    const bool empty = stream.length() == 0;
    const StreamId first = empty ? StreamId{} : stream.FirstEntryId();
    stream.groups()->ForEach([&](const StreamGroup& group) {
      const bool is_computed = empty || group.last_id <= first || group.last_id == stream.last_id();
      plain = plain && group.entries_read == StreamGroup::kUnknown && !is_computed;
    });
  }
  return plain ? type::kStream : type::kStream2;
}

void WriteStream(const StreamValue& stream, uint8_t type, Compression compression, std::string& bytes) {
  LaterLength listpacks(bytes);
  uint32_t written = 0;
  NodeWriter writer(compression, bytes);
  stream.ForEachNode([&](std::span<const StreamEntry> entries) { written += writer.Node(entries); });
  listpacks.Set(written);
  WriteStreamTotals(stream, type, bytes);
  StreamGroupsOut groups(stream.groups(), type);
  while (!groups.Some(bytes, SIZE_MAX)) {
  }
}

size_t WriteStreamNode(std::span<const StreamEntry> entries, Compression compression, std::string& bytes) {
  size_t room = 0;
  for (const StreamEntry& entry : entries) room += RoomFor(entry);
  if (room >= ListpackWriter::kMost / 2) throw std::bad_alloc();
  return NodeWriter(compression, bytes).Listpack(entries);
}

void WriteStreamTotals(const StreamValue& stream, uint8_t type, std::string& bytes) {
  Out out(bytes);
  out.Length(stream.length());
  WriteId(stream.last_id(), out);
  if (type != type::kStream2) return;
  WriteId(stream.FirstEntryId(), out);
  WriteId(stream.max_deleted_id(), out);
  out.Length(stream.added());
}

StreamGroupsOut::StreamGroupsOut(const StreamGroups* groups, uint8_t type) noexcept
    : groups_(groups), type_(type) {
  if (groups == nullptr) return;
  groups->ForEach([&](const StreamGroup& group) { left_ += 2 * group.pending(); });
}

bool StreamGroupsOut::Some(std::string& bytes, size_t budget) {
  const size_t before = bytes.size();
  while (part_ != Part::kEnd && bytes.size() - before < budget) Piece(bytes, budget);
  return part_ == Part::kEnd;
}

void StreamGroupsOut::Piece(std::string& bytes, size_t budget) {
  Out out(bytes);
  switch (part_) {
    case Part::kCount:
      out.Length(groups_ != nullptr ? groups_->size() : 0);
      group_ = groups_ != nullptr ? groups_->After(nullptr) : nullptr;
      part_ = group_ != nullptr ? Part::kHead : Part::kEnd;
      return;
    case Part::kHead:
      out.String(group_->name);
      WriteId(group_->last_id, out);
      if (type_ == type::kStream2) out.Length(static_cast<uint64_t>(group_->entries_read));
      out.Length(group_->pending());
      from_ = {};
      part_ = Part::kPending;
      return;
    case Part::kPending:
      return PendingPiece(bytes, budget);
    case Part::kConsumers:
      out.Length(group_->consumers());
      consumer_ = group_->ConsumerAfter(nullptr);
      part_ = Part::kConsumer;
      return;
    case Part::kConsumer:
      if (consumer_ == nullptr) {
        group_ = groups_->After(group_);
        part_ = group_ != nullptr ? Part::kHead : Part::kEnd;
        return;
      }
      out.String(consumer_->name);
      out.Millis(consumer_->seen_ms);
      out.Length(consumer_->pending());
      from_ = {};
      part_ = Part::kHeld;
      return;
    case Part::kHeld:
      return HeldPiece(bytes, budget);
    case Part::kEnd:
      return;
  }
}

// `write` writes the data of an ID.
template <typename Ids, typename Write>
bool StreamGroupsOut::IdsPiece(const Ids& ids, std::string& bytes, size_t budget, Write&& write) {
  Out out(bytes);
  const size_t before = bytes.size();
  size_t written = 0;
  StreamId next = from_;
  bool more = false;
  ids.ForFrom(from_, [&](StreamId id, const auto& payload) {
    next = id;
    more = bytes.size() - before >= budget;
    if (more) return false;
    out.StreamId(id.ms, id.sequence);
    write(out, payload);
    ++written;
    return true;
  });
  left_ -= written;
  from_ = next;
  return !more;
}

void StreamGroupsOut::PendingPiece(std::string& bytes, size_t budget) {
  const bool last = IdsPiece(group_->deliveries(), bytes, budget, [](Out& out, const Delivery& delivery) {
    out.Millis(delivery.ms);
    out.Length(delivery.count);
  });
  if (last) part_ = Part::kConsumers;
}

void StreamGroupsOut::HeldPiece(std::string& bytes, size_t budget) {
  if (!IdsPiece(consumer_->ids(), bytes, budget, [](Out&, const auto&) {})) return;
  consumer_ = group_->ConsumerAfter(consumer_);
  part_ = Part::kConsumer;
}

}  // namespace mayfly::rdb
