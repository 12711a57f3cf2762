#include "snapshot/format/rdb_in.h"

#include <bit>
#include <charconv>
#include <limits>
#include <span>
#include <system_error>

#include "base/text/numbers.h"
#include "snapshot/format/byte_order.h"
#include "snapshot/format/lzf.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {
namespace {

// Reads a decimal number of `digits`, all of which must be digits.
bool ReadDigits(std::string_view digits, unsigned& number) noexcept {
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && rest == end;
}

}  // namespace

const char* In::Take(uint64_t size) noexcept {
  needed_ = size;
  if (size > window_.size() - at_) return nullptr;
  const char* const taken = window_.data() + at_;
  at_ += size;
  return taken;
}

ReadStatus In::GiveBack(size_t start, ReadStatus status) noexcept {
  if (status != ReadStatus::kOk) {
    needed_ += at_ - start;
    at_ = start;
  }
  return status;
}

ReadStatus In::FileHead(unsigned& version, bool& valkey) noexcept {
  const size_t start = at_;
  const char* const taken = Take(kHeadBytes);
  if (taken == nullptr) return ReadStatus::kMore;
  const std::string_view head(taken, kHeadBytes);
  valkey = head.starts_with(kValkeyMagic);
  if (!valkey && !head.starts_with(kRedisMagic)) return GiveBack(start, ReadStatus::kBad);
  const std::string_view digits = head.substr((valkey ? kValkeyMagic : kRedisMagic).size());
  return GiveBack(start, ReadDigits(digits, version) ? ReadStatus::kOk : ReadStatus::kBad);
}

ReadStatus In::Byte(uint8_t& byte) noexcept {
  const char* const taken = Take(1);
  if (taken == nullptr) return ReadStatus::kMore;
  byte = static_cast<uint8_t>(*taken);
  return ReadStatus::kOk;
}

ReadStatus In::Bytes(uint64_t size, std::string_view& bytes) noexcept {
  const char* const taken = Take(size);
  if (taken == nullptr) return ReadStatus::kMore;
  bytes = {taken, static_cast<size_t>(size)};
  return ReadStatus::kOk;
}

ReadStatus In::Skip(uint64_t size) noexcept {
  return Take(size) == nullptr ? ReadStatus::kMore : ReadStatus::kOk;
}

ReadStatus In::Length(uint64_t& length) noexcept {
  const size_t start = at_;
  uint8_t first = 0;
  if (Byte(first) != ReadStatus::kOk) return ReadStatus::kMore;
  return GiveBack(start, LengthAfter(first, length));
}

ReadStatus In::LengthAfter(uint8_t first, uint64_t& length) noexcept {
  const uint64_t own_bits = first & ~unsigned{length_form::kMask};
  size_t more = 0;
  switch (first & length_form::kMask) {
    case length_form::kBits6:
      length = own_bits;
      return ReadStatus::kOk;
    case length_form::kBits14:
      more = 1;
      break;
    case length_form::kBits32:
      if (first != length_form::kBits32 && first != length_form::kBits64) return ReadStatus::kBad;
      more = first == length_form::kBits32 ? sizeof(uint32_t) : sizeof(uint64_t);
      break;
    default:
      return ReadStatus::kBad;
  }
  const char* const taken = Take(more);
  if (taken == nullptr) return ReadStatus::kMore;
  length = LoadBig(taken, more);
  if (more == 1) length |= own_bits << 8;
  return ReadStatus::kOk;
}

ReadStatus In::HeadOfString(StringHead& head) noexcept {
  const size_t start = at_;
  uint8_t first = 0;
  if (Byte(first) != ReadStatus::kOk) return ReadStatus::kMore;
  head = {};
  switch (first) {
    case string_form::kInt8:
      return GiveBack(start, IntegerHead(sizeof(int8_t), head));
    case string_form::kInt16:
      return GiveBack(start, IntegerHead(sizeof(int16_t), head));
    case string_form::kInt32:
      return GiveBack(start, IntegerHead(sizeof(int32_t), head));
    case string_form::kLzf:
      return GiveBack(start, LzfHead(head));
    default:
      break;
  }
  ReadStatus status = LengthAfter(first, head.size);
  if (status == ReadStatus::kOk && head.size > kStringMax) status = ReadStatus::kBad;
  head.stored = head.size;
  return GiveBack(start, status);
}

ReadStatus In::IntegerHead(size_t bytes, StringHead& head) noexcept {
  const char* const taken = Take(bytes);
  if (taken == nullptr) return ReadStatus::kMore;
  head.kind = StringHead::Kind::kInteger;
  head.integer = LoadSigned(taken, bytes);
  return ReadStatus::kOk;
}

ReadStatus In::LzfHead(StringHead& head) noexcept {
  head.kind = StringHead::Kind::kLzf;
  ReadStatus status = Length(head.stored);
  if (status == ReadStatus::kOk) {
    if (head.stored > kStringMax) return ReadStatus::kBad;
    status = Length(head.size);
  }
  if (status != ReadStatus::kOk) return status;
  const bool possible =
      head.size != 0 && head.size <= kStringMax && head.size <= lzf::LongestText(head.stored);
  return possible ? ReadStatus::kOk : ReadStatus::kBad;
}

ReadStatus In::String(std::string_view& text) {
  const size_t start = at_;
  StringHead head;
  ReadStatus status = HeadOfString(head);
  if (status == ReadStatus::kOk) status = Payload(head, text);
  if (status == ReadStatus::kOk) text_bytes_ += text.size();
  return GiveBack(start, status);
}

ReadStatus In::SkipString() noexcept {
  const size_t start = at_;
  StringHead head;
  ReadStatus status = HeadOfString(head);
  if (status == ReadStatus::kOk) status = Skip(head.stored);
  return GiveBack(start, status);
}

ReadStatus In::Payload(const StringHead& head, std::string_view& text) {
  if (head.kind == StringHead::Kind::kRaw) return Bytes(head.size, text);
  if (head.kind == StringHead::Kind::kInteger) {
    std::string& scratch = Scratch();
    scratch.resize(kMaxIntegerText);
    scratch.resize(FormatInteger(head.integer, scratch.data()));
    text = scratch;
    return ReadStatus::kOk;
  }
  std::string_view compressed;
  if (const ReadStatus status = Bytes(head.stored, compressed); status != ReadStatus::kOk) return status;
  std::string& scratch = Scratch();
  scratch.resize(head.size);
  text = scratch;
  return lzf::Decompress(compressed, scratch) ? ReadStatus::kOk : ReadStatus::kBad;
}

std::string& In::Scratch() noexcept {
  std::string& scratch = scratch_[next_scratch_];
  next_scratch_ = 1 - next_scratch_;
  if (scratch.capacity() > kKeptScratch) scratch = std::string();
  return scratch;
}

ReadStatus In::Double(double& value) noexcept {
  const char* const taken = Take(sizeof value);
  if (taken == nullptr) return ReadStatus::kMore;
  value = LoadLittle<double>(taken);
  return ReadStatus::kOk;
}

ReadStatus In::DoubleText(double& value) noexcept {
  const size_t start = at_;
  uint8_t first = 0;
  if (Byte(first) != ReadStatus::kOk) return ReadStatus::kMore;
  switch (first) {
    case double_form::kNan:
      value = std::numeric_limits<double>::quiet_NaN();
      return ReadStatus::kOk;
    case double_form::kInfinity:
      value = std::numeric_limits<double>::infinity();
      return ReadStatus::kOk;
    case double_form::kMinusInfinity:
      value = -std::numeric_limits<double>::infinity();
      return ReadStatus::kOk;
    default:
      break;
  }
  const char* const taken = Take(first);
  if (taken == nullptr) return GiveBack(start, ReadStatus::kMore);
  const auto [rest, error] = std::from_chars(taken, taken + first, value);
  const bool whole = error == std::errc() && rest == taken + first;
  return GiveBack(start, whole ? ReadStatus::kOk : ReadStatus::kBad);
}

ReadStatus In::Millis(int64_t& ms) noexcept {
  const char* const taken = Take(sizeof ms);
  if (taken == nullptr) return ReadStatus::kMore;
  ms = LoadLittle<int64_t>(taken);
  return ReadStatus::kOk;
}

ReadStatus In::Seconds(int64_t& s) noexcept {
  const char* const taken = Take(sizeof(int32_t));
  if (taken == nullptr) return ReadStatus::kMore;
  s = LoadLittle<int32_t>(taken);
  return ReadStatus::kOk;
}

ReadStatus In::StreamId(uint64_t& ms, uint64_t& seq) noexcept {
  const char* const taken = Take(sizeof ms + sizeof seq);
  if (taken == nullptr) return ReadStatus::kMore;
  ms = LoadBig(taken, sizeof ms);
  seq = LoadBig(taken + sizeof ms, sizeof seq);
  return ReadStatus::kOk;
}

ReadStatus In::Checksum(uint64_t& crc) noexcept {
  const char* const taken = Take(sizeof crc);
  if (taken == nullptr) return ReadStatus::kMore;
  crc = LoadLittle<uint64_t>(taken);
  return ReadStatus::kOk;
}

}  // namespace mayfly::rdb
