// Builds one value from an object of the RDB format, in slices. The input may come from an enemy.
//
//     ValueIn reader(limits);
//     if (!reader.Begin(type, {.home = keyspace.home(), .now = now})) ... the type is unknown: modules, or what newer servers write
//     for (;;) {
//       size_t budget = 1000;
//       switch (reader.Some(in, budget)) {
//         case ValueStatus::kDone: put reader.TakeString() or reader.TakeRich() into the keyspace
//         case ValueStatus::kMore: give `in` a longer window (In::bytes_needed says how long); if the input has no more bytes,
//                                  the value is damaged
//         case ValueStatus::kSpent: do other work first
//         case ValueStatus::kBad, kRefused, kEmpty, kExpired: there is no value
//       }
//     }
//
// Known types: 0 to 5, 9 to 27. Type 22 has two meanings, and `valkey` selects the meaning. Values get the forms that the
// limits demand, whatever their form in the input.
//
// Some data is lost. Fields past their deadlines are dropped and counted. Entries of streams marked as deleted are dropped,
// and idempotent producers as well.
//
// kRefused reports wrong contents: members that occur twice, scores that are not numbers, IDs that do not ascend, collections with
// parts that contradict each other. kBad reports bytes that are no value of the type. A value without members is kEmpty: a server
// that reads a file passes over the key, and RESTORE refuses the payload. After kBad the place in the input is unspecified. After
// kDone, kRefused, kEmpty and kExpired the whole value is consumed.
//
// Units of a budget: elements, and kBytesOfElement of texts. An element or a packed collection is read at once, whatever the
// budget: a packed collection of another server is as large as its limits allow. A long string without compression is read in
// slices, into its place, if the input has enough bytes (SetFollowing). Nothing else is allocated for an announced number.
//
// If memory runs out, Some throws std::bad_alloc; then only Begin and the destructor may follow. Loop thread only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>
#include <variant>

#include "base/memory/shared_bytes.h"
#include "cache/entry/rich_value.h"
#include "cache/entry/value.h"
#include "snapshot/values/hash_in.h"
#include "snapshot/values/list_in.h"
#include "snapshot/values/reading.h"
#include "snapshot/values/set_in.h"
#include "snapshot/values/sorted_set_in.h"
#include "snapshot/values/stream_in.h"

namespace mayfly::rdb {

class ValueIn {
 public:
  struct Source {
    MemberHome home;  // of the members of a large value
    Now now;
    bool valkey = false;
    bool ttls = false;  // see ReadingTerms
    bool keeps_due = false;
  };

  explicit ValueIn(const ValueLimits& limits) noexcept : limits_(limits) {}

  // Begins a value of this type, and drops a value that was begun before. Returns false if the type is unknown.
  // Throws std::bad_alloc.
  [[nodiscard]] bool Begin(uint8_t type, const Source& source);
  // Sets the bytes of the input after the window of the next Some; 0 unless called.
  void SetFollowing(uint64_t bytes) noexcept { following_ = bytes; }
  // Reads on, and subtracts the work from `budget`. REQUIRES: Begin has returned true, and no earlier call for
  // the value returned another status than kMore or kSpent.
  ValueStatus Some(In& in, size_t& budget);

  // Returns true if the value is a string.
  bool is_string() const noexcept { return std::holds_alternative<Text>(reader_); }
  // The string, as SET stores it. Borrows the text, which is valid as a text of In::String. Throws std::bad_alloc.
  // REQUIRES: Some has returned kDone; is_string().
  StringValue TakeString() {
    Text& read = std::get<Text>(reader_);
    return read.block ? StringValue::Block(std::move(read.block)) : StringValue::Of(read.text);
  }
  // The string's text, valid as TakeString's.
  std::string_view text() const noexcept {
    const Text& read = std::get<Text>(reader_);
    return read.block ? std::string_view(read.block.data(), read.block.size()) : read.text;
  }
  // Null for a string. REQUIRES: Some has returned kDone, or nothing follows but Begin and the destructor.
  std::unique_ptr<RichValue> TakeRich() noexcept;

  // True for a stream that says another length than it has; it has its true length.
  bool wrong_length() const noexcept;
  // The dropped fields of the value.
  size_t expired_fields() const noexcept;

 private:
  struct Text {
    ValueStatus Some(In& in, size_t& budget, uint64_t following);

    std::string_view text;
    SharedBytes block;  // the text, if it is read in slices
    size_t filled = 0;  // of the block
  };

  const ValueLimits limits_;
  uint64_t following_ = 0;
  std::variant<std::monostate, Text, HashIn, ListIn, SetIn, SortedSetIn, StreamIn> reader_;
};

}  // namespace mayfly::rdb
