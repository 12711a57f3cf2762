// The highest number of databases. It is defined here because config, which checks the option, and cache, whose entries
// name their database, do not see each other.
#pragma once

namespace mayfly {

// An entry names its database in one byte.
inline constexpr unsigned kDatabasesMax = 256;

}  // namespace mayfly
