#include "snapshot/format/zipmap.h"

#include <cstdint>

#include "snapshot/format/byte_order.h"

namespace mayfly::rdb {
namespace {

constexpr uint8_t kLongLength = 0xFE;
constexpr uint8_t kManyFields = 0xFE;

}  // namespace

ZipmapReader::ZipmapReader(std::string_view zipmap) noexcept
    : bytes_(zipmap.data()),
      end_(zipmap.size() - 1),
      bad_(zipmap.size() < 2 || static_cast<uint8_t>(zipmap.back()) != kPackedEnd) {}

ItemStatus ZipmapReader::Next(PackedItem& item) noexcept {
  if (bad_) return ItemStatus::kBad;
  const bool is_value = count_ % 2 != 0;
  if (at_ == end_) return is_value ? Fail() : End();
  size_t length = 0;
  size_t unused = 0;
  if (!ReadLength(length)) return Fail();
  if (is_value) {
    if (at_ == end_) return Fail();
    unused = static_cast<uint8_t>(bytes_[at_++]);
  }
  if (length > end_ - at_ || unused > end_ - at_ - length) return Fail();
  item = {.text = {bytes_ + at_, length}};
  at_ += length + unused;
  ++count_;
  return ItemStatus::kItem;
}

ItemStatus ZipmapReader::End() noexcept {
  const auto announced = static_cast<uint8_t>(*bytes_);
  return announced == kManyFields || announced == count_ / 2 ? ItemStatus::kEnd : Fail();
}

ItemStatus ZipmapReader::Fail() noexcept {
  bad_ = true;
  return ItemStatus::kBad;
}

bool ZipmapReader::ReadLength(size_t& length) noexcept {
  const auto first = static_cast<uint8_t>(bytes_[at_++]);
  length = first;
  if (first < kLongLength) return true;
  if (first != kLongLength || end_ - at_ < sizeof(uint32_t)) return false;
  length = LoadLittle<uint32_t>(bytes_ + at_);
  at_ += sizeof(uint32_t);
  return true;
}

}  // namespace mayfly::rdb
