// How a file is loaded, apart from the options: at the start by the defaults, by DEBUG RELOAD, and as a master has sent it.
#pragma once

namespace mayfly {

struct LoadTerms {
  bool flush = false;      // all keys and libraries go first, unless the file cannot be opened
  bool file_wins = false;  // over keys and libraries that exist
  // The master decides when a key goes: keys that have expired are loaded, too, and keys beyond maxmemory; and keys that the
  // file lacks go when all of it is loaded.
  bool from_master = false;
};

}  // namespace mayfly
