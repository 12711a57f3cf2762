#include "snapshot/large/half_saved_text.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <string_view>
#include <utility>

#include "cache/entry/entry.h"
#include "cache/keyspace/databases.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// Bytes are only copied: a part is larger than a part of other values. A string of a part and its end fills its memory.
constexpr size_t kPartBytes = (size_t{128} << 10) - 1;
// An edit of more bytes waits: to copy so many takes some 0.1 ms.
constexpr size_t kEditedAtOnce = size_t{1} << 20;

}  // namespace

HalfSavedText::HalfSavedText(HalfSavedHost& home, unsigned database, const Entry& entry, std::string&& facts)
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
  const auto copied = copied_.find(at_);
  const std::string_view part =
      copied != copied_.end() ? std::string_view(copied->second) : text_.view().substr(at_, kPartBytes);
  bytes += part;
  at_ += part.size();
  if (copied != copied_.end()) {
    home_.buffered_bytes -= part.size();
    copied_.erase(copied);
  }
  if (at_ == text_.size()) LetGoOfText();
}

void HalfSavedText::LetGoOfText() noexcept {
  if (!text_) return;
  EndEdit();
  for (const auto& [at, part] : copied_) home_.buffered_bytes -= part.size();
  copied_.clear();
  home_.databases.LetGoText(*this);
  text_ = SharedBytes();
}

// Without memory the request waits, or edits a copy.
bool HalfSavedText::BeginEdit(size_t begin, size_t end) noexcept {
  assert(text_ && !edited_ && begin <= end);
  if (end > text_.size() || end - begin > kEditedAtOnce || !home_.HasRoomAside()) return false;
  try {
    CopyParts(begin, end);
  } catch (const std::bad_alloc&) {
    return false;
  }
  home_.CountBytes();
  text_.Suspend();
  edited_ = true;
  if (!text_.Unique()) EndEdit();  // a reply, or another key, has the text as well
  return edited_;
}

void HalfSavedText::CopyParts(size_t begin, size_t end) {
  for (size_t at = std::max(begin - begin % kPartBytes, at_); at < end; at += kPartBytes) {
    const auto [copied, is_new] = copied_.try_emplace(at);
    if (!is_new) continue;
    try {
      copied->second = text_.view().substr(at, kPartBytes);
    } catch (const std::bad_alloc&) {
      copied_.erase(copied);
      throw;
    }
    home_.buffered_bytes += copied->second.size();
  }
}

void HalfSavedText::EndEdit() noexcept {
  if (std::exchange(edited_, false)) text_.Resume();
}

void HalfSavedText::GiveUp() noexcept {
  buffer_.Clear();
  LetGoOfText();
}

}  // namespace mayfly
