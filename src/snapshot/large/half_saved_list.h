// A large list that is half saved (half_saved.h).
//
//   |  saved  |  next_ ... left_ elements to save  |  dropped at the tail, saved aside  |
//
// Elements are saved from the head. Elements that leave an end before being saved go into a buffer; elements of the tail go
// into tail_, which is written last. Elements that clients add at an end are outside of the range. Before any other change of
// the list the rest of the range is saved at once. Requests that can wait do so (exec/values/saved_access.h), while the rest
// goes into the buffer in pieces.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cache/types/list_value.h"
#include "cache/types/value_listeners.h"
#include "snapshot/large/half_saved.h"

namespace mayfly {

class HalfSavedList final : public HalfSaved, private ListListener {
 public:
  // As HalfSaved::Begin.
  HalfSavedList(HalfSavedHost& home, unsigned database, std::string_view key, ListValue& list,
                std::string&& facts);
  ~HalfSavedList() override { GiveUp(); }

  bool Some(std::string& out) override;
  void GiveUp() noexcept override;
  bool Unwind(size_t) noexcept override { return true; }
  bool PutAside() override;

 private:
  void BeforeDropHead(uint64_t count) noexcept override;
  void BeforeDropTail(uint64_t count) noexcept override;
  void AfterPushHead(uint64_t count) noexcept override { next_ += count; }
  void BeforeChange() noexcept override;
  void OnAwaited() noexcept override { home_.OnAwaited(*this); }
  void Keep(std::unique_ptr<RichValue> value) noexcept override { TakeOver(std::move(value)); }

  // Writes elements from `index` on: `count`, or fewer that have kSliceBytes. Returns the number of written elements.
  uint64_t Write(uint64_t index, uint64_t count, bool all, std::string& bytes) const;
  // Puts up to `count` elements from next_ on into the buffer: one piece. Returns the number of elements. Throws
  // std::bad_alloc.
  uint64_t SaveSomeAside(uint64_t count);
  // Puts `count` elements into the buffer. Throws std::bad_alloc.
  void SaveAside(uint64_t count) {
    while (count != 0) count -= SaveSomeAside(count);
  }
  void Detach() noexcept;

  ListValue* list_;  // null: nothing is left to read
  uint64_t next_ = 0;
  uint64_t left_;
  bool begun_ = false;
  std::vector<std::string> tail_;  // runs of elements, the first in the list last
};

}  // namespace mayfly
