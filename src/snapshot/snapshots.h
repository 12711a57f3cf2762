// The snapshots of a server: saves by command, by save points and at the end; the load at the start.
//
//   SAVE, BGSAVE, SHUTDOWN SAVE --+
//   save points (an Alarm) -------+--> Saver --> a line in the log, the figures of INFO persistence
//   the end (SHUTDOWN, a signal) -+
//   SYNC of redis-cli --rdb ------+
//   start ------------------------> Loader
//
// The end. Words of SHUTDOWN, or the option of the signal, say whether a stop saves; without such words save points do
// (SavesToStop, the only place with this rule). While a file is loaded nothing is saved, since the file is the better one. A
// failed save keeps the server running, unless the stop is forced.
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "config/settings.h"
#include "server/hubs/alarms.h"
#include "server/server.h"
#include "snapshot/load_terms.h"

namespace mayfly {

class Disk;
class Keyspace;
class Loader;
class Log;
class Saver;
class SyncWishes;
struct LoadResult;
struct StreamTerms;
struct SaveResult;
struct Session;

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
  std::string SaveNow(Now now) { return SaveNow(now, /*whole_log=*/true); }
  // Begins to send a snapshot to a client (snapshot/client_stream.h); likewise. The caller parks the client. Throws
  // std::bad_alloc.
  std::string_view SendSoon(Session& client, const StreamTerms& terms, Now now);
  // A snapshot is sent to this client.
  bool IsSentTo(const Session& client) const noexcept;
  SyncWishes& wishes() noexcept { return *wishes_; }
  // Also while a snapshot is sent to a client.
  bool saving() const noexcept;
  // A save in slices runs that will become the file.
  bool saving_file() const noexcept;
  // REQUIRES: saving().
  void Cancel() noexcept;
  // After Cancel, until saving() is false. A save may be scheduled then: it begins when the cancelled one is at its end.
  bool cancelling() const noexcept;
  void Schedule() noexcept { scheduled_ = true; }

  // Whether a stop with these words saves.
  bool SavesToStop(const config::ShutdownFlags& words) const noexcept;
  // Saves, if a stop with these words does. False: the save has failed, and the server must go on. The log says why.
  bool ReadyToStop(const config::ShutdownFlags& words);
  // The words for the stop that a signal has begun. SHUTDOWN has saved already, or was told not to.
  config::ShutdownFlags WordsOfSignal() const noexcept;
  // The server has served its last client. Says how many keys go with the process.
  void End() noexcept;
  // Warns at the start if save points would save into a folder that this process may not write into.
  void WarnOfFolder();
  // Removes the files at the start that killed processes have left half written in the folder, and logs their number.
  void RemoveLeftovers();
  // Begins to load the file that the options name, in slices; with load-mode wait, clients are refused meanwhile. Nothing
  // happens if there is no such file. REQUIRES: !loading().
  //
  // A file that cannot be loaded whole: with rdb-load-damaged yes the server goes on with what was loaded, and the file gets
  // another name (an ending of loader.h), so that no later save takes its place. With no, the file stays what it is, and the
  // server stops: see refused().
  void LoadSoon(Now now);
  // The reason why the file was refused: the daemon must end with an error, and saves nothing. "": it was not.
  const std::string& refused() const noexcept { return refused_; }
  // Loads the same file now, while everybody waits. Returns the reason for a failure, or "". REQUIRES: !loading().
  std::string LoadNow(LoadTerms terms, Now now);
  // Begins to load a file that a master has sent, in the place of all keys and libraries, which are served until then; ends a load of the own file, and a save.
  // `done` hears of the end, but not if the load is stopped. Returns the reason for a failure, or "": then nothing has begun.
  std::string LoadReceived(const std::string& path, std::function<void(const LoadResult&)> done, Now now);
  bool loading() const noexcept;
  // The running load ends where it is. REQUIRES: loading().
  void StopLoad() noexcept;
  // A flush of this database, also if it has no keys yet, or of the namespace of this prefix in all databases: the keys of the
  // file are not loaded any more. The second throws std::bad_alloc.
  void NoteFlushed(const Keyspace& keyspace) noexcept;
  void NoteNamespaceFlushed(std::string_view prefix);
  // FLUSHALL: with save points, the file is replaced now, as in Redis, so that a crash does not bring the keys back. A running
  // save of the old keys is given up first, in slices; a load comes to its end first.
  void NoteAllFlushed(Now now);
  // INVALIDATE: keys with these tags are not loaded any more. Throws std::bad_alloc.
  void NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags);

 private:
  std::string SaveNow(Now now, bool whole_log);
  std::string Path() const;
  // Returns the reason for a failure, or "": also if there is no file and none is `needed`.
  std::string BeginLoad(bool needed, LoadTerms terms, Now now);
  // Refuses writes while the last save has failed, if the options say so (Mode::kUnsaved).
  void RefuseWritesIfUnsaved() noexcept;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void Tell(const SaveResult& result) noexcept;
  void TellOfStream(const SaveResult& result) noexcept;
  void Tell(const LoadResult& result) noexcept;
  void TellOfKeys(const LoadResult& result, Log& log) noexcept;
  void EndLoad(const LoadResult& result) noexcept;
  // Gives the file a name with this ending, or logs why not.
  void PutAside(std::string_view ending) noexcept;
  // The file that could not be opened.
  void PutAsideUnopened() noexcept;
  // `otherwise`: what the start does with rdb-load-damaged yes.
  void Refuse(std::string_view problem, std::string_view otherwise) noexcept;
  // The changes by clients that the file lacks.
  uint64_t Unsaved() const noexcept;

  Server& server_;
  Disk& disk_;
  const std::unique_ptr<Saver> saver_;
  const std::unique_ptr<Loader> loader_;
  const std::unique_ptr<SyncWishes> wishes_;
  uint64_t retry_mono_ms_ = 0;                       // no save point before
  uint64_t last_save_mono_ms_ = 0;                   // or the start
  std::function<void(const LoadResult&)> received_;  // not empty: a master's file is loaded
  bool loaded_ = false;                              // since the start
  bool outlived_ = false;                            // the file has keys that FLUSHALL has removed
  bool scheduled_ = false;                           // a save begins as soon as none runs
  std::string refused_;
};

}  // namespace mayfly
