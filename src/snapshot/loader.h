// Loads a snapshot file in slices, while clients are served.
//
//   FileReader's thread --chunks--> RecordReader --keys with values--> Adopter::Put
//                                                --libraries---------> FunctionLibraries::Adopt
//
// The file has the most recently used keys first, and each key goes to the cold end. Clients get the most needed keys first,
// and the load ends when memory is full: the rest of the file is colder. Keys that were used while the file was written come
// early in the file, and are moved when their turn comes (EarlyKeys).
//
// Clients see a key as soon as the key is loaded. A key still to come is a miss. Changes by clients win over the file:
//   - an existing key is not loaded
//   - a key that was removed, or has expired, since the load began is not loaded (LoadClaims)
//   - after FLUSHDB the rest of the database is not loaded, after NSFLUSH the rest of the namespace, after INVALIDATE the keys
//     with the tag; SWAPDB also swaps the keys still to come
//   - the same rules apply to libraries of functions (server/function_libraries.h)
// With LoadTerms::file_wins the file wins over existing keys instead. A load from a master ends with the removal of keys that
// the file lacks (OldKeys).
//
// A library that cannot be loaded is left out, with a line in the log. Nothing is loaded while a script is suspended: the
// script sees one moment of time.
//
// Deadlines. A file of Mayfly's tells a TTL from a promise in Unix time (snapshot/key_terms.h), for keys and members. Both go
// on during the downtime. Deadlines of other servers' files are promises in Unix time. A key past its deadline is not loaded,
// but goes to the log of removed keys (EXPLOG). The value is loaded as a stale value if its stale window is not over.
//
// Damage ends the load: the keys before the damage are loaded, and the result names the place of the damage. If the checksum of
// the file is right, a refused value ends nothing: its key is left out and named in the log. Fields that Mayfly alone writes are
// no part of the keys: a field that cannot be read, or that a newer Mayfly has written, is left out, with a line in the log. A
// file with a database that does not exist here is not loaded.
//
// A slice is bounded by elements and by bytes. A large value is built, or dropped, in several slices. A compressed string of
// another server is read at once.
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
class Log;
struct Server;

// The result of a load.
struct LoadResult {
  std::string problem;          // "": the whole file was read, or as much as memory has room for
  std::string_view ending;      // for the file's name, after a problem
  bool full = false;            // memory was full before the end of the file
  bool overwhelmed = false;     // a removal by a client could not be noted: the rest was not loaded
  bool outlives_flush = false;  // libraries or records of EXPLOG were loaded
  uint64_t keys = 0;            // loaded
  uint64_t expired = 0;         // not loaded: past their deadlines
  uint64_t overtaken = 0;       // not loaded: written or removed by clients meanwhile
  uint64_t stale = 0;           // values loaded as stale values
  uint64_t empty = 0;           // not loaded: values without members
  uint64_t refused_values = 0;  // not loaded: values with wrong contents
  uint64_t shareless = 0;       // not loaded: keys whose namespace has no room for a share
  uint64_t modules = 0;         // not loaded: values of modules
  uint64_t extras = 0;          // records of modules beside values
  uint64_t homeless = 0;        // not loaded: the database does not exist here, or the slot is another node's
  uint64_t libraries = 0;       // of functions, loaded
  uint64_t refused = 0;         // libraries that cannot be loaded
  // Keys with something that Mayfly alone has and that cannot be read, and such fields of the file.
  uint64_t lost = 0;
  uint64_t bytes = 0;  // of the file
  uint64_t took_ms = 0;
  unsigned stream_database = 0;  // kStreamDatabaseField
  bool unusable = false;         // the file is for other options than this server's
  // The version of the file, a type or a record is not known here. Another try would end there, too.
  bool not_known = false;

  // True if the file has what this server would have loaded if it could.
  bool leaves_out() const noexcept {
    return full || refused_values + shareless + modules + extras + homeless + refused + lost != 0;
  }
};

// Endings for the name of a file that is damaged, has an unknown version, or was not read for another reason.
inline constexpr std::string_view kDamagedEnding = ".damaged";
inline constexpr std::string_view kUnknownEnding = ".unknown";
inline constexpr std::string_view kUnreadEnding = ".unread";
// The end of a second name of a file that a load has left something of.
inline constexpr std::string_view kLeftOutEnding = ".left-out";

class Loader final : private SlicedWork::Step, private Wakes::Listener, private RecordSink {
 public:
  // Except for LoadNow, `ended` is called in the turn in which a load ends. Borrows server and disk.
  Loader(Server& server, Disk& disk, std::function<void(const LoadResult&)> ended);
  ~Loader() override;

  bool running() const noexcept { return file_ != nullptr; }
  // Begins to load the file. Returns "", or one line with the reason if the file cannot be opened. Throws std::bad_alloc and
  // std::system_error. REQUIRES: !running().
  std::string Begin(const std::string& path, LoadTerms terms, Now now);
  // Loads the rest of the file at once, and waits for the disk meanwhile. REQUIRES: running().
  LoadResult LoadNow();
  // Ends the load without the rest of the file. REQUIRES: running().
  LoadResult Stop();
  // See LoadClaims.
  LoadClaims* claims() noexcept { return claims_ ? &*claims_ : nullptr; }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;
  void OnSignal() noexcept override;
  void TakeVersion(unsigned version, bool valkey) override;
  void TakeField(std::string_view name, std::string_view value) override;
  bool TakeEvents(std::string_view name, std::string_view value) override;
  void TakeLostField(std::string_view name) override { NoteLost(name, ""); }
  void TakeModuleRecord() override { ++result_.extras; }
  std::string TakeDatabase(uint64_t database) override;
  void TakeRefused(std::string_view what) override;
  void TakeFunction(std::string_view text) override;
  MemberHome HomeOf(uint64_t database) noexcept override;
  Answer TakeKey(const FileKey& key, ReadValue value, Now now) override;
  bool WantsKey() noexcept override;
  void Expect(uint64_t database, uint64_t keys) noexcept override;
  void PrefetchKey(uint64_t database, std::string_view key) noexcept override;
  // Has an unused value freed in slices; null does nothing.
  void Drop(std::unique_ptr<RichValue> value) noexcept override;
  bool ReadyFor(uint64_t idle_steps, Now now, size_t& budget) override;
  // Reads on. Ends the reading if memory runs out.
  RecordReader::Status Work(Now now, size_t budget) noexcept;
  void AdoptKey(const FileKey& key, ReadValue& value, Now now);
  void AdoptExpired(Keyspace& home, const FileKey& key, ReadValue& value, Now now);
  void LogExpired(const Keyspace& home, const FileKey& key, const rdb::ValueIn& value, int64_t unix_ms);
  // Counts and logs what cannot be read and Mayfly alone has; `key`: of this key, or "".
  void NoteLost(std::string_view what, std::string_view key) noexcept;
  // Makes room for a key of the file. Returns false if clients have written or removed the key meanwhile.
  bool MayCome(Keyspace& home, const Key& key, const FileKey& from, Now now);
  void Adopt(Keyspace& home, const Key& key, const FileKey& from, ReadValue& value, Now now);
  Expiry ExpiryOf(const FileKey& key, Now now) const noexcept;
  uint64_t IdleSteps(const FileKey& key) const noexcept;
  // Sums up the memory that does not count as data: once a slice.
  void LookAtMemory() noexcept;
  bool IsFull() const noexcept;
  // Nobody knows any more which keys must not come. No matter where the file wins.
  bool Overwhelmed() const noexcept { return !terms_.file_wins && claims_->Overwhelmed(); }
  LoadResult End(Now now) noexcept;
  // For single keys; null: no line.
  Log* log() const noexcept;
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
  uint64_t wrong_lengths_ = 0;
  bool read_ = false;     // the reading is over: only early keys are left to move
  bool has_room_ = true;  // for another key
  LoadResult result_;
  uint64_t all_if_full_ = 0;  // MemoryMeter::All, as of LookAtMemory
};

}  // namespace mayfly
