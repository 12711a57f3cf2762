#include "snapshot/format/listpack.h"

#include <algorithm>
#include <array>
#include <cassert>

#include "snapshot/format/byte_order.h"

namespace mayfly::rdb {
namespace {

constexpr size_t kListpackHeader = 6;
constexpr size_t kListpackItemsAt = 4;

constexpr uint8_t kText6 = 0x80;
constexpr uint8_t kInteger13 = 0xC0;
constexpr uint8_t kText12 = 0xE0;
constexpr uint8_t kLongText = 0xF0;
constexpr uint8_t kInteger16 = 0xF1;
constexpr uint8_t kInteger64 = 0xF4;
constexpr int64_t kInteger7Max = 127;
constexpr int64_t kInteger13End = 1 << 12;
// The sizes of kInteger16 and what follows.
constexpr std::array<uint8_t, 4> kIntegerSizes = {2, 3, 4, 8};

constexpr size_t kBackBits = 7;
constexpr size_t kLongestBack = 5;
constexpr uint8_t kBackMore = 0x80;

// The number of bytes of a back length. Redis takes a byte more than needed for the greatest numbers of 2, 3 and 4 bytes, and
// finds the next item by this rule.
size_t BackBytes(size_t size) noexcept {
  if (size < 1U << kBackBits) return 1;
  size_t bytes = 2;
  while (bytes < kLongestBack && size >= (size_t{1} << kBackBits * bytes) - 1) ++bytes;
  return bytes;
}

std::string_view StoreBack(size_t size, std::array<char, kLongestBack>& to) noexcept {
  const size_t bytes = BackBytes(size);
  for (size_t i = bytes; i-- != 0; size >>= kBackBits)
    to[i] = static_cast<char>((size & (kBackMore - 1U)) | (i != 0 ? kBackMore : 0U));
  return {to.data(), bytes};
}

}  // namespace

ListpackReader::ListpackReader(std::string_view listpack) noexcept
    : bytes_(listpack.data()), at_(kListpackHeader), end_(listpack.size() - 1) {
  bad_ = listpack.size() <= kListpackHeader || LoadLittle<uint32_t>(bytes_) != listpack.size() ||
         static_cast<uint8_t>(listpack.back()) != kPackedEnd;
  if (!bad_) announced_ = LoadLittle<uint16_t>(bytes_ + kListpackItemsAt);
}

ItemStatus ListpackReader::Next(PackedItem& item) noexcept {
  if (bad_) return ItemStatus::kBad;
  if (at_ == end_) return End();
  item = {};
  const size_t size = ReadInner(item);
  if (size == 0) return Fail();
  std::array<char, kLongestBack> stored{};
  const std::string_view back = StoreBack(size, stored);
  const size_t back_at = at_ + size;
  if (back.size() > end_ - back_at || back != std::string_view(bytes_ + back_at, back.size())) return Fail();
  at_ = back_at + back.size();
  ++count_;
  return ItemStatus::kItem;
}

ItemStatus ListpackReader::End() noexcept {
  return announced_ == kManyPacked || announced_ == count_ ? ItemStatus::kEnd : Fail();
}

ItemStatus ListpackReader::Fail() noexcept {
  bad_ = true;
  return ItemStatus::kBad;
}

size_t ListpackReader::ReadInner(PackedItem& item) const noexcept {
  const char* const from = bytes_ + at_;
  const size_t room = end_ - at_;  // at least 1
  const auto head = static_cast<uint8_t>(*from);
  if (head <= kInteger7Max) {
    item = {.is_integer = true, .integer = head};
    return 1;
  }
  if (head < kInteger13) return ReadText(1, head - kText6, item);
  if (head < kLongText) {
    if (room < 2) return 0;
    const auto low = static_cast<uint8_t>(from[1]);
    if (head >= kText12) return ReadText(2, (uint64_t{head} - kText12) << 8 | low, item);
    const int64_t bits = (int64_t{head} - kInteger13) << 8 | low;
    item = {.is_integer = true, .integer = bits < kInteger13End ? bits : bits - 2 * kInteger13End};
    return 2;
  }
  if (head == kLongText) {
    constexpr size_t kHead = 1 + sizeof(uint32_t);
    return room < kHead ? 0 : ReadText(kHead, LoadLittle<uint32_t>(from + 1), item);
  }
  if (head > kInteger64) return 0;
  const size_t bytes = kIntegerSizes[head - kInteger16];
  if (room < 1 + bytes) return 0;
  item = {.is_integer = true, .integer = LoadSigned(from + 1, bytes)};
  return 1 + bytes;
}

size_t ListpackReader::ReadText(size_t head, uint64_t length, PackedItem& item) const noexcept {
  if (length > end_ - at_ - head) return 0;
  item.text = {bytes_ + at_ + head, static_cast<size_t>(length)};
  return head + length;
}

void ListpackWriter::Clear() {
  bytes_.assign(kListpackHeader, '\0');
  bytes_.push_back(static_cast<char>(kPackedEnd));
  items_ = 0;
}

void ListpackWriter::Append(std::string_view text) {
  int64_t integer = 0;
  if (text.size() - 1 < kMaxIntegerText && ParseInteger(text, integer)) return Append(integer);
  assert(bytes() + text.size() < kMost);
  std::array<char, 1 + sizeof(uint32_t)> head{};
  size_t head_size = 1;
  if (text.size() < 1U << 6) {
    head[0] = static_cast<char>(kText6 | text.size());
  } else if (text.size() < 1U << 12) {
    head[0] = static_cast<char>(kText12 | text.size() >> 8);
    head[1] = static_cast<char>(text.size());
    head_size = 2;
  } else {
    head[0] = static_cast<char>(kLongText);
    StoreLittle(&head[1], text.size(), sizeof(uint32_t));
    head_size = head.size();
  }
  AppendInner({head.data(), head_size}, text);
}

void ListpackWriter::Append(int64_t integer) {
  std::array<char, 1 + sizeof(int64_t)> head{static_cast<char>(integer)};
  if (integer >= 0 && integer <= kInteger7Max) return AppendInner({head.data(), 1}, {});
  if (integer >= -kInteger13End && integer < kInteger13End) {
    const auto bits = static_cast<uint64_t>(integer);
    head[0] = static_cast<char>(kInteger13 | (bits >> 8 & 0x1F));
    head[1] = static_cast<char>(bits);
    return AppendInner({head.data(), 2}, {});
  }
  const auto* const form = std::lower_bound(kIntegerSizes.begin(), kIntegerSizes.end(), SignedBytes(integer));
  head[0] = static_cast<char>(kInteger16 + (form - kIntegerSizes.begin()));
  StoreLittle(&head[1], static_cast<uint64_t>(integer), *form);
  AppendInner({head.data(), size_t{1} + *form}, {});
}

void ListpackWriter::AppendInner(std::string_view head, std::string_view text) {
  std::array<char, kLongestBack> stored{};
  const std::string_view back = StoreBack(head.size() + text.size(), stored);
  const size_t size = bytes_.size() + head.size() + text.size() + back.size();
  // After this nothing throws.
  if (size > bytes_.capacity()) bytes_.reserve(std::max(size, 2 * bytes_.capacity()));
  bytes_.pop_back();
  bytes_.append(head).append(text).append(back).push_back(static_cast<char>(kPackedEnd));
  ++items_;
}

std::string_view ListpackWriter::Finish() noexcept {
  StoreLittle(bytes_.data(), bytes_.size(), sizeof(uint32_t));
  StoreLittle(bytes_.data() + kListpackItemsAt, std::min(items_, kManyPacked), sizeof(uint16_t));
  return bytes_;
}

}  // namespace mayfly::rdb
