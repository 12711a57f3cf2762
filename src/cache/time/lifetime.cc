#include "cache/time/lifetime.h"

namespace mayfly {

bool AllMembersDue(const Entry& entry, Now now) noexcept { return entry.rich()->AllDue(now); }

}  // namespace mayfly
