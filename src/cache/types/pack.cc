#include "cache/types/pack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <new>

#include "base/memory/heap.h"
#include "base/text/short_bytes.h"

namespace mayfly {
namespace {

using namespace pack_format;  // NOLINT(google-build-using-namespace): this is the codec

constexpr int64_t kTinyMax = 255 - kTiny;
constexpr uint8_t kMore = 128;  // set in a byte of a size: more bytes stand before this byte

// Bytes that an integer needs in two's complement.
size_t IntegerBytes(int64_t value) noexcept {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  return static_cast<size_t>(std::bit_width(magnitude)) / 8 + 1;
}

// The highest bits come first, and the last byte holds the lowest bits.
uint8_t* WriteBack(uint8_t* out, size_t size) noexcept {
  const size_t bytes = BackBytes(size);
  for (size_t i = bytes; i-- != 0; size >>= kSizeBits)
    out[i] = static_cast<uint8_t>((size & (kMore - 1U)) | (i != 0 ? kMore : 0U));
  return out + bytes;
}

// The bytes before an item's text, or all bytes of an item without a text.
struct Head {
  std::array<uint8_t, 9> bytes{};
  uint8_t size = 0;
  std::string_view text;

  explicit Head(const PackItem& item) noexcept {
    switch (item.kind) {
      case PackItem::Kind::kText:
        OfText(item.text);
        return;
      case PackItem::Kind::kReal:
        bytes[0] = kReal;
        std::memcpy(&bytes[1], &item.real, sizeof item.real);
        size = 1 + sizeof item.real;
        return;
      case PackItem::Kind::kInteger:
        OfInteger(item.integer);
        return;
    }
  }
  void OfText(std::string_view its_text) noexcept {
    text = its_text;
    const auto length = static_cast<uint32_t>(text.size());
    bytes[0] = static_cast<uint8_t>(length);
    size = 1;
    if (length <= kShortText) return;
    const bool wide = length > UINT16_MAX;
    bytes[0] = wide ? kText32 : kText16;
    std::memcpy(&bytes[1], &length, sizeof length);
    size = wide ? 1 + sizeof(uint32_t) : 1 + sizeof(uint16_t);
  }
  void OfInteger(int64_t integer) noexcept {
    size = 1;
    if (integer >= 0 && integer <= kTinyMax) {
      bytes[0] = static_cast<uint8_t>(kTiny + integer);
      return;
    }
    const size_t length = IntegerBytes(integer);
    bytes[0] = static_cast<uint8_t>(kIntegerBase + length);
    std::memcpy(&bytes[1], &integer, sizeof integer);
    size = static_cast<uint8_t>(1 + length);
  }
};

uint8_t* Write(uint8_t* out, const PackItem& item) noexcept {
  const Head head(item);
  std::memcpy(out, head.bytes.data(), head.size);
  CopyBytes(reinterpret_cast<char*>(out + head.size), head.text.data(), head.text.size());
  return out + head.size + head.text.size();
}

}  // namespace

size_t pack_format::LongInnerSize(const uint8_t* item) noexcept {
  const uint8_t head = *item;
  if (head > kIntegerBase) return 1U + head - kIntegerBase;
  if (head == kReal) return 1 + sizeof(double);
  if (head == kText16) {
    uint16_t size = 0;
    std::memcpy(&size, item + 1, sizeof size);
    return 1 + sizeof size + size;
  }
  uint32_t size = 0;
  std::memcpy(&size, item + 1, sizeof size);
  return 1 + sizeof size + size;
}

PackItem PackItem::OfDigits(std::string_view text) noexcept {
  int64_t integer = 0;
  if (ParseInteger(text, integer)) return Of(integer);
  return {.text = text};
}

PackItem PackItem::Of(double real) noexcept {
  constexpr double kExact = 9007199254740992;  // 2^53
  if (real > -kExact && real < kExact && std::trunc(real) == real && !(real == 0 && std::signbit(real)))
    return Of(static_cast<int64_t>(real));
  return {.kind = Kind::kReal, .real = real};
}

template <size_t kRecord>
BasicPack<kRecord> BasicPack<kRecord>::Clone() const {
  BasicPack copy;
  const uint8_t* const held = Bytes();
  if (held == nullptr) return copy;
  auto* const bytes = static_cast<uint8_t*>(::operator new(memory()));
  std::memcpy(bytes, held, end());
  copy.Hold(bytes, end());
  return copy;
}

template <size_t kRecord>
size_t BasicPack<kRecord>::memory() const noexcept {
  return tagged_ == nullptr ? 0 : MallocSizeClass(end());
}

template <size_t kRecord>
void BasicPack<kRecord>::Hold(uint8_t* block, size_t bytes) noexcept {
  assert((reinterpret_cast<uintptr_t>(block) & kTagMask) == 0);
  reinterpret_cast<Block*>(block)->bytes = static_cast<uint32_t>(bytes);
  tagged_ = block + std::min(bytes / kLine, kTagMax);
}

template <size_t kRecord>
size_t BasicPack<kRecord>::CountSteps() const noexcept {
  size_t steps = 0;
  for (At at = begin(); at != end(); at = Next(at)) ++steps;
  return steps;
}

template <size_t kRecord>
void BasicPack<kRecord>::SetSteps(size_t steps) noexcept {
  block()->steps = static_cast<uint16_t>(std::min(steps, kManySteps));
}

template <size_t kRecord>
typename BasicPack<kRecord>::At BasicPack<kRecord>::Prev(At at) const noexcept
  requires(kRecord != 0)
{
  assert(at > begin());
  const uint8_t* byte = Bytes() + at;
  size_t size = 0;
  unsigned shift = 0;
  do {
    size |= static_cast<size_t>(*--byte & (kMore - 1U)) << shift;
    shift += kSizeBits;
  } while ((*byte & kMore) != 0);
  return static_cast<At>(byte - Bytes()) - static_cast<At>(size);
}

template <size_t kRecord>
typename BasicPack<kRecord>::At BasicPack<kRecord>::Second(At at) const noexcept
  requires(kRecord == 2)
{
  assert(at < end());
  return static_cast<At>(at + InnerSize(Bytes() + at));
}

template <size_t kRecord>
typename BasicPack<kRecord>::At BasicPack<kRecord>::Seek(size_t index) const noexcept {
  assert(index <= size());
  if constexpr (kRecord != 0) {
    if (const size_t steps = size(); index > steps / 2) {
      At at = end();
      for (size_t back = steps - index; back != 0; --back) at = Prev(at);
      return at;
    }
  }
  At at = begin();
  for (; index != 0; --index) at = Next(at);
  return at;
}

template <size_t kRecord>
PackItem BasicPack<kRecord>::Read(At at) const noexcept {
  assert(at < end());
  const uint8_t* const item = Bytes() + at;
  const uint8_t head = *item;
  const auto* const text = reinterpret_cast<const char*>(item + 1);
  if (head <= kShortText) return {.text = {text, head}};
  if (head >= kTiny) return PackItem::Of(int64_t{head} - kTiny);
  if (head > kIntegerBase) {
    const unsigned unused_bits = 8U * (sizeof(int64_t) - (head - kIntegerBase));
    uint64_t integer = 0;
    std::memcpy(&integer, text, head - kIntegerBase);
    return PackItem::Of(static_cast<int64_t>(integer << unused_bits) >> unused_bits);
  }
  if (head == kReal) {
    PackItem real{.kind = PackItem::Kind::kReal};
    std::memcpy(&real.real, text, sizeof real.real);
    return real;
  }
  const size_t prefix = head == kText16 ? sizeof(uint16_t) : sizeof(uint32_t);
  return {.text = {text + prefix, InnerSize(item) - 1 - prefix}};
}

template <size_t kRecord>
bool BasicPack<kRecord>::Is(At at, const PackItem& item) const noexcept {
  const Head wanted(item);
  const uint8_t* const bytes = Bytes() + at;
  const auto* const text = reinterpret_cast<const char*>(bytes + wanted.size);
  return bytes[0] == wanted.bytes[0] && InnerSize(bytes) == wanted.size + wanted.text.size() &&
         std::memcmp(bytes, wanted.bytes.data(), wanted.size) == 0 &&
         SameBytes({text, wanted.text.size()}, wanted.text);
}

template <size_t kRecord>
typename BasicPack<kRecord>::At BasicPack<kRecord>::Find(const PackItem& item, At from,
                                                         size_t stride) const noexcept {
  const Head wanted(item);
  const size_t size = wanted.size + wanted.text.size();
  const At last = end();
  for (At at = from; at < last;) {
    const uint8_t* const bytes = Bytes() + at;
    // The first byte distinguishes the sizes of most texts.
    if (bytes[0] == wanted.bytes[0] &&
        (wanted.size == 1 ||
         (InnerSize(bytes) == size && std::memcmp(bytes, wanted.bytes.data(), wanted.size) == 0))) {
      const auto* const text = reinterpret_cast<const char*>(bytes + wanted.size);
      if (SameBytes({text, wanted.text.size()}, wanted.text)) return at;
    }
    for (size_t i = 0; i < stride && at < last; ++i) at = Next(at);
  }
  return last;
}

template <size_t kRecord>
size_t BasicPack<kRecord>::SizeOf(std::span<const PackItem> items) noexcept {
  assert(items.size() % kStepItems == 0);
  size_t size = 0;
  size_t record = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    assert(items[i].text.size() < kTooLong);
    const Head head(items[i]);
    record += head.size + head.text.size();
    if ((i + 1) % kStepItems != 0) continue;
    size += record + (kRecord != 0 ? BackBytes(record) : 0);
    record = 0;
  }
  return size;
}

// The block is always as large as the size class of its bytes; when the size class changes, so does the block.
template <size_t kRecord>
uint8_t* BasicPack<kRecord>::Splice(At from, At to, size_t size) {
  const size_t old_bytes = end();
  const size_t bytes = old_bytes - (to - from) + size;
  assert(bytes < UINT32_MAX);
  const size_t room = MallocSizeClass(bytes);
  uint8_t* held = Bytes();
  if (held != nullptr && room == MallocSizeClass(old_bytes)) {
    if (from + size != to) std::memmove(held + from + size, held + to, old_bytes - to);
  } else {
    auto* const fresh = static_cast<uint8_t*>(::operator new(room));
    if (held == nullptr) {
      new (fresh) Block{sizeof(Block), 0};
    } else {
      std::memcpy(fresh, held, from);
      std::memcpy(fresh + from + size, held + to, old_bytes - to);
      ::operator delete(held);
    }
    held = fresh;
  }
  Hold(held, bytes);
  return held + from;
}

template <size_t kRecord>
void BasicPack<kRecord>::Exchange(At at, size_t count, std::span<const PackItem> items) {
  const size_t steps = size() - count + items.size() / kStepItems;
  At to = at;
  for (size_t i = 0; i < count; ++i) to = Next(to);
  uint8_t* out = Splice(at, to, SizeOf(items));
  const uint8_t* record = out;
  for (size_t i = 0; i < items.size(); ++i) {
    out = Write(out, items[i]);
    if (kRecord == 0 || (i + 1) % kStepItems != 0) continue;
    out = WriteBack(out, static_cast<size_t>(out - record));
    record = out;
  }
  SetSteps(steps);
}

template <size_t kRecord>
void BasicPack<kRecord>::Erase(At at, size_t count) noexcept {
  if (count == 0) return;
  const size_t steps = size() - count;
  At to = at;
  for (size_t i = 0; i < count; ++i) to = Next(to);
  const size_t old_bytes = end();
  const size_t bytes = old_bytes - (to - at);
  uint8_t* const held = Bytes();
  std::memmove(held + at, held + to, old_bytes - to);
  Hold(held, bytes);
  SetSteps(steps);
  const size_t room = MallocSizeClass(bytes);
  if (room == MallocSizeClass(old_bytes)) return;
  // Without memory for a smaller block the pack keeps the present block, and counts it as the smaller block.
  void* const fresh = ::operator new(room, std::nothrow);
  if (fresh == nullptr) return;
  std::memcpy(fresh, held, bytes);
  Hold(static_cast<uint8_t*>(fresh), bytes);
  ::operator delete(held);
}

template <size_t kRecord>
bool BasicPack<kRecord>::Validate() const noexcept {
  if (tagged_ == nullptr) return true;
  if (tag() != std::min(size_t{end()} / kLine, kTagMax)) return false;
  for (At at = begin(); at != end();) {
    if (at >= end()) return false;
    const At next = Next(at);
    if (next > end()) return false;
    if constexpr (kRecord != 0) {
      if (Prev(next) != at) return false;
    }
    At item_at = at;
    for (size_t i = 0; i < kStepItems; ++i) {
      const PackItem item = Read(item_at);
      if (!Is(item_at, item)) return false;
      if (item.kind == PackItem::Kind::kText && PackItem::Of(item.text).kind != PackItem::Kind::kText)
        return false;
      item_at += static_cast<At>(InnerSize(Bytes() + item_at));
    }
    at = next;
  }
  return std::min(CountSteps(), kManySteps) == block()->steps;
}

template class BasicPack<0>;
template class BasicPack<1>;
template class BasicPack<2>;

}  // namespace mayfly
