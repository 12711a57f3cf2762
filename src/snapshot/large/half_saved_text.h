// A large string that is half saved (half_saved.h). The text is held by reference: a SET or a DEL of the key costs nothing.
// Before an edit in place of a few bytes, their parts of the text are copied. An edit of many bytes, or one that makes the text
// longer, waits until the rest of the text is in the file or in the buffer, in pieces; or it edits a copy
// (exec/values/saved_access.h). The text is not compressed.
//
//   0      at_                                             size
//   |  read  |  part  | copied |  part  | copied |  part  |
//
// Invariant: at_ is where a part begins, or the size; copied_ has parts from at_ on alone.
#pragma once

#include <map>
#include <string>

#include "base/memory/shared_bytes.h"
#include "cache/entry/value_listener.h"
#include "snapshot/large/half_saved.h"

namespace mayfly {

class HalfSavedText final : public HalfSaved, private SlicedReader {
 public:
  // As HalfSaved::Begin.
  HalfSavedText(HalfSavedHost& home, unsigned database, const Entry& entry, std::string&& facts);
  ~HalfSavedText() override { GiveUp(); }

  bool Some(std::string& out) override;
  void GiveUp() noexcept override;
  bool Unwind(size_t) noexcept override { return true; }
  bool PutAside() override;
  bool BeginEdit(size_t begin, size_t end) noexcept override;
  void EndEdit() noexcept override;
  uint64_t TextBytes() const noexcept override { return text_ && text_.Unique() ? text_.size() : 0; }

 private:
  void OnAwaited() noexcept override { home_.OnAwaited(*this); }
  // Appends the next bytes of the text, and lets go of the text after the last. Throws std::bad_alloc, and has read nothing
  // then. REQUIRES: there are such bytes.
  void Read(std::string& bytes);
  void LetGoOfText() noexcept;
  // Throws std::bad_alloc; what is copied by then stays.
  void CopyParts(size_t begin, size_t end);

  SharedBytes text_;  // null: nothing is left to read
  size_t at_ = 0;
  std::map<size_t, std::string>
      copied_;  // by the place of their first byte: parts that have changed since the begin
  bool begun_ = false;
  bool edited_ = false;  // between BeginEdit and EndEdit
};

}  // namespace mayfly
