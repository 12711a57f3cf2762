#include "snapshot/format/ziplist.h"

#include <cstdint>

#include "snapshot/format/byte_order.h"

namespace mayfly::rdb {
namespace {

constexpr size_t kZiplistLastAt = 4;
constexpr size_t kZiplistItemsAt = 8;
constexpr size_t kZiplistHeader = 10;

constexpr uint8_t kLongBack = 0xFE;

constexpr uint8_t kZiplistText14 = 0x40;
constexpr uint8_t kZiplistText32 = 0x80;
constexpr uint8_t kZiplistNoText = 0xC0;
constexpr uint8_t kTinyBase = 0xF1;  // + the integer itself
constexpr uint8_t kTinyLast = 0xFD;

// The number of bytes of an integer with this head; 0 if there is no such head.
size_t IntegerBytes(uint8_t head) noexcept {
  switch (head) {
    case 0xFE:
      return 1;
    case 0xC0:
      return 2;
    case 0xF0:
      return 3;
    case 0xD0:
      return 4;
    case 0xE0:
      return 8;
    default:
      return 0;
  }
}

}  // namespace

ZiplistReader::ZiplistReader(std::string_view ziplist) noexcept
    : bytes_(ziplist.data()), at_(kZiplistHeader), end_(ziplist.size() - 1), last_(kZiplistHeader) {
  bad_ = ziplist.size() <= kZiplistHeader || LoadLittle<uint32_t>(bytes_) != ziplist.size() ||
         static_cast<uint8_t>(ziplist.back()) != kPackedEnd;
  if (!bad_) announced_ = LoadLittle<uint16_t>(bytes_ + kZiplistItemsAt);
}

ItemStatus ZiplistReader::Next(PackedItem& item) noexcept {
  if (bad_) return ItemStatus::kBad;
  if (at_ == end_) return End();
  item = {};
  const size_t back = ReadBack(at_);
  const size_t inner = back == 0 ? 0 : ReadInner(at_ + back, item);
  if (inner == 0) return Fail();
  last_ = at_;
  at_ += back + inner;
  ++count_;
  return ItemStatus::kItem;
}

ItemStatus ZiplistReader::End() noexcept {
  const bool good = (announced_ == kManyPacked || announced_ == count_) &&
                    LoadLittle<uint32_t>(bytes_ + kZiplistLastAt) == last_;
  return good ? ItemStatus::kEnd : Fail();
}

ItemStatus ZiplistReader::Fail() noexcept {
  bad_ = true;
  return ItemStatus::kBad;
}

size_t ZiplistReader::ReadBack(size_t from) const noexcept {
  const size_t expected = from - last_;
  const auto first = static_cast<uint8_t>(bytes_[from]);
  if (first < kLongBack) return first == expected ? 1 : 0;
  constexpr size_t kBytes = 1 + sizeof(uint32_t);
  if (first != kLongBack || end_ - from < kBytes) return 0;
  return LoadLittle<uint32_t>(bytes_ + from + 1) == expected ? kBytes : 0;
}

size_t ZiplistReader::ReadInner(size_t from, PackedItem& item) const noexcept {
  const char* const begin = bytes_ + from;
  const size_t room = end_ - from;
  if (room == 0) return 0;
  const auto head = static_cast<uint8_t>(*begin);
  if (head < kZiplistText14) return ReadText(from, 1, head, item);
  if (head < kZiplistText32) {
    if (room < 2) return 0;
    return ReadText(from, 2, LoadBig(begin, sizeof(uint16_t)) & ~(uint64_t{kZiplistText14} << 8), item);
  }
  if (head < kZiplistNoText) {
    constexpr size_t kHead = 1 + sizeof(uint32_t);
    return room < kHead ? 0 : ReadText(from, kHead, LoadBig(begin + 1, sizeof(uint32_t)), item);
  }
  if (head >= kTinyBase && head <= kTinyLast) {
    item = {.is_integer = true, .integer = head - kTinyBase};
    return 1;
  }
  const size_t bytes = IntegerBytes(head);
  if (bytes == 0 || room < 1 + bytes) return 0;
  item = {.is_integer = true, .integer = LoadSigned(begin + 1, bytes)};
  return 1 + bytes;
}

size_t ZiplistReader::ReadText(size_t from, size_t head, uint64_t length, PackedItem& item) const noexcept {
  if (length > end_ - from - head) return 0;
  item.text = {bytes_ + from + head, static_cast<size_t>(length)};
  return head + length;
}

}  // namespace mayfly::rdb
