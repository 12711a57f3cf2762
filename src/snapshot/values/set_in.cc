#include "snapshot/values/set_in.h"

#include <array>

#include "snapshot/format/intset.h"
#include "snapshot/format/listpack.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {

bool SetIn::Knows(uint8_t type) noexcept {
  return type == type::kSet || type == type::kSetIntset || type == type::kSetListpack;
}

ReadStatus SetIn::Plain(In& in) {
  std::string_view member;
  const ReadStatus status = in.String(member);
  if (status == ReadStatus::kOk) refused_ = refused_ || !Add(member);
  return status;
}

template <class Reader>
bool SetIn::AddAll(std::string_view packed, size_t& members) {
  return ForEachRecord<Reader, 1>(packed, members, [&](const std::array<PackedItem, 1>& items) {
    char room[PackedItem::kRoom];
    return Add(items[0].Text(room));
  });
}

ValueStatus SetIn::Packed(In& in, size_t& budget) {
  std::string_view packed;
  if (const ReadStatus status = in.String(packed); status != ReadStatus::kOk) return NotOk(status);
  size_t members = 0;
  const bool good = type_ == type::kSetIntset ? AddAll<IntsetReader>(packed, members)
                                              : AddAll<ListpackReader>(packed, members);
  Spend(budget, members);
  refused_ = !good;
  return ValueStatus::kDone;
}

ValueStatus SetIn::Some(In& in, size_t& budget) {
  const ValueStatus status =
      type_ == type::kSet ? members_.Continue(in, budget, [&] { return Plain(in); }) : Packed(in, budget);
  if (status == ValueStatus::kDone && refused_) return ValueStatus::kRefused;
  return status == ValueStatus::kDone && value_->Size() == 0 ? ValueStatus::kEmpty : status;
}

}  // namespace mayfly::rdb
