// Loads a snapshot file in slices, while clients are served.
//
//   FileReader's thread --chunks--> RecordReader --keys with values--> Keyspace::Adopt
//                                                --libraries---------> FunctionLibraries::Adopt
//
// The file has the most recently used keys first, and each key goes to the cold end. So what clients need first is there
// first, and the load ends when memory is full: the rest of the file is colder. Keys that were used while the file was written
// come early, and are moved when their turn comes (EarlyKeys).
//
// Clients see a key as soon as it is loaded. A key that is still to come is a miss. What clients do wins over the file:
//   - a key that exists is not loaded
//   - a key that was removed, or has expired, since the load began is not loaded (LoadClaims)
//   - after FLUSHDB the rest of the database is not loaded, after NSFLUSH not the rest of the namespace, after INVALIDATE no
//     key with the tag; SWAPDB swaps what is still to come, too
//   - the same goes for libraries of functions (server/function_libraries.h)
// With LoadTerms::file_wins the file wins over what exists instead; and a load from a master ends with the removal of what the
// file lacks (OldKeys).
//
// A library that cannot be loaded is left out, with a line in the log. While a script is suspended nothing is loaded: the
// script sees one moment of time.
//
// Deadlines. A file of Mayfly's tells a TTL from a promise in Unix time (snapshot/key_terms.h), and both go on over the
// downtime; so do those of members. Deadlines of other servers' files are promises in Unix time. A key whose deadline is over is
// not loaded, but goes to the log of removed keys (EXPLOG); its value is loaded as a stale one if its window is not over.
//
// Damage ends the load: the keys before the damage are there, and the result says where the file is damaged.
//
// A slice is bounded by elements and by bytes, and a large value is built, or dropped, in several slices. A compressed string
// of another server is read at once.
//
// Borrows server and disk. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "server/hubs/accounts.h"
#include "server/hubs/wakes.h"
#include "server/sliced_work.h"
#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/load_claims.h"
#include "snapshot/load_terms.h"
#include "snapshot/old_keys.h"
#include "snapshot/record_reader.h"
#include "snapshot/use_order.h"

namespace mayfly {

class FunctionLibraries;
struct Server;

// What a load did.
struct LoadResult {
  std::string problem;      // "": the whole file was read, or as much of it as memory has room for
  std::string_view ending;  // for the file's name, if there is a problem
  bool full = false;        // memory was full before the end of the file
  uint64_t keys = 0;        // loaded
  uint64_t expired = 0;     // not loaded: their deadlines are over
  uint64_t overtaken = 0;   // not loaded: clients have written or removed them meanwhile
  uint64_t stale = 0;       // values that were loaded as stale ones
  uint64_t empty = 0;      // not loaded: values without members, keys whose namespace has no room for a share
  uint64_t modules = 0;    // not loaded: values of modules
  uint64_t extras = 0;     // what modules have written beside values
  uint64_t homeless = 0;   // not loaded: there is no such database here
  uint64_t libraries = 0;  // of functions, loaded
  uint64_t refused = 0;    // libraries that cannot be loaded
  uint64_t bytes = 0;      // of the file
  uint64_t took_ms = 0;
  unsigned stream_database = 0;  // kStreamDatabaseField
};

// For the name of a file that is damaged, of a version that is not known, or that was not read for another reason.
inline constexpr std::string_view kDamagedEnding = ".damaged";
inline constexpr std::string_view kUnknownEnding = ".unknown";
inline constexpr std::string_view kUnreadEnding = ".unread";

class Loader final : private SlicedWork::Step, private Wakes::Ear, private RecordSink {
 public:
  // `ended` is called in the turn in which a load ends, but for LoadNow. Borrows server and disk.
  Loader(Server& server, Disk& disk, std::function<void(const LoadResult&)> ended);
  ~Loader() override;

  bool running() const noexcept { return file_ != nullptr; }
  // Begins to load the file. Returns the reason if it cannot be opened: one line. Throws std::bad_alloc and
  // std::system_error. REQUIRES: !running().
  std::string Begin(const std::string& path, LoadTerms terms, Now now);
  // Goes on to the end, and waits for the disk meanwhile. REQUIRES: running().
  LoadResult LoadNow();
  // The rest of the file is not loaded. REQUIRES: running().
  LoadResult Stop();
  // See LoadClaims.
  LoadClaims* claims() noexcept { return claims_ ? &*claims_ : nullptr; }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void OnSignal() noexcept override;
  void TakeVersion(unsigned, bool) override {}
  bool TakeField(std::string_view name, std::string_view value) override;
  void TakeModuleRecord() override { ++result_.extras; }
  void TakeFunction(std::string_view text) override;
  MemberHome HomeOf(uint64_t database) noexcept override;
  Answer TakeKey(const FileKey& key, ReadValue value, Now now) override;
  // Has a value freed in slices that no key gets; null does nothing.
  void Drop(std::unique_ptr<RichValue> value) noexcept override;
  bool ReadyFor(uint64_t idle_steps, Now now, size_t& budget) override;
  // Reads on. Ends the reading if memory runs out.
  RecordReader::Status Work(Now now, size_t budget) noexcept;
  void Settle(const FileKey& key, ReadValue& value, Now now);
  void SettleExpired(Keyspace& home, const FileKey& key, ReadValue& value, Now now);
  void LogExpired(const Keyspace& home, const FileKey& key, const rdb::ValueIn& value, int64_t unix_ms);
  // Makes room for a key of the file. False: clients have written or removed it meanwhile.
  bool MayCome(Keyspace& home, const Key& key, const FileKey& from, Now now);
  void Adopt(Keyspace& home, const Key& key, const FileKey& from, ReadValue& value, Now now);
  Expiry ExpiryOf(const FileKey& key, Now now) const noexcept;
  uint64_t IdleSteps(const FileKey& key) const noexcept;
  // Sums up what does not count as data: once a slice.
  void LookAtMemory() noexcept;
  bool IsFull() const noexcept;
  LoadResult End(Now now) noexcept;
  void ShowProgress() noexcept;

  Server& server_;
  Disk& disk_;
  const std::function<void(const LoadResult&)> ended_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  std::unique_ptr<FileReader> file_;  // null: no load runs
  std::optional<RecordReader> reader_;
  std::optional<LoadClaims> claims_;
  std::optional<OldKeys> old_keys_;         // of a load from a master
  FunctionLibraries* libraries_ = nullptr;  // null: no load runs, or there are no scripts
  LoadTerms terms_;
  Now began_;
  EarlyKeys early_;
  bool read_ = false;  // no more is read: early keys are left to move
  LoadResult result_;
  uint64_t all_if_full_ = 0;  // MemoryMeter::All, as of LookAtMemory
};

}  // namespace mayfly
