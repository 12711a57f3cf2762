// The highest number of databases. The constant lives in base because config checks the option and cache stores the database
// of an entry, and neither floor includes the other.
#pragma once

namespace mayfly {

// An entry names its database in one byte.
inline constexpr unsigned kDatabasesMax = 256;

}  // namespace mayfly
