#include "cache/entry/entry.h"

#include <cassert>

#include "base/text/numbers.h"

namespace mayfly {
namespace {

size_t LengthBytes(size_t length) noexcept {
  size_t bytes = 1;
  while (length >= 0x80) length >>= 7, ++bytes;
  return bytes;
}

char* WriteLength(size_t length, char* out) noexcept {
  for (; length >= 0x80; length >>= 7) *out++ = static_cast<char>(0x80 | (length & 0x7f));
  *out++ = static_cast<char>(length);
  return out;
}

const unsigned char* ReadLength(const unsigned char* from, size_t* length) noexcept {
  size_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    value |= static_cast<size_t>(*from & 0x7f) << shift;
    if (*from++ < 0x80) break;
  }
  *length = value;
  return from;
}

}  // namespace

size_t Entry::Shape::Total() const noexcept {
  return sizeof(EntryHeader) + (expires || timed ? sizeof(EntryExpiry) : 0) +
         (extra.any() ? sizeof(EntryExtra*) : 0) + LengthBytes(key_bytes) + LengthBytes(value_bytes) +
         key_bytes + value_bytes;
}

Entry* Entry::Format(void* memory, const Shape& shape, std::string_view key) noexcept {
  auto* entry = static_cast<Entry*>(memory);
  std::memset(memory, 0, sizeof(EntryHeader) + (shape.expires || shape.timed ? sizeof(EntryExpiry) : 0));
  entry->set_flags(static_cast<uint8_t>(shape.parts()));
  char* at = entry->bytes() + entry->lengths_offset();
  at = WriteLength(shape.key_bytes, at);
  at = WriteLength(shape.value_bytes, at);
  if (!key.empty()) std::memcpy(at, key.data(), key.size());
  return entry;
}

Entry::Lengths Entry::LongLengths(size_t at) const noexcept {
  const auto* begin = reinterpret_cast<const unsigned char*>(bytes());
  Lengths found{};
  const unsigned char* next = ReadLength(begin + at, &found.key);
  next = ReadLength(next, &found.value);
  found.payload = static_cast<size_t>(next - begin);
  return found;
}

bool Entry::SameRoom(size_t payload, size_t key, size_t value, size_t wanted) noexcept {
  return LengthBytes(wanted) == LengthBytes(value) &&
         Heap::SizeClass(payload + key + wanted) == Heap::SizeClass(payload + key + value);
}

bool Entry::Fits(const Shape& shape) const noexcept {
  const Lengths at = lengths();
  return (flags() & kOfTheRoom) == shape.parts() && (!shape.extra.any() || HasTimesAlone(shape)) &&
         SameRoom(at.payload, at.key, at.value, shape.value_bytes);
}

bool Entry::SetLength(size_t payload, size_t key, size_t value, size_t wanted) noexcept {
  if (!SameRoom(payload, key, value, wanted)) return false;
  WriteLength(wanted, bytes() + payload - LengthBytes(value));
  return true;
}

char* Entry::BecomeLong(size_t value_bytes) noexcept {
  const Lengths at = lengths();
  if (value_bytes != at.value && !SetLength(at.payload, at.key, at.value, value_bytes)) return nullptr;
  return bytes() + at.payload + at.key;
}

SharedBytes Entry::block() const noexcept {
  assert(encoding() == Encoding::kBlock);
  SharedBytes own = SharedBytes::Adopt(pointer());
  SharedBytes borrowed = own;
  static_cast<void>(own.Release());
  return borrowed;
}

std::string_view Entry::text() const noexcept {
  assert(encoding() != Encoding::kInteger && encoding() != Encoding::kRich);
  return encoding() == Encoding::kBlock ? block().view() : stored();
}

size_t Entry::TextLength() const noexcept {
  assert(encoding() != Encoding::kRich);
  switch (encoding()) {
    case Encoding::kInteger: {
      char digits[kMaxIntegerText];
      return FormatInteger(integer(), digits);
    }
    case Encoding::kBlock:
      return block().size();
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kRich:
      break;
  }
  return stored().size();
}

size_t Entry::PackedIntegerBytes(int64_t value) noexcept {
  size_t size = 0;
  for (; size < sizeof value; ++size) {
    char packed[sizeof value];
    PackInteger(value, packed, sizeof value);
    if (UnpackInteger({packed, size}) == value) break;
  }
  return size;
}

}  // namespace mayfly
