// The common parts of the readers of values.
//
// A reader takes windows of the input, and keeps its place between windows. A reader consumes whole elements: an incomplete
// element is read again from the next window.
//
// Wrong contents do not end a reader: it goes on to the end of the value without keeping anything more, so that the bytes after the
// value can be read.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/time/clock.h"
#include "cache/types/limits.h"
#include "cache/types/member_home.h"
#include "snapshot/format/packed.h"
#include "snapshot/format/rdb_in.h"

namespace mayfly::rdb {

enum class ValueStatus : uint8_t {
  kDone,     // the value is complete
  kEmpty,    // the value is complete and has no members: no server writes such a value
  kExpired,  // the value is complete, but the deadlines of all its fields are over
  kMore,     // the window ends before the value does
  kSpent,    // the budget is spent before the value ends
  kBad,      // the value is damaged, and its end is not known
  kRefused,  // the value is consumed, but its contents are wrong
};

// The limits of the small forms of each type.
struct ValueLimits {
  HashLimits hash;
  SetLimits set;
  SortedSetLimits sorted_set;
  ListLimit list{-2};
  StreamLimits stream;
};

// Facts about a value besides its bytes.
struct ReadingTerms {
  ValueLimits limits;
  MemberHome home;         // of the members of a large value
  Now now;                 // fields with an earlier deadline are dropped
  bool valkey;             // the input is Valkey's, where type 22 has another meaning
  bool ttls;               // deadlines of fields are TTLs; otherwise promises in Unix time
  bool keeps_due = false;  // due fields stay: a master may still give another deadline
};

// Continues a sequence of primitives after the ones before have succeeded:
//   ReadStatus status = in.String(field);
//   Then(status, [&] { return in.String(value); });
template <typename Read>
void Then(ReadStatus& status, Read&& read) {
  if (status == ReadStatus::kOk) status = read();
}

// Reads one element by read(), which returns a ReadStatus. Consumes nothing of an incomplete element.
template <typename Read>
ReadStatus ReadWhole(In& in, Read&& read) {
  const size_t start = in.at();
  const ReadStatus status = read();
  if (status == ReadStatus::kMore) in.Rewind(start);
  return status;
}

inline ValueStatus NotOk(ReadStatus status) noexcept {
  return status == ReadStatus::kMore ? ValueStatus::kMore : ValueStatus::kBad;
}

inline void Spend(size_t& budget, size_t work) noexcept { budget -= std::min(budget, work); }

// So many bytes of texts cost as much as one more element.
inline constexpr uint64_t kBytesOfElement = 1024;

// Calls fn(const std::array<PackedItem, kStride>&) for each record of kStride items of a packed collection. fn returns false
// for a wrong record. Returns false if a record or the collection is damaged. `records` counts.
template <class Reader, size_t kStride, typename Fn>
bool ForEachRecord(std::string_view packed, size_t& records, Fn&& fn) {
  Reader reader(packed);
  std::array<PackedItem, kStride> record;
  for (size_t filled = 0;;) {
    switch (reader.Next(record[filled])) {
      case ItemStatus::kBad:
        return false;
      case ItemStatus::kEnd:
        return filled == 0;
      case ItemStatus::kItem:
        if (++filled < kStride) continue;
        filled = 0;
        ++records;
        if (!fn(static_cast<const std::array<PackedItem, kStride>&>(record))) return false;
    }
  }
}

// A counted sequence of elements, as most types are: reads the count once, then element by element.
class Counted {
 public:
  // Reads the count if not known yet. Returns kOk if the count is known.
  ReadStatus Begin(In& in) {
    if (known_) return ReadStatus::kOk;
    const ReadStatus status = in.Length(left_);
    known_ = status == ReadStatus::kOk;
    return status;
  }
  // The announced elements not read yet. A number from the input: never a reason to allocate.
  uint64_t left() const noexcept { return left_; }
  // Calls read() for each element left, until read() returns another status than kOk or the budget is spent. read() returns a
  // ReadStatus and consumes the whole element or nothing.
  template <typename Read>
  ValueStatus Continue(In& in, size_t& budget, Read&& read) {
    if (const ReadStatus status = Begin(in); status != ReadStatus::kOk) return NotOk(status);
    for (; left_ != 0; --left_) {
      if (budget == 0) return ValueStatus::kSpent;
      const uint64_t before = in.text_bytes();
      if (const ReadStatus status = ReadWhole(in, read); status != ReadStatus::kOk) return NotOk(status);
      Spend(budget, 1 + (in.text_bytes() - before) / kBytesOfElement);
    }
    return ValueStatus::kDone;
  }

 private:
  bool known_ = false;
  uint64_t left_ = 0;
};

}  // namespace mayfly::rdb
