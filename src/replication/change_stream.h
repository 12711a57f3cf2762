// Turns changes of keys into the stream of commands for replicas, in Redis's commands, once a turn.
//
//   changes --> TurnChanges: which keys --- the turn ends ---> each key's present value, or its expiry, or DEL --> Backlog
//         \--> commands with the same effect (Effect, FLUSHDB, SWAPDB, RENAME) ----^ come before
//          \-> the value of a short text, if the key has not changed before in this turn --^
//
// A counter raised a thousand times in a turn costs one message. A replica gets results, not requests: the effects of
// scripts, drawn members and jitter, deadlines as Unix times. A replica also gets changes without a request: evicted, expired
// and invalidated keys, tasks in their streams.
//
//   a string              SET key value [PXAT ms]
//   a value of members    the change as a command, if the change has an Effect; otherwise RESTORE key ... REPLACE ABSTTL
//   a long text           likewise; otherwise SET
//   an expiry alone       PEXPIREAT key ms, or PERSIST key
//   a removed key         DEL key; for an expired key a cutoff, if all replicas support cutoffs (replication/cutoff.h)
//   facts of Mayfly alone  a message that other servers ignore (replication/facts.h)
//
// Several commands of a turn are a transaction: a replica never shows half a turn.
//
// Borrows the server and the backlog. Loop thread only.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/time/clock.h"
#include "cache/changes/change.h"
#include "replication/deadline_words.h"
#include "replication/recent_names.h"
#include "replication/stream_draft.h"
#include "replication/turn_changes.h"

namespace mayfly {

class Backlog;
struct Server;

class ChangeStream final : private ChangeListener {
 public:
  // A shorter text is sent whole.
  static constexpr size_t kLongText = 1024;
  // After this many commands for a key in a turn, a value of at most kSmallValue bytes is sent whole.
  static constexpr unsigned kManyCommands = 4;
  static constexpr size_t kSmallValue = 4096;
  // A longer value is renamed by a command.
  static constexpr size_t kLongToRename = 4096;

  ChangeStream(Server& server, Backlog& backlog) : server_(server), backlog_(backlog), commands_(backlog) {}
  ~ChangeStream() override { Stop(); }

  // Listens to changes from now on. `anew`: no reader of the stream knows any key yet. Throws std::bad_alloc.
  void Start(bool anew);
  void Stop() noexcept;
  bool running() const noexcept { return running_; }
  // True if Flush has nothing to do.
  bool empty() const noexcept { return keys_.empty() && command_count_ == 0 && !incomplete_; }
  // The next command selects its database again: a new reader of the stream has none selected.
  void SelectAnew() noexcept { selected_ = kNone; }

  // ---- cutoffs (replication/cutoff.h)
  //
  // Reports expired keys by cutoffs from now on if `on` and exact(), otherwise by DEL.
  void UseCutoffs(bool on) noexcept { uses_cutoffs_ = on && exact_; }
  // True while all readers of the stream know the exact deadlines here: the wall clock was not set since the deadlines were
  // sent.
  bool exact() const noexcept { return exact_; }
  // The last cutoff of the stream, on the clocks of this server's deadlines; 0 if there is none.
  Now cutoff() const noexcept;
  // The wall clock minus the monotonic clock, by which other servers know this server's deadlines; empty: other servers know
  // none.
  std::optional<int64_t> told_clock_distance_ms() const noexcept { return told_clock_distance_ms_; }
  // All keys come from another server from now on.
  void ForgetTold() noexcept {
    told_clock_distance_ms_.reset();
    exact_ = true;
  }
  // Ends the cutoff that readers know from another server's stream.
  void SendNoCutoff() noexcept;
  // True if a cutoff was written since the last call, before the last Flush or in it.
  bool TakeWroteCutoff() noexcept { return std::exchange(wrote_cutoff_, false); }

  // Appends a command that changes no key: PUBLISH, FUNCTION LOAD and the like. If memory runs out, the next Flush throws.
  void Send(unsigned database, std::span<const std::string_view> words) noexcept;
  // Appends a command outside of any transaction: PING, REPLCONF GETACK. Throws std::bad_alloc.
  void SendAlone(std::initializer_list<std::string_view> words, Now now);
  // Writes the changes since the last call. Throws std::bad_alloc, also if there was no memory for a change: the stream then
  // lacks a change. REQUIRES: no script is running.
  void Flush(Now now);

 private:
  static constexpr unsigned kNone = ~0U;

  void OnChange(const Change& change) override;
  // Writes a short text at once: most changes are short texts, and a second look at the key later costs more. Returns false
  // for any other change, or if the key's value was written in this turn.
  bool WriteAtOnce(const Change& change, int64_t distance_ms);
  // For the text value of an entry without tags, a stale window and the like.
  bool WriteTextAtOnce(const Change& change, std::string_view text, int64_t distance_ms);
  // Likewise for a value stored as a number. Returns false for any other value.
  bool WriteNumberAtOnce(const Change& change, int64_t distance_ms);
  // Writes `set`, the head of a command, and two words, and leaves room for a deadline. Returns the end of the words for
  // Commit; null if the key's value was written in this turn.
  char* BeginText(const Change& change, std::string_view set, std::string_view key, std::string_view text);
  void Note(const Change& change);
  void NoteKey(const Change& change);
  // True if a command for this change costs less than the value.
  static bool IsWorthACommand(const Change& change, const TurnChanges::Item& item) noexcept;
  void NoteRename(const Change& change);
  // Handles the second half of a rename. Returns false for any other change.
  bool FinishRename(const Change& change);
  // Reports an expired key by a cutoff, a new cutoff if need be. Returns false if the key needs a DEL.
  bool TellByCutoff(const Change& change);
  // Adds the pending expiries. A cutoff must not come before them: replicas would free keys by the old deadlines.
  void TellExpiries(Now now);
  // Notices a set wall clock. `distance_ms`: the wall clock minus the monotonic clock, now.
  void FollowClock(int64_t distance_ms);
  // The wall clock was set: the last cutoff ends, and no more come, since other servers know other deadlines than this
  // server.
  void LoseExactness();
  void AddNoCutoff();
  void AddPart(const Change& change, const Effect& effect);
  void Add(unsigned database, std::span<const std::string_view> first,
           std::span<const std::string_view> then = {});
  void Add(unsigned database, std::initializer_list<std::string_view> words) {
    Add(database, {words.begin(), words.size()});
  }
  void Select(unsigned database);
  // Returns the entry for replicas; null if the key is gone.
  const Entry* TheirsOf(const TurnChanges::Item& item, Now now) const noexcept;
  void Write(const TurnChanges::Item& item, Now now);
  void WriteText(std::string_view name, const Entry& entry, Now now);
  void WriteFacts(const Keyspace& keyspace, const Entry& entry, Now now);
  void WriteWords(std::initializer_list<std::string_view> words);
  void Clear() noexcept;

  Server& server_;
  Backlog& backlog_;
  bool running_ = false;
  bool incomplete_ = false;  // memory ran out for a change
  TurnChanges keys_;
  StreamDraft commands_;  // of this turn, written before the keys
  size_t command_count_ = 0;
  // The entry whose value the last command sets, and the command's place in commands_. Null if a key has changed since.
  const Entry* last_ = nullptr;
  size_t last_at_ = 0;
  RecentNames recent_;
  DeadlineWords deadline_words_;
  unsigned selected_ = kNone;
  bool uses_cutoffs_ = false;
  bool exact_ = true;
  bool wrote_cutoff_ = false;
  bool has_expiries_ = false;  // an item of keys_ may have Left::kExpiry
  int64_t cutoff_ms_ = 0;      // the last cutoff in force, Unix time; 0: none
  std::optional<int64_t> told_clock_distance_ms_;
  std::optional<unsigned> swapped_;  // the first of two databases
  struct Renamed {
    std::string name;
    unsigned database;
  };
  std::optional<Renamed> renamed_;  // a long value, until the new name is reported
};

}  // namespace mayfly
