// Reads lists of the RDB format: types 1, 10, 14 and 18. See reading.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/list_value.h"
#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class ListIn {
 public:
  static bool Knows(uint8_t type) noexcept;
  // REQUIRES: Knows(type).
  ListIn(uint8_t type, const ReadingTerms& terms)
      : type_(type), limit_(terms.limits.list), value_(std::make_unique<ListValue>()) {}

  // Throws std::bad_alloc; then the reader cannot go on.
  ValueStatus Some(In& in, size_t& budget);
  std::unique_ptr<RichValue> Take() noexcept { return std::move(value_); }

 private:
  ReadStatus Element(In& in);
  // A node of a quicklist, or a whole list in a ziplist. A node without elements is passed over: old servers wrote some.
  ReadStatus Node(In& in, size_t& budget);
  template <class Reader>
  bool PushAll(std::string_view packed, size_t& elements);
  void Push(std::string_view text) { value_->Push(ListEnd::kTail, {&text, 1}, limit_); }

  const uint8_t type_;
  const ListLimit limit_;
  std::unique_ptr<ListValue> value_;
  Counted elements_;  // or nodes
  bool refused_ = false;
};

}  // namespace mayfly::rdb
