// Reads the entries of one listpack of a stream (drawn in stream_out.h), and tests every item.
//
//     StreamNodeIn node(first, listpack);
//     for (StreamNodeEntry entry; (status = node.Next(entry)) == ItemStatus::kItem;) ...
//
// Next returns kEnd only after a good listpack with the announced entries. Borrows the listpack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/types/stream/stream_id.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/packed.h"

namespace mayfly::rdb {

struct StreamNodeEntry {
  StreamId id;
  bool deleted = false;
  // A field, its value, the next field ...; valid until the next call of Next.
  std::span<const std::string_view> pairs;
};

class StreamNodeIn {
 public:
  // `first`: the IDs of the entries are differences from this ID.
  StreamNodeIn(StreamId first, std::string_view listpack) noexcept : first_(first), reader_(listpack) {}

  // Throws std::bad_alloc.
  ItemStatus Next(StreamNodeEntry& entry);

 private:
  // Each function takes the next items, and returns false for items of another kind. Natural: an integer that is not
  // negative. Pairs: `fields` values, each after its field unless `same_fields`.
  bool Item(PackedItem& item) { return reader_.Next(item) == ItemStatus::kItem; }
  bool Integer(int64_t& number);
  bool Natural(uint64_t& number);
  bool Head();
  bool Entry(StreamNodeEntry& entry);
  bool Pairs(uint64_t fields, bool same_fields);
  // Makes texts_ from items_. Returns false if the texts are too long for an entry.
  bool MakeTexts();

  const StreamId first_;
  ListpackReader reader_;
  bool begun_ = false;
  bool bad_ = false;
  uint64_t live_left_ = 0;
  uint64_t deleted_left_ = 0;
  std::vector<PackedItem> fields_;  // of the listpack
  std::vector<PackedItem> items_;   // fields and values of the entry
  std::vector<std::string_view> texts_;
  std::string digits_;
};

}  // namespace mayfly::rdb
