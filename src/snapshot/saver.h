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
// Large values are written in slices, one after another, and the walk pauses meanwhile (snapshot/large/half_saved.h). A large
// value begins when the walk comes to its key, or when its key is about to change; then it waits for its turn, and so do small keys
// that are about to change while a value is half in the file: they go into side_, which comes after the value.
//
//   values_   | half in the file | begun | begun | ...          side_   bytes of small keys
//
// A request may wait for a large value (exec/values/saved_access.h). The value moves forward: its turn comes next. And until
// the walk has read it, slices put its parts aside, into memory, and write nothing, not even if the disk is slow. So the wait
// lasts as long as it takes to read the value, whatever comes before it in the file: a record in the file has no gaps. Beyond
// kMostAsideBytes that wait for the disk or for their place, and when memory runs out, the request waits for the value's turn.
//
// The version of the file is 10, or 12 if a hash has fields with deadlines. Redis reads such a file; what it does not know
// rides in AUX fields:
//
//   head:    explog-next, explog      the log of removed keys (snapshot/event_fields.h)
//   a key:   m, i, e | deadline | idle time | type | key | value | t      snapshot/key_terms.h, use_order.h, values/member_terms.h
//
// Borrows server and disk. Loop thread only.
#pragma once

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

// What of the data is saved.
struct SaveParts {
  bool keys = true;
  bool functions = true;
};

// How a snapshot goes to a client.
struct StreamTerms {
  std::string greeting;  // comes first
  SaveParts parts = {};
  bool ends_client = true;  // the connection ends with the snapshot
  bool plain = false;       // without what servers know only since Redis 7.4
  std::optional<unsigned> database =
      {};  // that is selected in the stream that follows; nothing: the stream says it
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

class Saver final : private SnapshotVisitor, private SaveHome, private SlicedWork::Step, private Wakes::Ear {
 public:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  // So many bytes may wait for the disk until the walk pauses.
  static constexpr size_t kPauseBytes = size_t{4} << 20;
  // With so many, a key that changes meanwhile ends the save. One small key more may wait.
  static constexpr size_t kMostWaitingBytes = size_t{256} << 20;
  // With so many, no value is put aside because somebody waits for it. The rest is for what clients change meanwhile.
  static constexpr size_t kMostAsideBytes = kMostWaitingBytes / 2;
  // So many bytes of the log of removed keys are saved, the newest records: they are written at once when a save begins, or
  // while everybody waits.
  static constexpr uint64_t kLogBytes = uint64_t{512} << 10;
  static constexpr uint64_t kLogBytesAtOnce = uint64_t{64} << 20;

  // `ended` is called in the turn in which a save ends, but for SaveNow. Borrows all arguments.
  Saver(Server& server, Disk& disk, std::function<void(const SaveResult&)> ended);
  ~Saver() override;

  // True until nothing of the last save is left to do.
  bool running() const noexcept { return target_ != nullptr || walk_ != nullptr || !values_.empty(); }
  // Begins a save of all keys as they are now. Throws std::bad_alloc and std::system_error, and has begun nothing then.
  // REQUIRES: !running().
  void Begin(Now now) { BeginFile(kLogBytes, now); }
  // Begins to send a snapshot to a client; likewise. The caller parks the client.
  void BeginStream(Session& client, const StreamTerms& terms, Now now);
  // A save runs that will become the file.
  bool to_file() const noexcept { return target_ != nullptr && stream_ == nullptr && !cancelled_; }
  // A save is sent to this client.
  bool IsFor(const Session& client) const noexcept;
  // The running save will have no file, and ends soon. REQUIRES: running().
  void Cancel() noexcept;
  // True after Cancel until running() is false.
  bool cancelling() const noexcept { return running() && (cancelled_ || target_ == nullptr); }
  // Saves all keys as they are now, with so much of the log, and waits for the disk. A running save is given up.
  SaveResult SaveNow(uint64_t log_bytes, Now now);

 private:
  void Visit(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept override;
  void VisitStale(unsigned index, const Keyspace& keyspace, const Entry& entry,
                  Expiry deadline) noexcept override;
  bool WantsPause() const noexcept override;
  bool DoSome(Now now, size_t budget) noexcept override;
  bool WalkOn(size_t budget) noexcept;
  void WriteOn(size_t budget) noexcept;
  void OnSignal() noexcept override;
  bool HasRoom() noexcept override;
  void OnNoMemory() noexcept override { Fail("out of memory"); }
  void OnAwaited(HalfSaved& value) noexcept override;

  FileWriter& BeginFile(uint64_t log_bytes, Now now);
  // Prepares a save, but for its target.
  void Prepare(const StreamTerms& terms, uint64_t log_bytes, Now now);
  // Begins the walk. Throws std::bad_alloc, and leaves the target alone then.
  void Start(std::unique_ptr<SaveTarget> target, SaveParts parts, Now now);
  void WriteHead(const StreamTerms& terms, uint64_t log_bytes, Now now);
  // Lets write(bytes) append a key, and gives the chunk to the target when it is full.
  template <typename Write>
  void Append(Write&& write) noexcept;
  // Appends what comes before the type of the value.
  void WriteFacts(const Keyspace& keyspace, const Entry& entry, std::string& bytes);
  void WriteKey(unsigned index, const Keyspace& keyspace, const Entry& entry, std::string& bytes);
  void WriteStale(unsigned index, const Keyspace& keyspace, const Entry& entry, Expiry deadline,
                  std::string& bytes);
  void WriteDeadline(Expiry deadline, std::string& bytes) const;
  // How long the key was not used, or how often it was.
  void WriteUse(const Entry& entry, std::string& bytes);
  // The type, the key and the value.
  void WritePair(const Entry& entry, const rdb::ValueForm& form, std::string& bytes) const;
  void BeginLarge(unsigned index, const Keyspace& keyspace, const Entry& entry) noexcept;
  // Appends the opcode of the database, unless the bytes before are of the same.
  void SelectDatabase(unsigned index, std::string& bytes);
  bool has_large() const noexcept { return !values_.empty() || !side_.empty(); }
  // Throws std::bad_alloc. REQUIRES: a save runs, and nothing has failed.
  void SaveSome(size_t budget);
  // Writes the next bytes of the half-saved values. REQUIRES: has_large().
  void SaveSomeLarge();
  // The value to put aside next, because somebody waits for it. Null: there is none, or no room.
  HalfSaved* NextAside() const noexcept;
  static void PutAside(HalfSaved& value) noexcept;
  // Gives the chunk to the thread. Throws std::bad_alloc.
  void Send();
  // Passes on without a file. Returns true at the end.
  bool UnwindSome(size_t budget) noexcept;
  // The walk is at its end: writes the end of the file.
  void Finish();
  // There will be no file: ends the thread, and lets walk and values come to their ends without writing anything.
  void Fail(std::string_view problem) noexcept;
  // The thread has ended.
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
  const ClientStream* stream_ = nullptr;  // the target, if it is a client
  std::unique_ptr<SnapshotWalk> walk_;    // null: the file has all keys; may outlast a save that has failed
  uint64_t changes_at_begin_ = 0;
  std::string chunk_;
  std::deque<std::unique_ptr<HalfSaved>> values_;  // the first goes next; may outlast a save that has failed
  bool first_begun_ = false;                       // the first value is partly in the file
  SideText side_;               // comes after the first value, if that is begun, else before
  uint64_t visited_bytes_ = 0;  // of values, by this step of the walk: a step ends after some
  unsigned database_ = 0;       // that was selected last in the chunk, or in side_ if that has bytes
  uint64_t idle_steps_ = 0;     // of the last key that came in its turn (snapshot/use_order.h)
  std::string problem_;         // "": nothing has failed
  bool cancelled_ = false;
};

}  // namespace mayfly
