#include "snapshot/large/half_saved_text.h"

#include <utility>

#include "cache/entry/entry.h"
#include "cache/keyspace/databases.h"
#include "snapshot/format/types.h"

namespace mayfly {

HalfSavedText::HalfSavedText(SaveHome& home, unsigned database, const Entry& entry, std::string&& facts)
    : HalfSaved(home, database, std::move(facts)), text_(entry.block()) {
  rdb::Out out(head_, home.compression);
  out.Byte(rdb::type::kString);
  out.String(entry.key());
  out.Length(text_.size());
  home.databases.HoldText(text_.data());
}

bool HalfSavedText::Some(std::string& out) {
  constexpr size_t kMostAtOnce = 4 * kSliceBytes;  // bytes are only copied
  if (!begun_) {
    out += head_;
    begun_ = true;
    return false;
  }
  const std::string_view part = text_.view().substr(at_, kMostAtOnce);
  out += part;
  at_ += part.size();
  if (at_ != text_.size()) return false;
  GiveUp();
  return true;
}

void HalfSavedText::GiveUp() noexcept {
  if (!text_) return;
  home_.databases.LetGoText(text_.data());
  text_ = SharedBytes();
}

}  // namespace mayfly
