// Changes ignored by WATCH and CLIENT TRACKING, as in Redis. XSETID changes the next entries of a stream, and no data read
// by a client. An ignored change is an event nevertheless. The code that makes the change leaves EntryFlag::kListened
// unchanged.
#pragma once

#include "cache/keyspace/change.h"

namespace mayfly {

inline constexpr Event kXSetId{"xsetid"};

inline bool IsUnseen(const Change& change) noexcept { return change.event.name == kXSetId.name; }

}  // namespace mayfly
