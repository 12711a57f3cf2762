#include "cache/types/stream/stream_value.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <memory_resource>
#include <string>

#include "base/memory/heap.h"
#include "base/text/numbers.h"
#include "cache/types/stream/stream_groups.h"
#include "cache/types/value_listeners.h"

namespace mayfly {
namespace {

constexpr int64_t kDeleted = 1;
constexpr int64_t kSameFields = 2;
// The most bytes of a node, above any option.
constexpr size_t kMostNodeBytes = Pack::kTooLong;
// Deleting this many nodes takes no longer than one step.
constexpr size_t kFewStreamNodes = 16;

// The items of an entry, without an allocation for few items.
class ItemList {
 public:
  explicit ItemList(size_t most) : items_(&pool_) { items_.reserve(most); }
  ItemList(const ItemList&) = delete;
  ItemList& operator=(const ItemList&) = delete;

  void Add(const PackItem& item) { items_.push_back(item); }
  std::span<const PackItem> items() const noexcept { return items_; }

 private:
  static constexpr size_t kFew = 32;

  alignas(PackItem) std::array<std::byte, kFew * sizeof(PackItem)> room_;
  std::pmr::monotonic_buffer_resource pool_{room_.data(), room_.size()};
  std::pmr::vector<PackItem> items_;
};

PackItem Difference(uint64_t number, uint64_t from) noexcept {
  return PackItem::Of(static_cast<int64_t>(number - from));
}

}  // namespace

StreamValue::StreamValue() noexcept : RichValue(kType) {}
StreamValue::~StreamValue() = default;

uint64_t StreamValue::Bytes() const noexcept {
  const uint64_t nodes = nodes_.capacity() == 0 ? 0 : MallocSizeClass(nodes_.capacity() * sizeof(Node));
  const uint64_t groups = groups_ != nullptr ? groups_->Bytes() + MallocSizeClass(sizeof(LastRead)) : 0;
  return MallocSizeClass(sizeof(StreamValue)) + nodes + pack_bytes_ + groups;
}

std::unique_ptr<RichValue> StreamValue::Clone() const {
  auto copy = std::make_unique<StreamValue>();
  copy->nodes_.reserve(nodes());
  for (size_t i = head_; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    copy->nodes_.push_back({node.pack.Clone(), node.first, node.live, node.deleted});
  }
  copy->length_ = length_;
  copy->pack_bytes_ = pack_bytes_;
  copy->added_ = added_;
  copy->last_id_ = last_id_;
  copy->max_deleted_ = max_deleted_;
  if (groups_ != nullptr) {
    copy->read_ = std::make_unique<LastRead>();
    copy->groups_ = groups_->Clone();
  }
  return copy;
}

bool StreamValue::FreeSome(size_t budget) noexcept {
  if (groups_ != nullptr) {
    if (!groups_->FreeSome(budget)) return false;
    groups_.reset();
  }
  for (size_t freed = 0; nodes() > kFewStreamNodes && freed < budget; ++freed) {
    freed += nodes_.back().live;
    RemoveNode(nodes_.size() - 1);
  }
  return nodes() <= kFewStreamNodes;
}

RichValue** StreamValue::BurialLink() noexcept {
  const bool large = nodes() > kFewStreamNodes || (groups_ != nullptr && groups_->IsLarge());
  return large ? &buried_before_ : nullptr;
}

StreamGroups& StreamValue::EditGroups() {
  if (listener_ != nullptr) listener_->BeforeGroups();
  if (read_ == nullptr) read_ = std::make_unique<LastRead>();
  if (groups_ == nullptr) groups_ = std::make_unique<StreamGroups>();
  return *groups_;
}

ValueListener* StreamValue::listener() const noexcept { return listener_; }

void StreamValue::ForEachMember(MemberVisitor& visitor) const {
  std::vector<std::string> texts;
  std::vector<std::string_view> parts;
  ForRange({}, StreamId::Max(), false, [&](const StreamEntry& entry) {
    texts.clear();
    texts.push_back(std::to_string(entry.id.ms) + '.' + std::to_string(entry.id.sequence));
    entry.ForEach([&](std::string_view field, std::string_view value) {
      texts.emplace_back(field);
      texts.emplace_back(value);
    });
    parts.assign(texts.begin(), texts.end());
    visitor.Visit(parts);
    return true;
  });
}

// ---- within a node

Pack::At StreamValue::FirstOf(const Node& node) noexcept {
  Pack::At at = node.pack.begin();
  const int64_t fields = node.pack.Read(at).integer;
  at = node.pack.Next(at);
  for (int64_t i = 0; i < fields; ++i) at = node.pack.Next(at);
  return at;
}

StreamValue::Found StreamValue::ReadEntry(const Node& node, Pack::At at) noexcept {
  const Pack& pack = node.pack;
  Found found{
      .id = {}, .at = at, .next = 0, .values = 0, .fields = 0, .deleted = false, .same_fields = false};
  const int64_t flags = pack.Read(at).integer;
  found.deleted = (flags & kDeleted) != 0;
  found.same_fields = (flags & kSameFields) != 0;
  at = pack.Next(at);
  found.id.ms = node.first.ms + static_cast<uint64_t>(pack.Read(at).integer);
  at = pack.Next(at);
  found.id.sequence = node.first.sequence + static_cast<uint64_t>(pack.Read(at).integer);
  at = pack.Next(at);
  if (found.same_fields) {
    found.fields = static_cast<size_t>(pack.Read(pack.begin()).integer);
  } else {
    found.fields = static_cast<size_t>(pack.Read(at).integer);
    at = pack.Next(at);
  }
  found.values = at;
  for (size_t i = found.same_fields ? found.fields : 2 * found.fields; i != 0; --i) at = pack.Next(at);
  found.next = at;
  return found;
}

std::vector<Pack::At> StreamValue::PlacesIn(const Node& node) {
  std::vector<Pack::At> places;
  places.reserve(node.live + node.deleted);
  for (Pack::At at = FirstOf(node); at != node.pack.end(); at = ReadEntry(node, at).next)
    places.push_back(at);
  return places;
}

bool StreamValue::HasSameFields(const Node& node, std::span<const std::string_view> pairs) const noexcept {
  Pack::At at = node.pack.begin();
  if (static_cast<size_t>(node.pack.Read(at).integer) != pairs.size() / 2) return false;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    at = node.pack.Next(at);
    if (!node.pack.Is(at, PackItem::Of(pairs[i]))) return false;
  }
  return true;
}

// ---- nodes

size_t StreamValue::NodeBefore(StreamId id) const noexcept {
  const auto begin = nodes_.begin() + static_cast<std::ptrdiff_t>(head_);
  const auto after = std::upper_bound(begin, nodes_.end(), id,
                                      [](StreamId wanted, const Node& node) { return wanted < node.first; });
  return static_cast<size_t>((after == begin ? begin : after - 1) - nodes_.begin());
}

void StreamValue::OpenNode(StreamId id, std::span<const std::string_view> pairs) {
  // The places of removed nodes are used again when they are half of all places.
  if (head_ > nodes() && nodes_.size() == nodes_.capacity()) {
    nodes_.erase(nodes_.begin(), nodes_.begin() + static_cast<std::ptrdiff_t>(head_));
    head_ = 0;
  }
  ItemList fields(1 + pairs.size() / 2);
  fields.Add(PackItem::Of(static_cast<int64_t>(pairs.size() / 2)));
  for (size_t i = 0; i < pairs.size(); i += 2) fields.Add(PackItem::Of(pairs[i]));
  Node node{.pack = {}, .first = id};
  node.pack.Append(fields.items());
  nodes_.push_back(std::move(node));
  pack_bytes_ += nodes_.back().pack.memory();
}

void StreamValue::RemoveNode(size_t index) noexcept {
  if (listener_ != nullptr) listener_->BeforeNode(nodes_[index].first);
  if (read_ != nullptr && nodes_[index].first == read_->node) *read_ = {};
  pack_bytes_ -= nodes_[index].pack.memory();
  length_ -= nodes_[index].live;
  if (index == head_) {
    nodes_[head_++].pack = Pack();
    if (head_ == nodes_.size()) {
      nodes_.clear();
      head_ = 0;
    }
  } else {
    nodes_.erase(nodes_.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

void StreamValue::Append(StreamId id, std::span<const std::string_view> pairs, const StreamLimits& limits) {
  assert(id > last_id_ && !pairs.empty());
  size_t bytes = 0;
  for (const std::string_view text : pairs) bytes += text.size();
  const size_t most_bytes =
      limits.node_bytes == 0 ? kMostNodeBytes : std::min(limits.node_bytes, kMostNodeBytes);
  bool opens = nodes() == 0;
  if (!opens) {
    const Node& last = nodes_.back();
    opens = last.pack.bytes() + bytes >= most_bytes ||
            (limits.node_entries != 0 && last.live + last.deleted >= limits.node_entries);
  }
  if (opens) OpenNode(id, pairs);
  try {
    Node& node = nodes_.back();
    const bool same = HasSameFields(node, pairs);
    ItemList entry(4 + pairs.size());
    entry.Add(PackItem::Of(same ? kSameFields : 0));
    entry.Add(Difference(id.ms, node.first.ms));
    entry.Add(Difference(id.sequence, node.first.sequence));
    if (!same) entry.Add(PackItem::Of(static_cast<int64_t>(pairs.size() / 2)));
    for (size_t i = 0; i < pairs.size(); ++i) {
      if (!same || i % 2 == 1) entry.Add(PackItem::Of(pairs[i]));
    }
    const size_t before = node.pack.memory();
    node.pack.Append(entry.items());
    pack_bytes_ += node.pack.memory() - before;
    ++node.live;
  } catch (...) {
    if (opens) RemoveNode(nodes_.size() - 1);
    throw;
  }
  ++length_;
  ++added_;
  last_id_ = id;
}

void StreamValue::Mark(Node& node, const Found& found) {
  if (listener_ != nullptr) listener_->BeforeNode(node.first);
  const size_t before = node.pack.memory();
  node.pack.Replace(found.at, PackItem::Of(kDeleted | (found.same_fields ? kSameFields : 0)));
  pack_bytes_ += node.pack.memory() - before;
  --node.live;
  ++node.deleted;
  --length_;
}

bool StreamValue::CanBeSaved(std::span<const std::string_view> pairs) noexcept {
  constexpr size_t kOverhead = 10;  // of a text
  size_t bytes = pairs.size() * kOverhead;
  for (const std::string_view text : pairs) bytes += text.size();
  return bytes < kMostSaved;
}

bool StreamValue::Delete(StreamId id) {
  if (nodes() == 0) return false;
  const size_t index = NodeBefore(id);
  Node& node = nodes_[index];
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    if (found.deleted || found.id < id) continue;
    if (found.id > id) return false;
    if (node.live == 1) {
      RemoveNode(index);
    } else {
      Mark(node, found);
    }
    max_deleted_ = std::max(max_deleted_, id);
    return true;
  }
  return false;
}

bool StreamValue::RemovesWhole(const Node& node, const StreamTrim& trim) const {
  if (trim.by == StreamTrim::By::kLength) return length_ - node.live >= trim.length;
  StreamId last;
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    // As in Redis, a deleted entry keeps its node if only whole nodes may go.
    if (!found.deleted || trim.whole_nodes) last = found.id;
  }
  return last < trim.min_id;
}

StreamTrimmed StreamValue::Trim(const StreamTrim& trim) {
  const bool any_group = groups_ != nullptr && groups_->size() != 0;
  if (trim.references == StreamReferences::kAcked && any_group) return {.entries = TrimAcked(trim)};
  StreamTrimmed trimmed{.entries = TrimEntries(trim)};
  if (trim.references == StreamReferences::kDelete && groups_ != nullptr && groups_->AnyPending())
    trimmed.references = ForgetReferences(trim, trimmed.entries != 0);
  return trimmed;
}

uint64_t StreamValue::TrimEntries(const StreamTrim& trim) {
  uint64_t removed = 0;
  while (nodes() != 0) {
    Node& node = nodes_[head_];
    if (trim.by == StreamTrim::By::kLength && length_ <= trim.length) break;
    if (trim.limit != 0 && removed + node.live > trim.limit) break;
    if (RemovesWhole(node, trim)) {
      removed += node.live;
      RemoveNode(head_);
      continue;
    }
    if (!trim.whole_nodes) removed += TrimWithin(node, trim);
    break;
  }
  return removed;
}

bool StreamValue::MayTrimMoreThan(uint64_t count, const StreamTrim& trim) const noexcept {
  if (trim.limit != 0 && trim.limit <= count) return false;
  const bool by_length = trim.by == StreamTrim::By::kLength;
  if (by_length && length_ <= trim.length) return false;
  const StreamId end = by_length ? StreamId::Max() : trim.min_id;
  const StreamId unread = listener_ != nullptr ? listener_->FirstUnread() : StreamId{};
  uint64_t left = by_length ? length_ - trim.length : length_;  // may go
  uint64_t cost = 0;
  for (size_t i = head_; i < nodes_.size() && nodes_[i].first < end && left != 0; ++i) {
    const uint64_t going = std::min<uint64_t>(nodes_[i].live, left);
    left -= going;
    if (nodes_[i].first >= unread) cost += going;
    if (cost > count) return true;
  }
  return false;
}

uint64_t StreamValue::TrimWithin(Node& node, const StreamTrim& trim) {
  uint64_t removed = 0;
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    if (found.deleted) continue;
    if (EndsTrim(trim, found.id)) break;
    Mark(node, found);
    ++removed;
  }
  return removed;
}

// The trim's end is its id, or else the first entry that is left. A trim that has left whole nodes knows only the latter.
uint64_t StreamValue::ForgetReferences(const StreamTrim& trim, bool removed) {
  const bool by_id = trim.by == StreamTrim::By::kId && !trim.whole_nodes;
  if (!by_id && !removed) return 0;
  const StreamId left = length_ != 0 ? FirstEntryId() : StreamId::Max();
  return EditGroups().AcknowledgeBefore(by_id ? trim.min_id : left);
}

StreamId StreamValue::LastOf(const Node& node) noexcept {
  StreamId last;
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    if (!found.deleted) last = found.id;
  }
  return last;
}

bool StreamValue::IsDoneWith(const Node& node) const {
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    if (!found.deleted && !groups_->AllAreDoneWith(found.id)) return false;
  }
  return true;
}

uint64_t StreamValue::TrimAcked(const StreamTrim& trim) {
  uint64_t removed = 0;
  for (size_t i = head_; i < nodes_.size();) {
    const size_t left = nodes();
    const uint64_t live = nodes_[i].live;
    if (EndsTrim(trim, nodes_[i].first)) break;
    if (trim.limit != 0 && removed + live > trim.limit) break;
    if (RemovesWhole(nodes_[i], trim) && IsDoneWith(nodes_[i])) {
      if (i != head_) max_deleted_ = std::max(max_deleted_, LastOf(nodes_[i]));
      removed += live;
      RemoveNode(i);
    } else if (!trim.whole_nodes) {
      removed += TrimAckedWithin(i, trim);
    }
    // A node that has gone at the head has moved the head, and one further on the nodes behind it.
    const bool gone = nodes() < left;
    i = gone ? std::max(i, head_) : i + 1;
  }
  return removed;
}

uint64_t StreamValue::TrimAckedWithin(size_t index, const StreamTrim& trim) {
  uint64_t removed = 0;
  Node& node = nodes_[index];
  for (Pack::At at = FirstOf(node); at != node.pack.end();) {
    const Found found = ReadEntry(node, at);
    at = found.next;
    if (found.deleted) continue;
    if (EndsTrim(trim, found.id)) break;
    if (!groups_->AllAreDoneWith(found.id)) continue;
    max_deleted_ = std::max(max_deleted_, found.id);
    ++removed;
    if (node.live == 1) {
      RemoveNode(index);
      break;
    }
    Mark(node, found);
  }
  return removed;
}

bool StreamValue::HasAfter(StreamId id) const {
  if (length_ == 0 || last_id_ <= id) return false;
  bool found = false;
  id.Increment();
  ForRange(id, StreamId::Max(), false, [&](const StreamEntry&) {
    found = true;
    return false;
  });
  return found;
}

bool StreamValue::Contains(StreamId id) const {
  bool found = false;
  ForRange(id, id, false, [&](const StreamEntry&) {
    found = true;
    return false;
  });
  return found;
}

StreamId StreamValue::FirstEntryId() const {
  StreamId id;
  ForRange({}, StreamId::Max(), false, [&](const StreamEntry& entry) {
    id = entry.id;
    return false;
  });
  return id;
}

StreamId StreamValue::LastEntryId() const {
  StreamId id;
  ForRange({}, StreamId::Max(), true, [&](const StreamEntry& entry) {
    id = entry.id;
    return false;
  });
  return id;
}

bool StreamValue::Validate() const {
  size_t length = 0;
  uint64_t bytes = 0;
  StreamId before;
  for (size_t i = head_; i < nodes_.size(); ++i) {
    const Node& node = nodes_[i];
    if (!node.pack.Validate() || node.live == 0) return false;
    size_t live = 0;
    size_t deleted = 0;
    for (Pack::At at = FirstOf(node); at != node.pack.end();) {
      const Found found = ReadEntry(node, at);
      at = found.next;
      ++(found.deleted ? deleted : live);
      if (found.deleted) continue;
      if (found.id <= before || found.id > last_id_) return false;
      before = found.id;
    }
    if (live != node.live || deleted != node.deleted) return false;
    length += live;
    bytes += node.pack.memory();
  }
  return length == length_ && bytes == pack_bytes_ && (groups_ == nullptr || groups_->Validate());
}

}  // namespace mayfly
