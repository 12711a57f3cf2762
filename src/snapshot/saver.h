// Writes all keys of one moment to a snapshot file, or to a client, in slices, while clients are served. Nothing forks.
//
//   Begin --> SnapshotWalk: each key once, as of Begin, the most recently used first --> chunks --> SaveTarget:
//                ^   |                                                          FileWriter's thread, or a ClientStream
//                |   +-- too many bytes wait: the walk pauses                                           |
//                +------ some have left (Wakes) --------------------------------------------------------+
//
// The loop never waits for the disk. A write to a key that the walk has not visited yet adds the key to the chunks first, also
// while the walk pauses: if kMostWaitingBytes wait for the disk then, the save fails, and says so.
//
// The version of the file is 10, or 12 if a value has members with deadlines: a hash may need 12. Redis reads
// such a file; what it does not know (snapshot/key_terms.h) rides in AUX fields.
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cache/snapshot_walk.h"
#include "server/hubs/accounts.h"
#include "server/hubs/wakes.h"
#include "server/sliced_work.h"
#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_writer.h"
#include "snapshot/disk/save_target.h"
#include "snapshot/format/rdb_out.h"

namespace mayfly {

class ClientStream;
struct Server;
struct Session;

// What of the data is saved.
struct SaveParts {
  bool keys = true;
  bool functions = true;
};

// What a save did.
struct SaveResult {
  std::string problem;     // "": the file is there
  bool cancelled = false;  // by a client: no failure
  bool to_client = false;  // there is no file, and the figures of saves are as before
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t took_ms = 0;
};

class Saver final : private SnapshotVisitor, private SlicedWork::Step, private Wakes::Ear {
 public:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  // So many bytes may wait for the disk until the walk pauses.
  static constexpr size_t kPauseBytes = size_t{4} << 20;
  // With so many, a key that changes meanwhile ends the save. One key more may wait, whatever its size.
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;

  // `ended` is called in the turn in which a save ends, but for SaveNow. Borrows all arguments.
  Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended);
  ~Saver() override;

  // True until nothing of the last save is left to do.
  bool running() const noexcept { return target_ != nullptr || walk_ != nullptr; }
  // Begins a save of all keys as they are now. Throws std::bad_alloc and std::system_error, and has begun nothing then.
  // REQUIRES: !running().
  void Begin(Now now) { BeginFile(now); }
  // Begins to send these parts to a client, after a greeting; likewise. The caller parks the client.
  void BeginStream(Session& client, std::string_view greeting, SaveParts parts, Now now);
  // A save is sent to this client.
  bool IsFor(const Session& client) const noexcept;
  // The running save will have no file, and ends soon. REQUIRES: running().
  void Cancel() noexcept;
  // Saves all keys as they are now, and waits for the disk. A running save is given up.
  SaveResult SaveNow(Now now);

 private:
  void Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept override;
  bool WantsPause() const noexcept override;
  bool DoSome(Now now, size_t budget) noexcept override;
  void OnSignal() noexcept override;

  FileWriter& BeginFile(Now now);
  // Prepares a save of these parts, but for its target.
  void Prepare(SaveParts parts, Now now);
  // Begins the walk. Throws std::bad_alloc, and leaves the target alone then.
  void Start(std::unique_ptr<SaveTarget> target, SaveParts parts, Now now);
  void WriteHead(SaveParts parts, Now now);
  void WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry);
  void SelectDatabase(unsigned index);
  // Gives the chunk to the thread. Throws std::bad_alloc.
  void Send();
  void FinishWalk() noexcept;
  // The walk is at its end: writes the end of the file.
  void Finish();
  // There will be no file: ends the thread, and lets the walk come to its end without visiting anything.
  void Fail(std::string_view problem) noexcept;
  // The thread has ended.
  SaveResult End(Now now) noexcept;
  size_t waiting_bytes() const noexcept {
    return target_ != nullptr ? target_->waiting_bytes() + chunk_.size() : 0;
  }
  void CountBytes() noexcept { account_bytes_ = waiting_bytes(); }

  Server& server_;
  Disk& disk_;
  const std::function<void(const SaveResult&)> ended_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  std::unique_ptr<SaveTarget> target_;    // null: no save runs
  const ClientStream* stream_ = nullptr;  // the target, if it is a client
  std::unique_ptr<SnapshotWalk> walk_;    // null: the walk is at its end; may outlast a save that has failed
  Now began_;
  uint64_t writes_at_begin_ = 0;
  std::string chunk_;
  rdb::Compression compression_ = rdb::Compression::kNone;
  unsigned database_ = 0;  // that was selected last
  std::string problem_;    // "": nothing has failed
  bool cancelled_ = false;
};

}  // namespace mayfly
