// Reads hashes of the RDB format: types 4, 9, 13, 16, and 22 to 25 with deadlines of fields.
//
// A field past its deadline is counted, and not set. A field that occurs twice is damage. See reading.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "cache/types/hash_value.h"
#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class HashIn {
 public:
  static bool Knows(uint8_t type) noexcept;
  // REQUIRES: Knows(type).
  HashIn(uint8_t type, const ReadingTerms& terms)
      : type_(type), terms_(terms), value_(std::make_unique<HashValue>()) {}

  // Throws std::bad_alloc; then the reader cannot go on.
  ValueStatus Some(In& in, size_t& budget);
  std::unique_ptr<RichValue> Take() noexcept { return std::move(value_); }
  size_t expired_fields() const noexcept { return expired_; }

 private:
  ReadStatus Plain(In& in);
  ReadStatus TimedRedis(In& in);
  ReadStatus TimedValkey(In& in);
  ReadStatus Smallest(In& in);
  ValueStatus Packed(In& in, size_t& budget);
  template <class Reader>
  bool Untimed(std::string_view packed, size_t& fields);
  bool Timed(std::string_view packed, size_t& fields);
  // Sets a field, unless the value is refused already. `deadline_ms`: Unix time; 0 for none.
  void Take(std::string_view field, std::string_view value, uint64_t deadline_ms);
  // Returns false for an existing field, or for a deadline that no server sets.
  bool Set(std::string_view field, std::string_view value, uint64_t deadline_ms);
  ValueStatus End() const noexcept;

  const uint8_t type_;
  const ReadingTerms terms_;
  std::unique_ptr<HashValue> value_;
  Counted fields_;
  bool has_smallest_ = false;
  uint64_t smallest_ms_ = 0;  // the other deadlines are differences from this deadline
  size_t expired_ = 0;
  bool refused_ = false;
};

}  // namespace mayfly::rdb
