// Loads a snapshot file in slices, while clients are served.
//
//   FileReader's thread --chunks--> records: opcodes, keys --ValueIn--> values --Keyspace::Adopt--> keys
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
//
// Deadlines. A file of Mayfly's tells a TTL from a promise in Unix time (snapshot/key_terms.h), and both go on over the
// downtime; so do those of members. Deadlines of other servers' files are promises in Unix time. A key whose deadline is over is
// not loaded, but goes to the log of removed keys (EXPLOG); its value is loaded as a stale one if its window is not over.
//
// Damage ends the load: the keys before the damage are there, and the result says where the file is damaged. What modules have
// written is skipped, if rdb-skip-unknown allows that. A type whose length is not known is damage.
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
#include "server/hubs/accounts.h"
#include "server/hubs/wakes.h"
#include "server/sliced_work.h"
#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_reader.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/key_terms.h"
#include "snapshot/load_claims.h"
#include "snapshot/member_terms.h"
#include "snapshot/use_order.h"
#include "snapshot/values/module_skip.h"
#include "snapshot/values/value_in.h"

namespace mayfly {

struct Server;

// What a load did.
struct LoadResult {
  std::string problem;      // "": the whole file was read, or as much of it as memory has room for
  std::string_view ending;  // for the file's name: the problem is the file's contents, or its version
  bool full = false;        // memory was full before the end of the file
  uint64_t keys = 0;        // loaded
  uint64_t expired = 0;     // not loaded: their deadlines are over
  uint64_t overtaken = 0;   // not loaded: clients have written or removed them meanwhile
  uint64_t stale = 0;       // values that were loaded as stale ones
  uint64_t empty = 0;      // not loaded: values without members, keys whose namespace has no room for a share
  uint64_t modules = 0;    // not loaded: values of modules
  uint64_t extras = 0;     // what modules have written beside values
  uint64_t homeless = 0;   // not loaded: there is no such database here
  uint64_t groups = 0;     // consumer groups of streams that were left out
  uint64_t functions = 0;  // libraries that were left out
  uint64_t bytes = 0;      // of the file
  uint64_t took_ms = 0;
};

// For the name of a file that is damaged, or of a version that is not known.
inline constexpr std::string_view kDamagedEnding = ".damaged";
inline constexpr std::string_view kUnknownEnding = ".unknown";

class Loader final : private SlicedWork::Step, private Wakes::Ear {
 public:
  // `ended` is called in the turn in which a load ends, but for LoadNow. Borrows server and disk.
  Loader(Server& server, Disk& disk, std::function<void(const LoadResult&)> ended);
  ~Loader() override;

  bool running() const noexcept { return reader_ != nullptr; }
  // Begins to load the file. Returns the reason if it cannot be opened: one line. Throws std::bad_alloc and
  // std::system_error. REQUIRES: !running().
  std::string Begin(const std::string& path, Now now);
  // Goes on to the end, and waits for the disk meanwhile. REQUIRES: running().
  LoadResult LoadNow();
  // The rest of the file is not loaded. REQUIRES: running().
  LoadResult Stop();
  // See LoadClaims.
  LoadClaims* claims() noexcept { return claims_ ? &*claims_ : nullptr; }

 private:
  enum class Status : uint8_t { kOk, kMore, kSpent, kEnd, kBad };
  // kMembers: a set or a sorted set is read, and deadlines of its members may follow. kTail: no more is read.
  enum class State : uint8_t { kHead, kRecord, kValue, kMembers, kModule, kTail };
  // What comes before a key and tells of it.
  struct Facts {
    std::optional<int64_t> deadline_unix_ms;
    std::optional<uint64_t> idle_s;
    std::optional<uint8_t> frequency;
    KeyTerms terms;
    std::optional<uint64_t> early_steps;  // idle time of a key that comes early
  };

  bool DoSome(Now now, size_t budget) noexcept override;
  void OnSignal() noexcept override;
  // Reads on until the budget is spent (kSpent), the reader has no more bytes yet (kMore), or the load ends.
  Status Work(Now now, size_t budget);
  // Ends the load if memory runs out.
  Status WorkSafely(Now now, size_t budget) noexcept;
  Status Some(Now now, size_t& budget);
  // False: there are no more bytes now.
  bool Refill();
  Status ReadHead();
  Status ReadRecord(Now now, size_t& budget);
  Status ReadOpcode(uint8_t opcode);
  Status ReadAux();
  // A field of Mayfly's that tells of keys, or of the log. False: it cannot be read.
  bool ReadOwnField(std::string_view name, std::string_view value);
  bool ReadIdle(std::string_view name, std::string_view value);
  Status SkipImport();
  Status BeginSkip(rdb::ModuleSkip::Kind kind, uint8_t code);
  Status ReadKey(uint8_t type, Now now);
  Status ReadValue(Now now, size_t& budget);
  Status ReadMembers(Now now, size_t& budget);
  Status SkipModule(size_t& budget);
  Status ReadEnd();
  Status Damaged(std::string_view what);
  // The value is complete, if there is one.
  Status EndKey(size_t& budget);
  Status EndReading() noexcept;
  // Moves early keys whose turn has come. False: the budget is spent before all are moved.
  bool MoveEarly(Now now, size_t& budget);
  void Settle(Now now);
  void SettleExpired(Keyspace& home, Now now);
  void LogExpired(const Keyspace& home, int64_t unix_ms);
  // False: clients have written or removed the key meanwhile.
  bool MayCome(Keyspace& home, const Key& key, Now now) const;
  void Adopt(Keyspace& home, const Key& key, Now now);
  Expiry ExpiryOf(Now now) const noexcept;
  uint64_t IdleSteps() const noexcept;
  bool IsFull() const noexcept;
  LoadResult End(Now now) noexcept;
  void ShowProgress() noexcept;

  Server& server_;
  Disk& disk_;
  const std::function<void(const LoadResult&)> ended_;
  uint64_t account_bytes_ = 0;
  const Accounts::Account account_;
  std::string path_;
  std::unique_ptr<FileReader> reader_;  // null: no load runs
  std::optional<LoadClaims> claims_;
  Now began_;
  std::string window_;
  std::string chunk_;
  uint64_t window_at_ = 0;  // the window's place in the file
  rdb::In in_;
  State state_ = State::kHead;
  unsigned version_ = 0;
  bool valkey_ = false;
  bool ours_ = false;  // Mayfly has written the file
  uint64_t database_ = 0;
  Facts facts_;
  std::string key_;
  std::optional<rdb::ValueIn> value_;
  std::unique_ptr<RichValue> rich_;  // the complete value of value_, unless it is a string
  rdb::ModuleSkip module_;
  bool skips_value_ = false;  // module_ reads the value of a key
  uint64_t idle_steps_ = 0;   // of the last key that came in its turn
  EarlyKeys early_;
  LoadResult result_;
};

}  // namespace mayfly
