// A large string that is half saved (half_saved.h). The text is held by reference: a SET or a DEL of the key costs nothing,
// and an edit in place waits, or edits a copy (exec/values/saved_access.h). The text is not compressed.
#pragma once

#include <string>

#include "base/memory/shared_bytes.h"
#include "snapshot/large/half_saved.h"

namespace mayfly {

class HalfSavedText final : public HalfSaved {
 public:
  // As HalfSaved::Begin.
  HalfSavedText(SaveHome& home, unsigned database, const Entry& entry, std::string&& facts);
  ~HalfSavedText() override { GiveUp(); }

  bool Some(std::string& out) override;
  void GiveUp() noexcept override;
  bool Unwind(size_t) noexcept override { return true; }
  uint64_t TextBytes() const noexcept override { return text_ && text_.Unique() ? text_.size() : 0; }

 private:
  SharedBytes text_;
  size_t at_ = 0;
  bool begun_ = false;
};

}  // namespace mayfly
