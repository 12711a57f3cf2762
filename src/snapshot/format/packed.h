// What the readers of packed collections have in common. Redis saves a small collection as one string: a listpack, a ziplist, a
// zipmap or an intset.
//
//     ListpackReader reader(bytes);
//     for (PackedItem item; (status = reader.Next(item)) == ItemStatus::kItem;) ...
//     if (status == ItemStatus::kBad) ...
//
// A reader checks what it passes: lengths, back lengths, the header, the end. So a collection is known to be good when Next has
// returned kEnd, and not before: CountItems reads a whole collection first. After kBad and kEnd, Next returns the same again.
// Readers never read outside their bytes, allocate nothing, and visit each byte once.
//
// A reader does not know the meaning of items. Whether fields and values come in pairs, whether members differ, and whether a
// score is a number, is tested by who builds the value. An empty collection is good here; Redis saves none.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/text/numbers.h"

namespace mayfly::rdb {

// The byte after the last item of a listpack, a ziplist or a zipmap.
inline constexpr uint8_t kPackedEnd = 0xFF;
// The number of items in the header of a listpack or a ziplist that has this number of items or more.
inline constexpr size_t kManyPacked = UINT16_MAX;

// A text or an integer. Redis stores a text that is the decimal form of an integer as the integer.
struct PackedItem {
  // Bytes that Text may need.
  static constexpr size_t kRoom = kMaxIntegerText;

  bool is_integer = false;
  std::string_view text = {};  // a view into the collection
  int64_t integer = 0;

  // The item as a text: the text itself, or digits in `room`. `room` has kRoom bytes.
  std::string_view Text(char* room) const noexcept {
    if (!is_integer) return text;
    return {room, FormatInteger(integer, room)};
  }
};

enum class ItemStatus : uint8_t {
  kItem,
  kEnd,  // all items were read, and the collection is good
  kBad,  // the collection is damaged, for good
};

// Reads a whole collection. Returns the number of its items, or nullopt if the collection is bad.
template <class Reader>
std::optional<size_t> CountItems(std::string_view bytes) noexcept {
  Reader reader(bytes);
  PackedItem item;
  size_t count = 0;
  ItemStatus status = reader.Next(item);
  for (; status == ItemStatus::kItem; status = reader.Next(item)) ++count;
  return status == ItemStatus::kEnd ? std::optional(count) : std::nullopt;
}

}  // namespace mayfly::rdb
