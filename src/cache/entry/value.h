// StringValue: a string on its way into an entry. It decides the encoding and the bytes to store. Within the keyspace
// it also takes a rich value into its entry.
//
// Ownership: a text is borrowed and must stay valid until the keyspace call returns. A block is shared by
// reference count. A rich value is borrowed; when it is stored, the entry owns it.
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
  // The value that SET stores: an integer if the text is the canonical form of one, else the text. Throws
  // std::bad_alloc.
  [[gnu::always_inline]] static StringValue Of(std::string_view text) {
    if (!IsPlain(text)) [[unlikely]]
      return OfAny(text);
    return StringValue(Encoding::kText, text);
  }
  // Whether Of(text) is that text, by a look at its size and its first byte, which rules out a number. False
  // for a few texts of which this is true.
  [[gnu::always_inline]] static bool IsPlain(std::string_view text) noexcept {
    return text.size() - 1 < Entry::kMaxInlineValue && text[0] > '9';
  }
  // The value that APPEND and SETRANGE store: never an integer; OBJECT ENCODING reports "raw". Throws
  // std::bad_alloc.
  static StringValue Edited(std::string_view text);
  // A text that is never stored as an integer; OBJECT ENCODING reports "embstr" if it is short. For
  // INCRBYFLOAT.
  // REQUIRES: text.size() <= Entry::kMaxInlineValue.
  static StringValue Text(std::string_view text) noexcept {
    assert(text.size() <= Entry::kMaxInlineValue);
    return StringValue(Encoding::kText, text);
  }
  static StringValue Integer(int64_t value) noexcept;
  // The value of another entry: a block is shared, a text is borrowed.
  // REQUIRES: a string (not kRich).
  static StringValue CopyOf(const Entry& entry);
  // Shares `block` if it is longer than kMaxInlineValue. A shorter one is borrowed as a text, so another
  // reference must keep it alive.
  static StringValue Block(SharedBytes block);

  // For Keyspace alone. `value` itself, not only what it points to, must stay valid until the call returns.
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
  // Writes stored_bytes() bytes. If the value is a block, its reference moves into them.
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
