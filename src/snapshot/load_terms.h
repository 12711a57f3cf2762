// How a file is loaded, apart from the options: at the start by the defaults, and by DEBUG RELOAD.
#pragma once

namespace mayfly {

struct LoadTerms {
  bool flush = false;      // all keys and libraries go first, unless the file cannot be opened
  bool file_wins = false;  // over keys and libraries that exist
};

}  // namespace mayfly
