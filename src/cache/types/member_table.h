// The members of a large hash, set or sorted set, for walks in slices: Members::StartWalk.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/entry/expiry.h"
#include "cache/types/members.h"

namespace mayfly {

struct MemberTable {
  Members* members = nullptr;
  size_t live = 0;                            // members that are not due
  Expiry::Kind clock = Expiry::Kind::kNever;  // of the deadlines
  uint64_t due_until_ms = 0;                  // members with a deadline up to this time are due
  uint64_t nearest_ms = 0;                    // deadline of a live member; 0: no live member has a deadline
};

}  // namespace mayfly
