// The snapshots of a server: saves by command, by save points and at the end; the load at the start.
//
//   SAVE, BGSAVE, SHUTDOWN SAVE --+
//   save points (an Alarm) -------+--> Saver --> a line in the log, the figures of INFO persistence
//   the end (SHUTDOWN, a signal) -+
//   SYNC of redis-cli --rdb ------+
//   start ------------------------> Loader
//
// The end. Words of SHUTDOWN, or the option of the signal, decide whether a stop saves; without words, save points decide
// (SavesToStop, the only place with this rule). While a file is loaded nothing is saved: the file is more complete. A failed
// save keeps the server running, unless the stop is forced.
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
class Namespace;
class Saver;
class SyncWishes;
struct LoadResult;
struct StreamTerms;
struct SaveResult;
struct Session;

class Snapshots final : public LatePart, private Alarms::Alarm {
 public:
  // After a failed save, save points wait this long, as in Redis.
  static constexpr uint64_t kRetryMs = 5000;

  Snapshots(Server& server, Disk& disk);
  ~Snapshots() override;
  // This server's snapshots, made on first use, with the real disk. Throws std::bad_alloc.
  static Snapshots& Of(Server& server);
  // Null if not made.
  static Snapshots* IfMade(Server& server) noexcept {
    return static_cast<Snapshots*>(server.snapshots.get());
  }

  // No save begins while a file is loaded: the save would replace the file, and lack the keys still to come.
  //
  // Begins a save in slices. Returns the reason for a failure, or "". REQUIRES: !saving().
  std::string_view SaveSoon(Now now);
  // Saves all keys as of now, and waits for the disk. Gives up a running save. Returns the reason for a failure, or "".
  std::string SaveNow(Now now) { return SaveNow(now, /*whole_log=*/true); }
  // Begins to send a snapshot to a client (snapshot/client_stream.h); likewise. The caller parks the client. Throws
  // std::bad_alloc.
  std::string_view SendSoon(Session& client, const StreamTerms& terms, Now now);
  // True while a snapshot is sent to this client.
  bool IsSentTo(const Session& client) const noexcept;
  SyncWishes& wishes() noexcept { return *wishes_; }
  // True while a save runs, also while a snapshot is sent to a client.
  bool saving() const noexcept;
  // True while a save in slices runs whose result becomes the file.
  bool saving_file() const noexcept;
  // Returns false, and has no effect, if it is too late: the file takes its place. REQUIRES: saving().
  bool Cancel() noexcept;
  // True after Cancel until saving() is false. A save may be scheduled meanwhile, and begins when the cancelled save has
  // ended.
  bool cancelling() const noexcept;
  void Schedule() noexcept { scheduled_ = true; }

  // True if a stop with these words saves.
  bool SavesToStop(const config::ShutdownFlags& words) const noexcept;
  // Saves, if a stop with these words does, while everybody waits. Returns false if the save has failed and the server must go
  // on. The log has the reason.
  bool ReadyToStop(const config::ShutdownFlags& words);
  // The save before a stop, in slices. Another save while it runs, at once, takes its place.
  enum class StopSave : uint8_t { kNone, kRuns, kDone, kFailed, kCancelled };
  StopSave stop_save() const noexcept { return stop_save_; }
  // Begins that save, or fails with a line in the log; gives up a running save.
  void SaveToStop(Now now) noexcept;
  // That save has ended. Returns true if the server stops; the log says what a failure leads to.
  bool StopsAfter(bool saved, const config::ShutdownFlags& words) const noexcept;
  // The number of changes by clients that the file lacks.
  uint64_t Unsaved() const noexcept;
  // The words for a stop by a signal. After SHUTDOWN nothing is saved again.
  config::ShutdownFlags WordsOfSignal() const noexcept;
  // The server has served its last client. Logs how many keys go with the process.
  void End() noexcept;
  // At the start, logs that nothing will be saved if there are no save points, and warns if they would save into a folder
  // without permission to write.
  void TellOfSavePoints();
  // At the start, removes half written files of killed processes from the folder, and logs the number of files.
  void RemoveLeftovers();
  // Begins to load the file named by the options, in slices. With load-mode wait, clients are refused meanwhile. Does nothing
  // if the file does not exist. REQUIRES: !loading().
  //
  // If only a part of the file can be loaded: with rdb-load-damaged yes the server goes on with the loaded part, and the file
  // gets another name (an ending of loader.h), which protects the file from later saves. If the whole file was read, but something
  // of it has no place here, the file keeps its name and gets a second one. With no, the file stays as is, and the server stops: see
  // refused(). So it does, as Redis does, if the file has a database that does not exist here.
  void LoadSoon(Now now);
  // The reason why the file was refused: the daemon must end with an error, and saves nothing. "": not refused.
  const std::string& refused() const noexcept { return refused_; }
  // Loads the same file now, while everybody waits. Returns the reason for a failure, or "". REQUIRES: !loading().
  std::string LoadNow(LoadTerms terms, Now now);
  // Begins to load a master's file, which replaces all keys and libraries; the old keys are served until then. Ends a load of
  // the own file, and a save. Calls `done` at the end, unless the load is stopped. Returns the reason for a failure, or "".
  // After a failure no load runs. `quiet`: see LoadTerms. `done` logs why a file is not known
  // (LoadResult::not_known).
  std::string LoadReceived(const std::string& path, bool quiet, std::function<void(const LoadResult&)> done,
                           Now now);
  bool loading() const noexcept;
  // Ends the running load where it is. REQUIRES: loading().
  void StopLoad() noexcept;
  // A command that removes a key has found none. DEL and kin report that themselves (Keyspace::Delete).
  static void NoteGone(Server& server, const Keyspace& keyspace, std::string_view key) noexcept;
  // A flush of this database, also without keys, or of this namespace in all databases: the file's keys are not loaded any
  // more. NoteNamespaceFlushed throws std::bad_alloc.
  void NoteFlushed(const Keyspace& keyspace) noexcept;
  void NoteNamespaceFlushed(const Namespace& space);
  // FLUSHALL: with save points, a file without keys replaces the file before the answer, as in Redis: a crash does not bring the
  // keys back. A running save of the old keys to a file is given up first. If the disk takes no new file, the old one goes.
  void NoteAllFlushed(Now now);
  // INVALIDATE: keys with these tags are not loaded any more. Throws std::bad_alloc.
  void NoteInvalidated(const Keyspace& keyspace, std::span<const std::string_view> tags);

 private:
  std::string_view SaveSoon(uint64_t log_bytes, Now now);
  std::string SaveNow(Now now, bool whole_log);
  std::string Path() const;
  // Returns the reason for a failure, or "". A missing file is a failure only if `needed`.
  std::string BeginLoad(bool needed, LoadTerms terms, Now now);
  // Refuses writes after a failed save, if there are save points and stop-writes-on-bgsave-error is on (Mode::kUnsaved).
  void RefuseWritesIfUnsaved() noexcept;
  uint64_t NextWake() const noexcept override;
  void OnWake(Now now, Log* log) override;
  void Tell(const SaveResult& result) noexcept;
  void TellOfStream(const SaveResult& result) noexcept;
  void Tell(const LoadResult& result) noexcept;
  void TellOfKeys(const LoadResult& result, Log& log) noexcept;
  void EndLoad(const LoadResult& result) noexcept;
  std::string SaveNothingNow(Now now);
  // The file has keys that were flushed, and no other could be written in its place.
  void RemoveFile();
  // Gives the file a second name, which protects what a load has left out from later saves; or logs the failure.
  void KeepFile() noexcept;
  // Gives the file a name with this ending, or logs the failure.
  void PutAside(std::string_view ending) noexcept;
  // Likewise, for a file that could not be opened.
  void PutAsideUnopened() noexcept;
  // `otherwise`: what the start does with rdb-load-damaged yes; empty: the same.
  void Refuse(std::string_view problem, std::string_view otherwise) noexcept;

  Server& server_;
  Disk& disk_;
  const std::unique_ptr<Saver> saver_;
  const std::unique_ptr<Loader> loader_;
  const std::unique_ptr<SyncWishes> wishes_;
  uint64_t retry_mono_ms_ = 0;                       // no save point before this time
  uint64_t last_save_mono_ms_ = 0;                   // of the last save, or the start
  std::function<void(const LoadResult&)> received_;  // not empty: a master's file is loaded
  bool loaded_ = false;                              // since the start
  bool outlived_ = false;                            // the file may lack what has outlived a FLUSHALL
  bool replaced_ = false;   // the file that is loaded has no name any more, because of a FLUSHALL
  bool scheduled_ = false;  // a save begins when no other runs
  StopSave stop_save_ = StopSave::kNone;
  std::string refused_;
};

}  // namespace mayfly
