// How many databases there may be: said here for config, which checks the option, and for cache, whose
// entries name their database; neither sees the other.
#pragma once

namespace mayfly {

// An entry names its database in one byte.
inline constexpr unsigned kDatabasesMax = 256;

}  // namespace mayfly
