// How a file is loaded, apart from the options: at the start by the defaults, by DEBUG RELOAD, and as a master has sent it.
#pragma once

#include <string_view>

namespace mayfly {

// The AUX field of a master's file with the database that is selected in the stream that follows, as Redis names it.
inline constexpr std::string_view kStreamDatabaseField = "repl-stream-db";

struct LoadTerms {
  bool flush = false;      // all keys and libraries go first, unless the file cannot be opened
  bool file_wins = false;  // over keys and libraries that exist
  // The master decides when a key goes: keys that have expired are loaded, too, and keys beyond maxmemory; and keys that the
  // file lacks go when all of it is loaded.
  bool from_master = false;
};

}  // namespace mayfly
