// Reads sorted sets of the RDB format: types 3, 5, 12 and 17. A member that occurs twice, or a score that is not a number, is
// damage. See reading.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/sorted_set_value.h"
#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class SortedSetIn {
 public:
  static bool Knows(uint8_t type) noexcept;
  // REQUIRES: Knows(type).
  SortedSetIn(uint8_t type, const ReadingTerms& terms)
      : type_(type), terms_(terms), value_(std::make_unique<SortedSetValue>()) {}

  // Throws std::bad_alloc; then the reader cannot go on.
  ValueStatus Some(In& in, size_t& budget);
  std::unique_ptr<RichValue> Take() noexcept { return std::move(value_); }

 private:
  ReadStatus Plain(In& in);
  ValueStatus SomePlain(In& in, size_t& budget);
  ValueStatus Packed(In& in, size_t& budget);
  template <class Reader>
  bool AddAll(std::string_view packed, size_t& members);
  // Returns false for an existing member, or a score that is not a number.
  bool Add(std::string_view name, double score);

  const uint8_t type_;
  const ReadingTerms terms_;
  std::unique_ptr<SortedSetValue> value_;
  Counted members_;
  bool refused_ = false;
};

}  // namespace mayfly::rdb
