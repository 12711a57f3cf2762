#include "snapshot/format/rdb_out.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/text/numbers.h"
#include "snapshot/format/byte_order.h"
#include "snapshot/format/lzf.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

constexpr size_t kLongestInt32 = 11;  // "-2147483648"
constexpr size_t kLongestLength = 9;

// Writes a length to `to`, which has room for kLongestLength bytes. Returns the number of bytes written.
size_t StoreLength(char* to, uint64_t length) noexcept {
  if (length < 1U << 6) {
    *to = static_cast<char>(length_form::kBits6 | length);
    return 1;
  }
  if (length < 1U << 14) {
    to[0] = static_cast<char>(length_form::kBits14 | length >> 8);
    to[1] = static_cast<char>(length);
    return 2;
  }
  const bool wide = length > UINT32_MAX;
  const size_t bytes = wide ? sizeof(uint64_t) : sizeof(uint32_t);
  *to = static_cast<char>(wide ? length_form::kBits64 : length_form::kBits32);
  for (size_t i = 0; i < bytes; ++i) to[bytes - i] = static_cast<char>(length >> 8 * i);
  return 1 + bytes;
}

}  // namespace

void Out::FileHead(unsigned version) {
  constexpr size_t kDigits = kHeadBytes - kRedisMagic.size();
  const std::string digits = std::to_string(version);
  assert(digits.size() <= kDigits);
  bytes_.append(kRedisMagic).append(kDigits - digits.size(), '0').append(digits);
}

void Out::Length(uint64_t length) {
  std::array<char, kLongestLength> stored{};
  bytes_.append(stored.data(), StoreLength(stored.data(), length));
}

void Out::String(std::string_view text) {
  int64_t value = 0;
  if (text.size() - 1 < kLongestInt32 && ParseInteger(text, value) && SmallInteger(value)) return;
  if (MayCompress(text) && Compressed(text)) return;
  Length(text.size());
  Bytes(text);
}

bool Out::MayCompress(std::string_view text) const noexcept {
  if (compression_ == Compression::kNone || text.size() <= kNeverCompressed) return false;
  return compression_ == Compression::kLzf || (text.size() <= kMostCompressed && !lzf::LooksRandom(text));
}

void Out::IntegerString(int64_t value) {
  if (SmallInteger(value)) return;
  std::array<char, kMaxIntegerText> text{};
  const size_t size = FormatInteger(value, text.data());
  Length(size);
  Bytes({text.data(), size});
}

bool Out::SmallInteger(int64_t value) {
  constexpr std::array<uint8_t, 3> kForms = {string_form::kInt8, string_form::kInt16, string_form::kInt32};
  const auto bytes = static_cast<unsigned>(std::bit_ceil(SignedBytes(value)));
  const auto form = static_cast<size_t>(std::countr_zero(bytes));
  if (form >= kForms.size()) return false;
  Byte(kForms[form]);
  AppendLittle(bytes_, static_cast<uint64_t>(value), bytes);
  return true;
}

bool Out::Compressed(std::string_view text) {
  const size_t start = bytes_.size();
  const size_t room = text.size() - lzf::kLeastGain;
  // The length compressed comes first, so its size is known last: the text is compressed behind the longest head.
  std::array<char, 1 + 2 * kLongestLength> head{static_cast<char>(string_form::kLzf)};
  bytes_.resize(start + head.size() + room);
  char* const compressed = bytes_.data() + start + head.size();
  const size_t size = lzf::Compress(text, {compressed, room});
  if (size != 0) {
    size_t head_size = 1 + StoreLength(&head[1], size);
    head_size += StoreLength(&head[head_size], text.size());
    std::copy_n(head.data(), head_size, bytes_.data() + start);
    std::copy(compressed, compressed + size, bytes_.data() + start + head_size);
    bytes_.resize(start + head_size + size);
  } else {
    bytes_.resize(start);
  }
  return size != 0;
}

void Out::Double(double value) { AppendLittle(bytes_, std::bit_cast<uint64_t>(value), sizeof value); }

void Out::DoubleText(double value) {
  if (std::isnan(value)) return Byte(double_form::kNan);
  if (std::isinf(value)) return Byte(value > 0 ? double_form::kInfinity : double_form::kMinusInfinity);
  std::array<char, kMaxDoubleText> text{};
  const size_t size = FormatDouble(value, text.data());
  Byte(static_cast<uint8_t>(size));
  Bytes({text.data(), size});
}

void Out::Millis(int64_t ms) { AppendLittle(bytes_, static_cast<uint64_t>(ms), sizeof ms); }

void Out::Seconds(int64_t s) {
  assert(s <= std::numeric_limits<int32_t>::max() && s >= std::numeric_limits<int32_t>::min());
  AppendLittle(bytes_, static_cast<uint64_t>(s), sizeof(int32_t));
}

void Out::StreamId(uint64_t ms, uint64_t seq) {
  AppendBig(bytes_, ms, sizeof ms);
  AppendBig(bytes_, seq, sizeof seq);
}

void Out::Checksum(uint64_t crc) { AppendLittle(bytes_, crc, sizeof crc); }

}  // namespace mayfly::rdb
