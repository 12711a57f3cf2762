// DEBUG DIGEST: a signature of keys and values, the same as Redis's for the same data.
//
// Keys are combined by exclusive or: the order of keys does not matter. The parts of one value are mixed one after the
// other: the order of parts matters.
#pragma once

#include <string_view>

#include "base/bits/sha1.h"
#include "base/time/clock.h"
#include "cache/keyspace/databases.h"

namespace mayfly {

// All zeros if there are no keys.
Sha1 DigestOfValue(const Entry& entry);
Sha1 DigestOfAll(const Databases& databases, Now now);

}  // namespace mayfly
