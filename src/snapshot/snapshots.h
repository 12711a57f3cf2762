// The snapshots of a server: saves by command, by save points and at the end; the load at the start.
//
//   SAVE, BGSAVE, SHUTDOWN SAVE --+
//   save points (an Alarm) -------+--> Saver --> a line in the log, the figures of INFO persistence
//   shutdown-on-sigterm ----------+
//   start ------------------------> Loader
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "server/hubs/alarms.h"
#include "server/server.h"

namespace mayfly {

class Disk;
class Keyspace;
class Loader;
class Saver;
struct LoadResult;
struct SaveResult;

class Snapshots final : public LatePart, private Alarms::Alarm {
 public:
  // A save point waits so long after a save that has failed, as in Redis.
  static constexpr uint64_t kRetryMs = 5000;

  Snapshots(Server& server, Disk& disk);
  ~Snapshots() override;
  // Of this server; makes them, with the real disk. Throws std::bad_alloc.
  static Snapshots& Of(Server& server);
  // Null if they were not made.
  static Snapshots* IfMade(Server& server) noexcept {
    return static_cast<Snapshots*>(server.snapshots.get());
  }

  // No save begins while a file is loaded: it would be the only file, and lack what is still to come.
  //
  // Begins a save in slices. Returns the reason for a failure, or "". REQUIRES: !saving().
  std::string_view SaveSoon(Now now);
  // Saves all keys as they are now, and waits for the disk. A running save is given up. Returns the reason for a failure,
  // or "".
  std::string SaveNow(Now now);
  bool saving() const noexcept;
  // REQUIRES: saving().
  void Cancel() noexcept;

  // Whether End saves. After a signal the options decide; SHUTDOWN has saved already, or was told not to.
  bool SavesAtEnd() const noexcept;
  // The server has served its last client. Says how many keys go with the process. Returns the reason for a failed save, or
  // "".
  std::string End();
  // Begins to load the file that the options name, in slices; with load-mode wait, clients are refused meanwhile. Nothing
  // happens if there is no such file. A file that cannot be loaded whole gets another name (LoadResult::ending), so that no
  // later save takes its place. REQUIRES: !loading().
  void LoadSoon(Now now);
  // Loads the same file now, while everybody waits. Returns the reason for a failure, or "". REQUIRES: !loading().
  std::string LoadNow(Now now);
  bool loading() const noexcept;
  // The running load ends where it is. REQUIRES: loading().
  void StopLoad() noexcept;
  // INVALIDATE: keys with these tags are not loaded any more. Throws std::bad_alloc.
  void NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags);

 private:
  std::string Path() const;
  // Returns the reason for a failure, or "": also if there is no file and none is `needed`.
  std::string BeginLoad(bool needed, Now now);
  // Gives the file a name with this ending. False: its name is what it was.
  bool Rename(std::string_view ending) noexcept;
  // Refuses writes while the last save has failed, if the options say so (Mode::kUnsaved).
  void RefuseWritesIfUnsaved() noexcept;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void Tell(const SaveResult& result) noexcept;
  void Tell(const LoadResult& result) noexcept;

  Server& server_;
  Disk& disk_;
  const std::unique_ptr<Saver> saver_;
  const std::unique_ptr<Loader> loader_;
  uint64_t retry_mono_ms_ = 0;      // no save point before
  uint64_t last_save_mono_ms_ = 0;  // or the start
};

}  // namespace mayfly
