// A string value on its way into an entry: which encoding it takes and which bytes are stored.
//
// The text is borrowed: it must live until the keyspace call returns. A block is shared.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/shared_bytes.h"
#include "cache/entry.h"

namespace mayfly {

class StringValue {
 public:
  // As SET stores it: an integer where the text is exactly one, else the text.
  static StringValue Of(std::string_view text);
  // As APPEND and SETRANGE leave it: never an integer, "raw" for OBJECT ENCODING.
  static StringValue Edited(std::string_view text);
  static StringValue Integer(int64_t value) noexcept;
  // Shares `block` instead of copying it where it is too big to lie in the entry.
  static StringValue Block(SharedBytes block);

  Encoding encoding() const noexcept { return encoding_; }
  size_t stored_bytes() const noexcept;
  // Bytes of memory beside the entry that this value brings along.
  size_t outside_bytes() const noexcept { return block_ ? block_.size() : 0; }
  // Writes stored_bytes() bytes; a block's reference moves into them.
  void StoreTo(char* out) noexcept;

 private:
  explicit StringValue(Encoding encoding) noexcept : encoding_(encoding) {}

  Encoding encoding_;
  std::string_view text_;
  int64_t integer_ = 0;
  SharedBytes block_;
};

}  // namespace mayfly
