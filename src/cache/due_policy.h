// What happens at a time of an entry's own that is not a deadline of its value's members: the end of the time in
// which it is fresh, of a lease ... The keyspace finds the entry when that time has come, and asks.
#pragma once

#include "base/clock.h"
#include "cache/expiry.h"

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
