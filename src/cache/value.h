// A string value on its way into an entry: which encoding it takes and which bytes are stored.
//
// The text is borrowed: it must live until the keyspace call returns. A block is shared.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/shared_bytes.h"
#include "base/short_bytes.h"
#include "cache/entry.h"

namespace mayfly {

class StringValue {
 public:
  // As SET stores it: an integer where the text is exactly one, else the text.
  [[gnu::always_inline]] static StringValue Of(std::string_view text) {
    // Most texts tell by their first byte that they are no number.
    const bool plain = text.size() - 1 < Entry::kMaxInlineValue && text[0] > '9';
    if (!plain) [[unlikely]]
      return OfAny(text);
    return StringValue(Encoding::kText, text);
  }
  // As APPEND and SETRANGE leave it: never an integer, "raw" for OBJECT ENCODING.
  static StringValue Edited(std::string_view text);
  // A text of a command's own making, never an integer, "embstr" where it is short: what INCRBYFLOAT leaves.
  // REQUIRES: text.size() <= Entry::kMaxInlineValue.
  static StringValue Text(std::string_view text) noexcept { return StringValue(Encoding::kText, text); }
  static StringValue Integer(int64_t value) noexcept;
  // As another entry has it: a block is shared, a text borrowed. REQUIRES: a string (not kRich).
  static StringValue CopyOf(const Entry& entry);
  // Shares `block` instead of copying it where it is too big to lie in the entry.
  static StringValue Block(SharedBytes block);

  Encoding encoding() const noexcept { return encoding_; }
  [[gnu::always_inline]] size_t stored_bytes() const noexcept {
    return encoding_ == Encoding::kText ? text_.size() : OtherStoredBytes();
  }
  // Bytes of memory beside the entry that this value brings along.
  [[gnu::always_inline]] size_t outside_bytes() const noexcept { return block_ ? block_.size() : 0; }
  // Writes stored_bytes() bytes; a block's reference moves into them.
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
  void StoreOtherTo(char* out) noexcept;

  Encoding encoding_;
  std::string_view text_;
  int64_t integer_ = 0;
  SharedBytes block_;
};

}  // namespace mayfly
