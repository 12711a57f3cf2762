// The value of an entry as the bytes that DUMP answers and RESTORE takes.
#pragma once

#include <string>

#include "base/time/clock.h"
#include "cache/entry/entry.h"

namespace mayfly {

// Empty if no member of the value is left at `now`. Throws std::bad_alloc.
std::string DumpPayloadOf(const Entry& entry, Now now);
// Likewise, as servers know it before Redis 7.4: without the deadlines of fields, and not compressed.
std::string PlainPayloadOf(const Entry& entry, Now now);

}  // namespace mayfly
