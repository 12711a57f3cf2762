// mayfly --check-rdb FILE: reads a snapshot file to the end as a load does, keeps nothing, and reports the contents.
//
// A key that is there twice is a fault: a replica of Redis or Valkey ends at one. So is whatever a load leaves out because of the
// file: an older Mayfly finds so what a newer one has written and it would lose.
//
// Memory: some chunks of the file, 16 to 32 bytes for each key, and one value at a time. Libraries of functions are counted, and not run.
#pragma once

#include <functional>
#include <string>

#include "base/time/clock.h"
#include "snapshot/disk/disk.h"

namespace mayfly {

// Calls `print` for each line of the report. Returns "", or the file's fault in one line. Texts of the file are printed as
// config::Printable shows them. Throws std::bad_alloc and std::system_error.
std::string CheckSnapshotFile(Disk& disk, const std::string& path, Now now,
                              const std::function<void(const std::string&)>& print);

}  // namespace mayfly
