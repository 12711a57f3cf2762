// Reads sets of the RDB format: types 2, 11 and 20. A member that occurs twice is damage. See reading.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/set_value.h"
#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class SetIn {
 public:
  static bool Knows(uint8_t type) noexcept;
  // REQUIRES: Knows(type).
  SetIn(uint8_t type, const ReadingTerms& terms)
      : type_(type), terms_(terms), value_(std::make_unique<SetValue>()) {}

  // Throws std::bad_alloc; then the reader cannot go on.
  ValueStatus Some(In& in, size_t& budget);
  std::unique_ptr<RichValue> Take() noexcept { return std::move(value_); }

 private:
  ReadStatus Plain(In& in);
  ValueStatus Packed(In& in, size_t& budget);
  template <class Reader>
  bool AddAll(std::string_view packed, size_t& members);
  // Returns false for an existing member.
  bool Add(std::string_view member) { return value_->Add(member, terms_.limits.set, terms_.home); }

  const uint8_t type_;
  const ReadingTerms terms_;
  std::unique_ptr<SetValue> value_;
  Counted members_;
  bool refused_ = false;
};

}  // namespace mayfly::rdb
