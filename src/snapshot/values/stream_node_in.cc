#include "snapshot/values/stream_node_in.h"

#include <algorithm>

#include "cache/types/pack.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

// The most fields of an entry. A field of two bytes in a listpack takes about a hundred bytes of memory while it is read, so
// a small payload could take all memory otherwise.
constexpr uint64_t kMostFields = uint64_t{1} << 20;

}  // namespace

bool StreamNodeIn::Integer(int64_t& number) {
  PackedItem item;
  if (!Item(item) || !item.is_integer) return false;
  number = item.integer;
  return true;
}

bool StreamNodeIn::Natural(uint64_t& number) {
  int64_t integer = 0;
  if (!Integer(integer) || integer < 0) return false;
  number = static_cast<uint64_t>(integer);
  return true;
}

bool StreamNodeIn::Head() {
  uint64_t fields = 0;
  if (!Natural(live_left_) || !Natural(deleted_left_) || !Natural(fields)) return false;
  if (fields > kMostFields) return false;
  for (; fields != 0; --fields) {
    PackedItem field;
    if (!Item(field)) return false;
    fields_.push_back(field);
  }
  uint64_t end = 0;
  return Natural(end) && end == 0;
}

bool StreamNodeIn::Pairs(uint64_t fields, bool same_fields) {
  items_.clear();
  for (uint64_t i = 0; i < fields; ++i) {
    PackedItem field;
    if (same_fields)
      field = fields_[i];
    else if (!Item(field))
      return false;
    PackedItem value;
    if (!Item(value)) return false;
    items_.push_back(field);
    items_.push_back(value);
  }
  return MakeTexts();
}

bool StreamNodeIn::MakeTexts() {
  texts_.clear();
  const auto is_integer = [](const PackedItem& item) { return item.is_integer; };
  const auto integers = static_cast<size_t>(std::count_if(items_.begin(), items_.end(), is_integer));
  digits_.resize(integers * PackedItem::kRoom);
  char* room = digits_.data();
  size_t bytes = 0;
  for (const PackedItem& item : items_) {
    texts_.push_back(item.Text(room));
    if (item.is_integer) room += PackedItem::kRoom;
    bytes += texts_.back().size();
    if (bytes >= Pack::kTooLong) return false;
  }
  return true;
}

bool StreamNodeIn::Entry(StreamNodeEntry& entry) {
  uint64_t flags = 0;
  int64_t ms = 0;
  int64_t sequence = 0;
  if (!Natural(flags) || !Integer(ms) || !Integer(sequence)) return false;
  constexpr uint64_t kKnownFlags = stream_flag::kDeleted | stream_flag::kSameFields;
  if ((flags & ~kKnownFlags) != 0) return false;
  const bool same_fields = (flags & stream_flag::kSameFields) != 0;
  uint64_t fields = fields_.size();
  if (!same_fields && !Natural(fields)) return false;
  if (fields == 0 || fields > kMostFields || !Pairs(fields, same_fields)) return false;
  uint64_t items = 0;
  constexpr uint64_t kWithSameFields = 3;
  constexpr uint64_t kWithOwnFields = 4;
  const uint64_t wanted = same_fields ? fields + kWithSameFields : 2 * fields + kWithOwnFields;
  if (!Natural(items) || items != wanted) return false;
  entry.deleted = (flags & stream_flag::kDeleted) != 0;
  uint64_t& left = entry.deleted ? deleted_left_ : live_left_;
  if (left-- == 0) return false;
  // Differences wrap: an entry of a later millisecond may have a smaller sequence than the first one.
  entry.id = {first_.ms + static_cast<uint64_t>(ms), first_.sequence + static_cast<uint64_t>(sequence)};
  entry.pairs = texts_;
  return entry.id >= first_;
}

ItemStatus StreamNodeIn::Next(StreamNodeEntry& entry) {
  if (bad_) return ItemStatus::kBad;
  if (!begun_) {
    begun_ = true;
    // No server writes a listpack without entries.
    bad_ = !Head() || live_left_ + deleted_left_ == 0;
  }
  if (!bad_ && live_left_ + deleted_left_ == 0) {
    PackedItem item;
    if (reader_.Next(item) == ItemStatus::kEnd) return ItemStatus::kEnd;
    bad_ = true;
  }
  if (!bad_) bad_ = !Entry(entry);
  return bad_ ? ItemStatus::kBad : ItemStatus::kItem;
}

}  // namespace mayfly::rdb
