#include "cache/entry/value.h"

#include <cassert>
#include <cstring>
#include <optional>

#include "base/text/numbers.h"
#include "cache/entry/rich_value.h"

namespace mayfly {

StringValue StringValue::OfAny(std::string_view text) {
  if (text.size() <= kMaxIntegerText && !text.empty()) {
    if (const std::optional<int64_t> integer = ParseInteger(text)) return Integer(*integer);
  }
  if (text.size() > Entry::kMaxInlineValue) return Block(SharedBytes::Copy(text));
  StringValue value(Encoding::kText);
  value.text_ = text;
  return value;
}

StringValue StringValue::Edited(std::string_view text) {
  if (text.size() > Entry::kMaxInlineValue) return Block(SharedBytes::Copy(text));
  StringValue value(Encoding::kEdited);
  value.text_ = text;
  return value;
}

StringValue StringValue::Integer(int64_t integer) noexcept {
  StringValue value(Encoding::kInteger);
  value.integer_ = integer;
  return value;
}

StringValue StringValue::CopyOf(const Entry& entry) {
  assert(entry.encoding() != Encoding::kRich);
  switch (entry.encoding()) {
    case Encoding::kInteger:
      return Integer(entry.integer());
    case Encoding::kBlock: {
      StringValue value(Encoding::kBlock);
      value.block_ = entry.block();
      return value;
    }
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kRich:
      break;
  }
  return StringValue(entry.encoding(), entry.stored());
}

StringValue StringValue::Block(SharedBytes block) {
  if (block.size() <= Entry::kMaxInlineValue) {
    StringValue value(Encoding::kText);
    value.text_ = block.view();
    return value;
  }
  StringValue value(Encoding::kBlock);
  value.block_ = std::move(block);
  return value;
}

size_t StringValue::OtherStoredBytes() const noexcept {
  switch (encoding_) {
    case Encoding::kInteger:
      return Entry::PackedIntegerBytes(integer_);
    case Encoding::kBlock:
      return sizeof(void*);
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kRich:
      break;
  }
  return text_.size();
}

size_t StringValue::OtherOutsideBytes() const noexcept {
  if (encoding_ == Encoding::kBlock) return block_.size();
  RichValue* value = nullptr;
  std::memcpy(&value, text_.data(), sizeof value);
  return value->Bytes();
}

void StringValue::StoreOtherTo(char* out) noexcept {
  switch (encoding_) {
    case Encoding::kInteger:
      return Entry::PackInteger(integer_, out, stored_bytes());
    case Encoding::kBlock: {
      assert(block_);
      void* pointer = block_.Release();
      std::memcpy(out, &pointer, sizeof pointer);
      return;
    }
    case Encoding::kText:
    case Encoding::kEdited:
    case Encoding::kRich:
      if (!text_.empty()) std::memcpy(out, text_.data(), text_.size());
  }
}

}  // namespace mayfly
