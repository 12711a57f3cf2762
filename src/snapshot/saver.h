// Writes all keys of one moment to a snapshot file, or to a client, in slices, while clients are served. Nothing forks.
//
//   Begin --> SnapshotWalk: each key once, as of Begin, the most recently used first --> chunks --> SaveTarget:
//                ^   |                                                          FileWriter's thread, or a ClientStream
//                |   +-- too many bytes wait: the walk pauses                                           |
//                +------ some have left (Wakes) --------------------------------------------------------+
//
// The loop never waits for the disk. A write to a key not yet visited by the walk adds the key to the chunks first, also
// while the walk pauses. If kMostWaitingBytes then wait for the disk, the save fails with a message.
//
// Large values are written in slices, one after another, and the walk pauses meanwhile (snapshot/large/half_saved.h). A large
// value begins when the walk comes to the key. If the key is about to change before, the value begins then and waits for its
// turn. Small keys that are about to change while a value is half in the file go into side_, which comes after the value.
//
//   values_   | half in the file | begun | begun | ...          side_   bytes of small keys
//
// A request may wait for a large value (exec/values/saved_access.h). The value moves forward: its turn comes next. Until the
// value is read, slices put its parts aside into memory and write nothing, even if the disk is slow. The wait lasts as long
// as the reading of the value, whatever comes before the value in the file: a record in the file has no gaps. If more than
// MostAside bytes wait for the disk or for their place, or if memory runs out, the request waits for the value's turn.
//
// The version of the file is 10, or 12 if a hash has fields with deadlines. Redis reads the file; AUX fields have the data
// unknown to Redis:
//
//   head:    explog-next, explog      the log of removed keys (snapshot/event_fields.h)
//   a key:   m, i, e | deadline | idle time | type | key | value | t      snapshot/key_terms.h, use_order.h, values/member_terms.h
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
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
#include "snapshot/large/half_saved.h"
#include "snapshot/large/side_text.h"
#include "snapshot/values/value_out.h"

namespace mayfly {

class ClientStream;
struct Server;
struct Session;

// The parts of the data to save.
struct SaveParts {
  bool keys = true;
  bool functions = true;
};

// How a snapshot goes to a client.
struct StreamTerms {
  std::string greeting;  // comes first
  SaveParts parts = {};
  bool ends_client = true;                // the connection ends with the snapshot
  bool plain = false;                     // without data that servers know only since Redis 7.4
  std::optional<unsigned> database = {};  // selected in the following stream; empty: the stream selects
};

// The result of a save.
struct SaveResult {
  std::string problem;     // "": the file is complete
  bool cancelled = false;  // by a client: no failure
  bool to_client = false;  // no file: the figures of saves stay as before
  uint64_t keys = 0;
  uint64_t bytes = 0;
  uint64_t took_ms = 0;
};

class Saver final : private SnapshotVisitor,
                    private HalfSavedHost,
                    private SlicedWork::Step,
                    private Wakes::Listener {
 public:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  // The walk pauses while more bytes than this wait for the disk.
  static constexpr size_t kPauseBytes = size_t{4} << 20;
  // With more bytes than this, a key that changes meanwhile ends the save. One more small key may wait.
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;
  // With more bytes than MostAside, no value is put aside for a waiting request: a part of the memory in use, within bounds. The
  // rest of kMostWaitingBytes is for changes by clients meanwhile.
  static constexpr size_t kMostAsideBytes = kMostWaitingBytes / 2;
  static constexpr size_t kLeastAsideBytes = size_t{16} << 20;
  static constexpr size_t kAsidePart = 16;
  static constexpr size_t MostAside(uint64_t used_bytes) noexcept {
    return std::clamp<size_t>(used_bytes / kAsidePart, kLeastAsideBytes, kMostAsideBytes);
  }
  // The most bytes of the log of removed keys in a save: the newest records. The log is written at once when a save begins,
  // or while everybody waits.
  static constexpr uint64_t kLogBytes = uint64_t{512} << 10;
  static constexpr uint64_t kLogBytesAtOnce = uint64_t{64} << 20;

  // Except for SaveNow, `ended` is called in the turn in which a save ends. Borrows all arguments.
  Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended);
  ~Saver() override;

  // True until the last save has nothing left to do.
  bool running() const noexcept { return target_ != nullptr || walk_ != nullptr || !values_.empty(); }
  // Begins a save of all keys as of now, with `log_bytes` of the log. Throws std::bad_alloc and std::system_error, and then has begun nothing. REQUIRES:
  // !running().
  void Begin(uint64_t log_bytes, Now now) { BeginFile(log_bytes, now); }
  // Begins to send a snapshot to a client; likewise. The caller parks the client.
  void BeginStream(Session& client, const StreamTerms& terms, Now now);
  // True while a save runs whose result becomes the file.
  bool to_file() const noexcept { return target_ != nullptr && stream_ == nullptr && !cancelled_; }
  // True if a save is sent to this client.
  bool IsFor(const Session& client) const noexcept;
  // Ends the running save soon, without a file. Returns false, and has no effect, if it is too late: the file takes its place.
  // REQUIRES: running().
  bool Cancel() noexcept;
  // Likewise, of a save to a file, if there is one: its thread has ended before this returns. Its walk ends in slices.
  void EndFile(Now now) noexcept;
  // Ends the running save, if there is one, without a file, and waits for its end.
  void GiveUp(Now now) noexcept;
  // True after Cancel until running() is false.
  bool cancelling() const noexcept { return running() && (cancelled_ || target_ == nullptr); }
  // Saves all keys as of now, with `log_bytes` of the log, and waits for the disk. Gives up a running save.
  SaveResult SaveNow(uint64_t log_bytes, Now now);
  // Writes a file without keys, and waits for the disk, also while another save runs. REQUIRES: there are no keys.
  SaveResult SaveEmptyNow(Now now);

 private:
  void Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept override;
  void VisitStale(unsigned index, const Keyspace& keyspace, const Entry& entry,
                  Expiry deadline) noexcept override;
  bool WantsPause() const noexcept override;
  bool DoSome(Now now, size_t budget) noexcept override;
  bool WalkOn(size_t budget) noexcept;
  void WriteOn(size_t budget) noexcept;
  // False while enough bytes wait for the disk.
  bool MayWrite() const noexcept;
  void OnSignal() noexcept override;
  bool HasRoom() noexcept override;
  bool HasRoomAside() const noexcept override { return waiting_bytes() <= most_aside_bytes_; }
  void OnNoMemory() noexcept override { Fail("out of memory"); }
  void OnAwaited(HalfSaved& value) noexcept override;

  FileWriter& BeginFile(uint64_t log_bytes, Now now);
  // Prepares a save, except for the target.
  void Prepare(const StreamTerms& terms, uint64_t log_bytes, Now now);
  // Begins the walk. Throws std::bad_alloc, and then leaves the target alone.
  void Start(std::unique_ptr<SaveTarget> target, SaveParts parts, Now now);
  void WriteHead(const StreamTerms& terms, uint64_t log_bytes, Now now, std::string& bytes) const;
  // Lets write(bytes) append a key, and gives a full chunk to the target.
  template <typename Write>
  void Append(Write&& write) noexcept;
  Expiry DeadlineOf(const Keyspace& keyspace, const Entry& entry) const noexcept;
  // Appends everything before the type of the value.
  void WriteFacts(const Keyspace& keyspace, const Entry& entry, std::string& bytes);
  void WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry, std::string& bytes);
  void WriteStale(unsigned index, const Keyspace& keyspace, const Entry& entry, Expiry deadline,
                  std::string& bytes);
  void WriteDeadline(Expiry deadline, std::string& bytes) const;
  // Appends how long the key was not used, or how often the key was used.
  void WriteUse(const Entry& entry, std::string& bytes);
  // Appends the type, the key and the value.
  void WritePair(const Entry& entry, const rdb::ValueForm& form, std::string& bytes) const;
  void BeginLarge(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept;
  void WriteTableSizes();
  // Appends the opcode of the database, unless the bytes before belong to the same database.
  void SelectDatabase(unsigned index, std::string& bytes);
  bool has_large() const noexcept { return !values_.empty() || !side_.empty(); }
  // Throws std::bad_alloc. REQUIRES: a save runs, and nothing has failed.
  void SaveSome(size_t budget);
  // Writes the next bytes of the half-saved values. REQUIRES: has_large().
  void SaveSomeLarge();
  // Returns the next value to put aside for a waiting request; null if no request waits, or no room is left.
  HalfSaved* NextAside() const noexcept;
  static void PutAside(HalfSaved& value) noexcept;
  // Gives the chunk to the thread. Throws std::bad_alloc.
  void Send();
  // Lets values and walk come to their ends without a file. Returns true at the end.
  bool UnwindSome(size_t budget) noexcept;
  // Writes the end of the file, after the walk.
  void Finish();
  // Ends the save without a file: ends the thread, and lets walk and values come to their ends without writing anything.
  void Fail(std::string_view problem) noexcept;
  // Sets the figures of a save to a file, with the changes by clients that the file has.
  void NoteSaved(const SaveResult& result, uint64_t changes, Now now) noexcept;
  // Ends the save after the thread's end.
  SaveResult End(Now now) noexcept;
  // Bytes for the target.
  size_t disk_bytes() const noexcept {
    return target_ != nullptr ? target_->waiting_bytes() + chunk_.size() : 0;
  }
  size_t waiting_bytes() const noexcept { return disk_bytes() + buffered_bytes; }
  void CountBytes() noexcept override;

  Server& server_;
  Disk& disk_;
  const std::function<void(const SaveResult&)> ended_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  std::unique_ptr<SaveTarget> target_;    // null: no save runs
  const ClientStream* stream_ = nullptr;  // the target, if a client
  std::unique_ptr<SnapshotWalk> walk_;    // null: the file has all keys; may outlast a failed save
  uint64_t changes_at_begin_ = 0;
  size_t most_aside_bytes_ = 0;
  std::string chunk_;
  std::deque<std::unique_ptr<HalfSaved>> values_;  // the first goes next; may outlast a failed save
  bool first_begun_ = false;                       // the first value is partly in the file
  SideText side_;                                  // comes after the first value if first_begun_, else before
  uint64_t visited_bytes_ = 0;  // of values, in this step of the walk: a step ends after some
  unsigned database_ = 0;       // selected last in the chunk, or in side_ if not empty
  uint64_t idle_steps_ = 0;     // of the last key in its turn (snapshot/use_order.h)
  std::string problem_;         // "": nothing has failed
  bool cancelled_ = false;
};

}  // namespace mayfly
