// StringValue: a string on its way into an entry. A StringValue decides the encoding and the bytes to store. Within the
// keyspace it also carries a rich value into an entry.
//
// Ownership: a text is borrowed and must stay valid until the keyspace call returns. A block is shared by reference count. A
// rich value is borrowed; once stored, the entry owns the rich value.
#pragma once

#include <cassert>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/memory/shared_bytes.h"
#include "base/text/short_bytes.h"
#include "cache/entry/entry.h"

namespace mayfly {

class StringValue {
 public:
  // The value for SET: an integer if the text is the canonical form of an integer, else the text. Throws std::bad_alloc.
  [[gnu::always_inline]] static StringValue Of(std::string_view text) {
    if (!IsPlain(text)) [[unlikely]]
      return OfAny(text);
    return StringValue(Encoding::kText, text);
  }
  // Returns true if the size and the first byte prove that Of(text) is the text itself, not a number. False for a few plain
  // texts.
  [[gnu::always_inline]] static bool IsPlain(std::string_view text) noexcept {
    return text.size() - 1 < Entry::kMaxInlineValue && text[0] > '9';
  }
  // The value for APPEND and SETRANGE: never an integer; OBJECT ENCODING reports "raw". Throws std::bad_alloc.
  static StringValue Edited(std::string_view text);
  // A text that is never stored as an integer; OBJECT ENCODING reports a short text as "embstr". For INCRBYFLOAT.
  // REQUIRES: text.size() <= Entry::kMaxInlineValue.
  static StringValue Text(std::string_view text) noexcept {
    assert(text.size() <= Entry::kMaxInlineValue);
    return StringValue(Encoding::kText, text);
  }
  static StringValue Integer(int64_t value) noexcept;
  // The value of another entry: a block is shared, a text is borrowed.
  // REQUIRES: a string (not kRich).
  static StringValue CopyOf(const Entry& entry);
  // Shares `block` if the block is longer than kMaxInlineValue. Borrows a shorter block as a text, so another reference must
  // keep the block alive.
  static StringValue Block(SharedBytes block);

  // For Keyspace alone. The pointer variable `value`, not only its object, must stay valid until the call returns.
  static StringValue Rich(RichValue* const& value) noexcept {
    return StringValue(Encoding::kRich, {reinterpret_cast<const char*>(&value), sizeof value});
  }

  Encoding encoding() const noexcept { return encoding_; }
  [[gnu::always_inline]] size_t stored_bytes() const noexcept {
    return encoding_ == Encoding::kText ? text_.size() : OtherStoredBytes();
  }
  // Bytes that the value occupies outside the entry.
  [[gnu::always_inline]] size_t outside_bytes() const noexcept {
    return encoding_ < Encoding::kBlock ? 0 : OtherOutsideBytes();
  }
  // Writes stored_bytes() bytes. If the value is a block, its reference moves into these bytes.
  // REQUIRES: called at most once.
  [[gnu::always_inline]] void StoreTo(char* out) noexcept {
    if (encoding_ != Encoding::kText) [[unlikely]]
      return StoreOtherTo(out);
    CopyBytes(out, text_.data(), text_.size());
  }

 private:
  explicit StringValue(Encoding encoding, std::string_view text = {}) noexcept
      : encoding_(encoding), text_(text) {}
  static StringValue OfAny(std::string_view text);
  size_t OtherStoredBytes() const noexcept;
  size_t OtherOutsideBytes() const noexcept;
  void StoreOtherTo(char* out) noexcept;

  Encoding encoding_;
  std::string_view text_;
  int64_t integer_ = 0;
  SharedBytes block_;
};

}  // namespace mayfly
