// Decides what happens at a string's own time: the end of freshness or of a lease. A string's own time is no deadline
// of its value's members. The keyspace finds the entry when its own time has come, and calls the policy.
#pragma once

#include "base/time/clock.h"
#include "cache/entry/expiry.h"

namespace mayfly {

class Entry;

class DuePolicy {
 public:
  virtual ~DuePolicy() = default;
  // The own time of `entry` has come, and its key has not expired. Returns its next own time; Never if there is
  // none. Must not change the keyspace.
  virtual Expiry OnOwnTime(const Entry& entry, Now now) noexcept = 0;
};

}  // namespace mayfly
