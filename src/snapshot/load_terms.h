// How to load a file, apart from the options: by the defaults at the start, for DEBUG RELOAD, or from a master.
#pragma once

#include <string_view>

namespace mayfly {

// The AUX field of a master's file with the database selected in the stream after the file, as Redis names the field.
inline constexpr std::string_view kStreamDatabaseField = "repl-stream-db";

struct LoadTerms {
  bool flush = false;      // removes all keys and libraries first, unless the file cannot be opened
  bool file_wins = false;  // over existing keys and libraries
  // The master decides when a key goes. Expired keys, and keys beyond maxmemory, are loaded, too. At the end of the load,
  // keys missing in the file go.
  bool from_master = false;
  // An earlier try has logged which keys are left out.
  bool quiet = false;
};

}  // namespace mayfly
