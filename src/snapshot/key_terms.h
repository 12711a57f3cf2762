// A key's terms that only Mayfly has, for a snapshot file: the clock of the deadline, SLIDE, STALE and tags. A record of the
// terms is the value of an AUX field before the key; Redis and Valkey skip unknown AUX fields.
//
//   AUX "m" <terms> | deadline | idle time | type | key | value
//
//   terms:  a byte of Bits, then the parts whose bits are set, in the order of the bits:
//     kWall         nothing: the deadline is a promise in Unix time (EXAT). Without the bit the deadline is a TTL, which no
//                   step of the clock moves
//     kSlide        length: ms;  length: the end of SLIDE MAX as Unix ms, 0 for none
//     kStaleWindow  length: ms
//     kTags         length: number of tags;  a string for each
//     kWallMembers  nothing: likewise for deadlines of members
//     kExpired      nothing: the deadline was over before the save. The value is stale, and EXPLOG has had the key
//
// A key without terms has no record. Lengths and strings are written as in snapshot/format/rdb_out.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cache/keyspace/keyspace.h"
#include "cache/tags/task_name.h"
#include "snapshot/format/rdb_in.h"

namespace mayfly {

struct KeyTerms {
  // The AUX field's name.
  static constexpr std::string_view kField = "m";

  bool wall = false;
  bool wall_members = false;
  bool expired = false;
  uint64_t slide_ms = 0;
  int64_t slide_until_unix_ms = 0;  // 0: no end
  uint64_t stale_ms = 0;
  std::vector<std::string> tags;  // including a task's tag (cache/tags/task_name.h)

  bool IsTask() const noexcept { return std::any_of(tags.begin(), tags.end(), IsTaskTag); }
  bool operator==(const KeyTerms&) const = default;
};

// Appends the AUX field with the terms of `entry` to `bytes`, or nothing if the entry has no terms. `expired`: the entry is a
// stale value of `keyspace`. Throws std::bad_alloc.
void WriteKeyTerms(const Keyspace& keyspace, const Entry& entry, bool expired, Now now, std::string& bytes);

// Returns false if the record cannot be read. Throws std::bad_alloc.
bool ReadKeyTerms(std::string_view record, KeyTerms& terms);

}  // namespace mayfly
