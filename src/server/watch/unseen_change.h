// Changes that WATCH and CLIENT TRACKING do not count, as in Redis. XSETID changes what comes next into a stream, and
// nothing that a client has read of it. They have events all the same. Whoever makes one leaves EntryFlag::kObserved as
// it was.
#pragma once

#include "cache/keyspace/change.h"

namespace mayfly {

inline constexpr Event kXSetId{"xsetid"};

inline bool IsUnseen(const Change& change) noexcept { return change.event.name == kXSetId.name; }

}  // namespace mayfly
