// Writes all keys of one moment to a snapshot file, in slices, while clients are served. Nothing forks.
//
//   Begin --> SnapshotWalk: each key once, as of Begin, the most recently used first --> chunks --> FileWriter's thread
//                ^   |                                                                                  |
//                |   +-- too many bytes wait for the disk: the walk pauses                              |
//                +------ the thread has written some (Wakes) -------------------------------------------+
//
// The loop never waits for the disk. A write to a key that the walk has not visited yet adds the key to the chunks first, also
// while the walk pauses: if kMostWaitingBytes wait for the disk then, the save fails, and says so.
//
// The version of the file is 10, or 12 if a hash has fields with deadlines. Redis reads such a file; what it does not know
// rides in AUX fields:
//
//   head:    explog-next, explog      the log of removed keys (snapshot/event_fields.h)
//   a key:   m, i, e | deadline | idle time | type | key | value | t      snapshot/key_terms.h, use_order.h, member_terms.h
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/time/clock.h"
#include "cache/snapshot_walk.h"
#include "server/hubs/accounts.h"
#include "server/hubs/wakes.h"
#include "server/sliced_work.h"
#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_writer.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/values/value_out.h"

namespace mayfly {

struct Server;

// What a save did.
struct SaveResult {
  std::string problem;     // "": the file is there
  bool cancelled = false;  // by a client: no failure
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
  // So many bytes of the log of removed keys are saved, the newest records: they are written at once when a save begins, or
  // while everybody waits.
  static constexpr uint64_t kLogBytes = uint64_t{512} << 10;
  static constexpr uint64_t kLogBytesAtOnce = uint64_t{64} << 20;

  // `ended` is called in the turn in which a save ends, but for SaveNow. Borrows all arguments.
  Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended);
  ~Saver() override;

  // True until nothing of the last save is left to do.
  bool running() const noexcept { return writer_ != nullptr || walk_ != nullptr; }
  // Begins a save of all keys as they are now. Throws std::bad_alloc and std::system_error, and has begun nothing then.
  // REQUIRES: !running().
  void Begin(Now now) { BeginWith(kLogBytes, now); }
  // The running save will have no file, and ends soon. REQUIRES: running().
  void Cancel() noexcept;
  // Saves all keys as they are now, and waits for the disk. A running save is given up.
  SaveResult SaveNow(Now now);

 private:
  void Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept override;
  void VisitStale(unsigned index, const Keyspace& keyspace, const Entry& entry,
                  Expiry deadline) noexcept override;
  bool WantsPause() const noexcept override;
  bool DoSome(Now now, size_t budget) noexcept override;
  void OnSignal() noexcept override;

  void BeginWith(uint64_t log_bytes, Now now);
  void WriteHead(uint64_t log_bytes, Now now);
  // Calls write() to append a key, and gives the chunk to the thread when it is full.
  template <typename Write>
  void Append(Write&& write) noexcept;
  void WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry);
  void WriteStale(unsigned index, const Keyspace& keyspace, const Entry& entry, Expiry deadline);
  void WriteDeadline(Expiry deadline);
  // How long the key was not used, or how often it was.
  void WriteUse(const Entry& entry);
  // The type, the key and the value.
  void WritePair(const Entry& entry, const rdb::ValueForm& form);
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
    return writer_ != nullptr ? writer_->waiting_bytes() + chunk_.size() : 0;
  }
  void CountBytes() noexcept { account_bytes_ = waiting_bytes(); }

  Server& server_;
  Disk& disk_;
  const std::function<void(const SaveResult&)> ended_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  std::unique_ptr<FileWriter> writer_;  // null: no save runs
  std::unique_ptr<SnapshotWalk> walk_;  // null: the walk is at its end; may outlast a save that has failed
  Now began_;
  uint64_t writes_at_begin_ = 0;
  std::string chunk_;
  rdb::Compression compression_ = rdb::Compression::kNone;
  unsigned database_ = 0;    // that was selected last
  uint64_t idle_steps_ = 0;  // of the last key that came in its turn (snapshot/use_order.h)
  std::string problem_;      // "": nothing has failed
  bool cancelled_ = false;
};

}  // namespace mayfly
