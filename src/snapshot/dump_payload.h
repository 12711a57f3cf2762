// An entry's value as a payload: the answer of DUMP, and the argument of RESTORE.
#pragma once

#include <string>

#include "base/time/clock.h"
#include "cache/entry/entry.h"

namespace mayfly {

// Empty if no member of the value is left at `now`. Throws std::bad_alloc.
std::string DumpPayloadOf(const Entry& entry, Now now);
// Likewise, for servers before Redis 7.4: without the deadlines of fields, and not compressed.
std::string PlainPayloadOf(const Entry& entry, Now now);

}  // namespace mayfly
