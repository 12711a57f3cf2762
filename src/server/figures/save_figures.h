// The figures of snapshots for INFO: the changes until the last save, the saves, and the load at the start.
//
// The saver and the loader write the figures. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

namespace mayfly {

struct SaveFigures {
  uint64_t changes_at_save = 0;  // ChangeHub::by_clients when the last good save began
  uint64_t saves = 0;            // good ones
  int64_t last_save_s = 0;       // Unix time; 0: none since the start
  bool last_ok = true;
  int64_t last_took_s = -1;
  uint64_t running_since_mono_ms = 0;  // 0: no save runs
  uint64_t keys_done = 0;              // of the running or last save
  uint64_t keys_total = 0;             // likewise
  uint64_t last_bytes = 0;
  uint64_t last_keys = 0;
  uint64_t last_took_ms = 0;
  std::string last_problem;  // the reason why the last save has failed, "": it has not

  bool loading = false;
  uint64_t load_began_mono_ms = 0;
  uint64_t load_file_bytes = 0;
  uint64_t load_done_bytes = 0;
  uint64_t load_keys = 0;     // loaded
  uint64_t load_expired = 0;  // not loaded, because their time had passed
  uint64_t load_skipped = 0;  // not loaded, because their types are unknown
  uint64_t load_took_ms = 0;  // the last load
  std::string load_problem;   // the reason why the last load has ended early, "": it has not
};

}  // namespace mayfly
