// The value of a stream: a log of entries, each with an ascending id, fields and values.
//
// Entries lie in nodes; each node is a Pack:
//
//   | number of fields | field | ... |  then for each entry:
//   | flags | ms | sequence | value | ...                    if the fields are equal to those at the node's begin
//   | flags | ms | sequence | number of fields | field | value | ...   otherwise
//
// ms and sequence are differences from the node's first id. Deletion marks an entry; a node without unmarked entries is
// freed. Binary search of ids finds a node, and a walk through the node finds the entry.
//
// A stream without entries is kept, for its last id: Size counts the stream itself as a member. A stream may have consumer
// groups (stream_groups.h).
//
// If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "cache/entry/rich_value.h"
#include "cache/types/limits.h"
#include "cache/types/pack.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

class StreamGroups;
class StreamListener;

// What the deletion of an entry means to the groups that hold it, or have still to deliver it.
enum class StreamReferences : uint8_t {
  kKeep,    // nothing: the entry stays pending
  kDelete,  // no group holds it any more, nor what was deleted earlier and lies before the end of a trim
  kAcked    // an entry that a group is not done with is not deleted
};

// The part to cut off a stream's old end.
struct StreamTrim {
  enum class By : uint8_t { kLength, kId };
  By by = By::kLength;
  bool whole_nodes = false;  // removes only whole nodes
  uint64_t length = 0;       // entries to keep
  StreamId min_id = {};      // lower ids go
  uint64_t limit = 0;        // removes at most this number of entries; 0: no limit
  StreamReferences references = StreamReferences::kKeep;
};

// What a trim has removed.
struct StreamTrimmed {
  uint64_t entries = 0;
  uint64_t references = 0;  // kDelete: pending entries of groups

  bool any() const noexcept { return (entries | references) != 0; }
};

// An entry during a call of ForRange. Views into the node.
class StreamEntry {
 public:
  StreamEntry(const Pack& pack, StreamId its_id, Pack::At fields, Pack::At values, size_t count) noexcept
      : id(its_id), fields_(count), pack_(pack), names_(fields), values_(values) {}

  // Number of fields.
  size_t fields() const noexcept { return fields_; }
  // Calls fn(field, value) for each field, in order.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    const bool apart = names_ != values_;
    char field[PackItem::kRoom];
    char value[PackItem::kRoom];
    Pack::At name_at = names_;
    Pack::At at = values_;
    for (size_t i = 0; i < fields_; ++i) {
      Pack::At& from = apart ? name_at : at;
      const std::string_view name = pack_.ReadText(from, field);
      from = pack_.Next(from);
      fn(name, pack_.ReadText(at, value));
      at = pack_.Next(at);
    }
  }

  const StreamId id;

 private:
  const size_t fields_;
  const Pack& pack_;
  const Pack::At names_;  // equal to values_ if each field stands before its value
  const Pack::At values_;
};

class StreamValue final : public RichValue {
 public:
  static constexpr ValueType kType = ValueType::kStream;

  StreamValue() noexcept;
  ~StreamValue() override;

  std::string_view EncodingName() const noexcept override { return "stream"; }
  size_t Size() const noexcept override { return length_ + 1; }
  uint64_t Bytes() const noexcept override;
  std::unique_ptr<RichValue> Clone() const override;
  bool FreeSome(size_t budget) noexcept override;
  RichValue** BurialLink() noexcept override;
  ValueListener* listener() const noexcept override;
  const StreamListener* stream_listener() const noexcept { return listener_; }
  // The stream calls the listener before an entry goes or a group changes from now on. A listener of null ends the calls.
  void SetListener(StreamListener* listener) noexcept { listener_ = listener; }
  // Shows each entry as "ms.sequence", field, value, field ... Groups are no members.
  void ForEachMember(MemberVisitor& visitor) const override;

  // Prefetches for an Append a little later.
  void Prefetch() const noexcept {
    if (nodes() != 0) nodes_.back().pack.Prefetch();
  }

  // Returns false for an entry that no snapshot file can have: there an entry is one string, of 512 MB at most with some bytes
  // for each field and value.
  static bool CanBeSaved(std::span<const std::string_view> pairs) noexcept;
  static constexpr size_t kMostSaved = size_t{510} << 20;

  size_t length() const noexcept { return length_; }
  size_t nodes() const noexcept { return nodes_.size() - head_; }
  StreamId last_id() const noexcept { return last_id_; }
  StreamId max_deleted_id() const noexcept { return max_deleted_; }
  // Number of entries ever added.
  uint64_t added() const noexcept { return added_; }
  void SetLastId(StreamId id) noexcept { last_id_ = id; }
  void SetMaxDeletedId(StreamId id) noexcept { max_deleted_ = id; }
  void SetAdded(uint64_t added) noexcept { added_ = added; }

  // Null if there are no groups.
  const StreamGroups* groups() const noexcept { return groups_.get(); }
  // For a change of the groups: the listener sees them before. Throws std::bad_alloc.
  StreamGroups& EditGroups();

  // Adds an entry. Throws std::bad_alloc.
  // REQUIRES: id is higher than last_id(); `pairs` are fields and values, of less than Pack::kTooLong together.
  void Append(StreamId id, std::span<const std::string_view> pairs, const StreamLimits& limits);
  // Returns false if there is no entry with this id. Takes no memory.
  bool Delete(StreamId id);
  // Takes no memory.
  StreamTrimmed Trim(const StreamTrim& trim);
  // Returns true if Trim would remove more than `count` entries that the listener, if there is one, has not read; or fewer, by less
  // than the entries of a node. Looks at the nodes that would go, without a listener at `count` of them.
  bool MayTrimMoreThan(uint64_t count, const StreamTrim& trim) const noexcept;

  // True if there is an entry with a higher id.
  bool HasAfter(StreamId id) const;
  // True if there is an entry with this id.
  bool Contains(StreamId id) const;
  // The lowest and the highest id of an entry; 0-0 if there are no entries.
  StreamId FirstEntryId() const;
  StreamId LastEntryId() const;
  // Calls fn(const StreamEntry&) for the entries from `low` to `high`, in rising or falling order, until fn returns false.
  template <typename Fn>
  void ForRange(StreamId low, StreamId high, bool falling, Fn&& fn) const {
    if (falling) return ForFalling(low, high, fn);
    StreamId before = low;
    before.Decrement();
    for (size_t i = NodeBefore(low); i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      if (node.first > high) return;
      for (Pack::At at = StartIn(node, low); at != node.pack.end();) {
        const Found found = ReadEntry(node, at);
        at = found.next;
        if (found.deleted || found.id < low) continue;
        if (found.id > high) return;
        if (!fn(EntryOf(node, found))) return NoteRead(node, before, found);
        before = found.id;
      }
    }
  }

  // Calls fn(std::span<const StreamEntry>) with the entries of each node, in rising order. Throws std::bad_alloc.
  // REQUIRES: fn does not change this stream.
  template <typename Fn>
  void ForEachNode(Fn&& fn) const {
    std::vector<StreamEntry> entries;
    for (size_t i = head_; i < nodes_.size(); ++i) {
      const Node& node = nodes_[i];
      entries.clear();
      for (Pack::At at = FirstOf(node); at != node.pack.end();) {
        const Found found = ReadEntry(node, at);
        at = found.next;
        if (!found.deleted) entries.push_back(EntryOf(node, found));
      }
      fn(std::span<const StreamEntry>(entries));
    }
  }

  // Calls fn(std::span<const StreamEntry>) with the entries up to `last` of the first node whose first id is at least `from`,
  // and sets `from` to the next id, if there is one. Returns false, and calls nothing, if there is no such node up to `last`.
  // Throws std::bad_alloc. REQUIRES: as ForEachNode.
  template <typename Fn>
  bool VisitNode(StreamId& from, StreamId last, Fn&& fn) const {
    if (nodes() == 0) return false;
    size_t i = NodeBefore(from);
    if (nodes_[i].first < from) ++i;
    if (i == nodes_.size() || nodes_[i].first > last) return false;
    const Node& node = nodes_[i];
    std::vector<StreamEntry> entries;
    for (Pack::At at = FirstOf(node); at != node.pack.end();) {
      const Found found = ReadEntry(node, at);
      at = found.next;
      if (!found.deleted && found.id <= last) entries.push_back(EntryOf(node, found));
    }
    fn(std::span<const StreamEntry>(entries));
    from = node.first;
    from.Increment();
    return true;
  }

  // Reads every entry; for tests.
  bool Validate() const;

 private:
  struct Node {
    Pack pack;
    StreamId first;
    uint32_t live = 0;
    uint32_t deleted = 0;
  };
  static_assert(sizeof(Node) == 32);

  // An entry within its node.
  struct Found {
    StreamId id;
    Pack::At at;
    Pack::At next;
    Pack::At values;
    size_t fields;
    bool deleted;
    bool same_fields;
  };

  // The last entry of the last reading, of a stream with groups: consumers read on from there, and need not pass what was read.
  // The places stay as long as the node does: entries are only added at its end, and marked as deleted in their places.
  struct LastRead {
    StreamId node = {};    // its first id; 0-0, which no entry has: there is none
    StreamId before = {};  // no entry lies between this id and `id`
    StreamId id = {};
    Pack::At at = 0;
    Pack::At next = 0;
  };

  // Where a walk to `low` begins.
  Pack::At StartIn(const Node& node, StreamId low) const noexcept {
    if (read_ == nullptr || read_->node != node.first || low <= read_->before) return FirstOf(node);
    return low > read_->id ? read_->next : read_->at;
  }
  void NoteRead(const Node& node, StreamId before, const Found& found) const noexcept {
    if (read_ == nullptr) return;
    // In an earlier node there is no entry after `before` either; a place within this node is what counts.
    *read_ = {.node = node.first, .before = before, .id = found.id, .at = found.at, .next = found.next};
  }
  static Found ReadEntry(const Node& node, Pack::At at) noexcept;
  static Pack::At FirstOf(const Node& node) noexcept;
  static StreamEntry EntryOf(const Node& node, const Found& found) noexcept {
    const Pack::At names = found.same_fields ? node.pack.Next(node.pack.begin()) : found.values;
    return {node.pack, found.id, names, found.values, found.fields};
  }
  // The places of a node's entries.
  static std::vector<Pack::At> PlacesIn(const Node& node);
  // The index of the last node with a first id of at most `id`; of the first node if there is none.
  size_t NodeBefore(StreamId id) const noexcept;
  bool HasSameFields(const Node& node, std::span<const std::string_view> pairs) const noexcept;
  void OpenNode(StreamId id, std::span<const std::string_view> pairs);
  // Marks the entry as deleted. Takes no memory: flags are one byte.
  void Mark(Node& node, const Found& found);
  void RemoveNode(size_t index) noexcept;
  bool RemovesWhole(const Node& node, const StreamTrim& trim) const;
  uint64_t TrimWithin(Node& node, const StreamTrim& trim);
  // Trim without a look at groups. Returns the number of removed entries.
  uint64_t TrimEntries(const StreamTrim& trim);
  // Trim for StreamReferences::kAcked: what groups are not done with stays, and what comes after it may go.
  uint64_t TrimAcked(const StreamTrim& trim);
  uint64_t TrimAckedWithin(size_t index, const StreamTrim& trim);
  // The last ID of the node's entries.
  static StreamId LastOf(const Node& node) noexcept;
  // True if no entry of the node is of use to a group any more.
  bool IsDoneWith(const Node& node) const;
  // After a trim for StreamReferences::kDelete that has removed entries or not. Returns the number of pending entries.
  uint64_t ForgetReferences(const StreamTrim& trim, bool removed);
  // True if an entry with this ID is not to be removed any more, as things are now.
  bool EndsTrim(const StreamTrim& trim, StreamId id) const noexcept {
    return trim.by == StreamTrim::By::kLength ? length_ <= trim.length : id >= trim.min_id;
  }

  template <typename Fn>
  void ForFalling(StreamId low, StreamId high, Fn&& fn) const {
    if (nodes() == 0) return;
    for (size_t i = NodeBefore(high) + 1; i-- > head_;) {
      const Node& node = nodes_[i];
      const std::vector<Pack::At> places = PlacesIn(node);
      for (size_t place = places.size(); place-- != 0;) {
        const Found found = ReadEntry(node, places[place]);
        if (found.id < low) return;
        if (!found.deleted && found.id <= high && !fn(EntryOf(node, found))) return;
      }
    }
  }

  std::vector<Node> nodes_;  // from head_ on
  size_t head_ = 0;
  size_t length_ = 0;
  uint64_t pack_bytes_ = 0;
  uint64_t added_ = 0;
  StreamId last_id_;
  StreamId max_deleted_;
  RichValue* buried_before_ = nullptr;
  StreamListener* listener_ = nullptr;
  std::unique_ptr<StreamGroups> groups_;
  std::unique_ptr<LastRead> read_;  // null without groups
};

}  // namespace mayfly
