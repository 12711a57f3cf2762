#include "snapshot/large/half_saved_text.h"

#include <cassert>
#include <string_view>
#include <utility>

#include "cache/entry/entry.h"
#include "cache/keyspace/databases.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// Bytes are only copied: a part is larger than a part of other values. A string of a part and its end fills its memory.
constexpr size_t kPartBytes = (size_t{128} << 10) - 1;

}  // namespace

HalfSavedText::HalfSavedText(SaveHome& home, unsigned database, const Entry& entry, std::string&& facts)
    : HalfSaved(home, database, std::move(facts)), text_(entry.block()) {
  rdb::Out out(head_, home.compression);
  out.Byte(rdb::type::kString);
  out.String(entry.key());
  out.Length(text_.size());
  home.databases.HoldText(text_.data(), *this);
}

bool HalfSavedText::Some(std::string& out) {
  if (!begun_) {
    out += head_;
    begun_ = true;
    return false;
  }
  if (!buffer_.empty())
    buffer_.MoveSome(out);
  else
    Read(out);
  return buffer_.empty() && !text_;
}

bool HalfSavedText::PutAside() {
  if (text_) buffer_.Append([this](std::string& bytes) { Read(bytes); });
  return !text_;
}

void HalfSavedText::Read(std::string& bytes) {
  assert(text_);
  const std::string_view part = text_.view().substr(at_, kPartBytes);
  bytes += part;
  at_ += part.size();
  if (at_ == text_.size()) LetGoOfText();
}

void HalfSavedText::LetGoOfText() noexcept {
  if (!text_) return;
  home_.databases.LetGoText(*this);
  text_ = SharedBytes();
}

void HalfSavedText::GiveUp() noexcept {
  buffer_.Clear();
  LetGoOfText();
}

}  // namespace mayfly
