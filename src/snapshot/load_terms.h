// How a file is loaded, apart from the options: at the start by the defaults, by DEBUG RELOAD, and as a master has sent it.
#pragma once

namespace mayfly {

struct LoadTerms {
  bool flush = false;      // all keys and libraries go first, unless the file cannot be opened
  bool file_wins = false;  // over keys and libraries that exist
  bool all_keys =
      false;  // also those that have expired, and beyond maxmemory: the master decides when a key goes
};

}  // namespace mayfly
