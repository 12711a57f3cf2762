// Command tests with snapshots on a disk in memory, and DEBUG allowed.
#pragma once

#include <memory>
#include <string>

#include "base/time/tsc.h"
#include "snapshot/snapshots.h"
#include "support/command_test.h"
#include "support/memory_disk.h"

namespace mayfly::testing {

inline const std::string kSnapshotPath = "./dump.rdb";

// The server's threads use the disk until the server is gone.
struct HasMemoryDisk {
  MemoryDisk disk;
};

class SnapshotTest : public HasMemoryDisk, public CommandTest {
 public:
  SnapshotTest() {
    StartWith("enable-debug-command", "yes");
    server().server.snapshots = std::make_unique<Snapshots>(server().server, disk);
  }

  Snapshots& snapshots() { return Snapshots::Of(server().server); }
  Now now() { return server().clock.Read(); }
  // What the loop does for sliced work and for threads, `entries` at a time.
  void Slice(size_t entries = 16) {
    if (server().sliced_work.waits())
      server().sliced_work.RunSlice(server().executor.now(), ReadCycles(), 0, entries);
    server().hubs.wakes.Tell();
  }
  void FinishSave() {
    while (snapshots().saving()) Slice();
  }
  void FinishLoad() {
    while (snapshots().loading()) Slice();
  }
  void Reload() {
    REQUIRE(Run({"SAVE"}) == Ok());
    REQUIRE(Run({"FLUSHALL"}) == Ok());
    REQUIRE(snapshots().LoadNow({}, now()) == "");
  }
  std::string Info(const std::string& field) {
    const std::string text = Run({"INFO", "persistence"}).text;
    const size_t at = text.find("\n" + field + ":");
    REQUIRE(at != std::string::npos);
    const size_t begin = at + field.size() + 2;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  void FillWith(size_t keys) {
    for (size_t i = 0; i < keys; ++i) Run({"SET", "key:" + std::to_string(i), "value " + std::to_string(i)});
  }
};

}  // namespace mayfly::testing
