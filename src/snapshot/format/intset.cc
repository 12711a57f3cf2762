#include "snapshot/format/intset.h"

#include "snapshot/format/byte_order.h"

namespace mayfly::rdb {
namespace {

constexpr size_t kIntsetMembersAt = 4;
constexpr size_t kIntsetHeader = 8;

}  // namespace

IntsetReader::IntsetReader(std::string_view intset) noexcept {
  if (intset.size() < kIntsetHeader) return;
  member_bytes_ = LoadLittle<uint32_t>(intset.data());
  if (member_bytes_ != 2 && member_bytes_ != 4 && member_bytes_ != 8) return;
  rest_ = intset.substr(kIntsetHeader);
  bad_ = LoadLittle<uint32_t>(intset.data() + kIntsetMembersAt) * member_bytes_ != rest_.size();
}

ItemStatus IntsetReader::Next(PackedItem& item) noexcept {
  if (bad_) return ItemStatus::kBad;
  if (rest_.empty()) return ItemStatus::kEnd;
  const int64_t member = LoadSigned(rest_.data(), member_bytes_);
  if (any_ && member <= last_) {
    bad_ = true;
    return ItemStatus::kBad;
  }
  rest_.remove_prefix(member_bytes_);
  last_ = member;
  any_ = true;
  item = {.is_integer = true, .integer = member};
  return ItemStatus::kItem;
}

}  // namespace mayfly::rdb
