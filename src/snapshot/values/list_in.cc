#include "snapshot/values/list_in.h"

#include <array>

#include "snapshot/format/listpack.h"
#include "snapshot/format/types.h"
#include "snapshot/format/ziplist.h"

namespace mayfly::rdb {

bool ListIn::Knows(uint8_t type) noexcept {
  return type == type::kList || type == type::kListZiplist || type == type::kQuicklist ||
         type == type::kQuicklist2;
}

ReadStatus ListIn::Element(In& in) {
  std::string_view text;
  const ReadStatus status = in.String(text);
  if (status == ReadStatus::kOk) Push(text);
  return status;
}

template <class Reader>
bool ListIn::PushAll(std::string_view packed, size_t& elements) {
  return ForEachRecord<Reader, 1>(packed, elements, [&](const std::array<PackedItem, 1>& items) {
    char room[PackedItem::kRoom];
    Push(items[0].Text(room));
    return true;
  });
}

ReadStatus ListIn::Node(In& in, size_t& budget) {
  uint64_t kind = quicklist_node::kPacked;
  std::string_view packed;
  ReadStatus status = type_ == type::kQuicklist2 ? in.Length(kind) : ReadStatus::kOk;
  Then(status, [&] { return in.String(packed); });
  if (status != ReadStatus::kOk) return status;
  refused_ = refused_ || (kind != quicklist_node::kPacked && kind != quicklist_node::kPlain);
  if (refused_) return status;
  if (kind == quicklist_node::kPlain) return Push(packed), status;
  size_t elements = 0;
  const bool good = type_ == type::kQuicklist2 ? PushAll<ListpackReader>(packed, elements)
                                               : PushAll<ZiplistReader>(packed, elements);
  Spend(budget, elements);
  refused_ = !good;
  return status;
}

ValueStatus ListIn::Some(In& in, size_t& budget) {
  ValueStatus status = ValueStatus::kDone;
  if (type_ == type::kListZiplist) {
    const ReadStatus read = Node(in, budget);
    if (read != ReadStatus::kOk) status = NotOk(read);
  } else {
    status =
        elements_.Continue(in, budget, [&] { return type_ == type::kList ? Element(in) : Node(in, budget); });
  }
  if (status == ValueStatus::kDone && refused_) return ValueStatus::kRefused;
  return status == ValueStatus::kDone && value_->Size() == 0 ? ValueStatus::kEmpty : status;
}

}  // namespace mayfly::rdb
