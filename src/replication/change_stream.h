// Turns changes of keys into the stream of commands for replicas, in Redis's commands, once a turn.
//
//   changes --> TurnChanges: which keys --- the turn ends ---> each key's present value, or its expiry, or DEL --> Backlog
//         \--> commands that do the same (Effect, FLUSHDB, SWAPDB, RENAME) ----^ come before
//          \-> the value of a short text, if the key has not changed before in this turn --^
//
// So a counter that was raised a thousand times in a turn costs one message. A replica gets what has happened, not what was asked:
// what scripts have done, the drawn members and jitter, deadlines as Unix times. It gets also what happened by itself: keys that
// were evicted, have expired or were invalidated, tasks in their streams.
//
//   a string              SET key value [PXAT ms]
//   a value of members    the change as a command, if whoever made it tells (Effect); otherwise RESTORE key ... REPLACE ABSTTL
//   a long text           likewise; otherwise SET
//   an expiry alone       PEXPIREAT key ms, or PERSIST key
//   a key that is gone    DEL key; after its deadline, if all replicas know that, a cutoff (replication/cutoff.h)
//   what Mayfly alone has  a message that other servers pass over (replication/facts.h)
//
// Several commands of a turn are a transaction, so that a replica shows no half of one.
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
#include "cache/keyspace/change.h"
#include "replication/deadline_words.h"
#include "replication/recent_names.h"
#include "replication/stream_draft.h"
#include "replication/turn_changes.h"

namespace mayfly {

class Backlog;
struct Server;

class ChangeStream final : private ChangeListener {
 public:
  // Shorter texts go as a whole.
  static constexpr size_t kLongText = 1024;
  // After so many commands of a turn, a value of at most kSmallValue bytes goes as a whole.
  static constexpr unsigned kManyCommands = 4;
  static constexpr size_t kSmallValue = 4096;
  // A longer value is renamed by a command.
  static constexpr size_t kLongToRename = 4096;

  ChangeStream(Server& server, Backlog& backlog) : server_(server), backlog_(backlog), commands_(backlog) {}
  ~ChangeStream() override { Stop(); }

  // Hears of changes from now on. `anew`: nobody who reads the stream knows of any key yet. Throws std::bad_alloc.
  void Start(bool anew);
  void Stop() noexcept;
  bool running() const noexcept { return running_; }
  // Flush has nothing to do.
  bool empty() const noexcept { return keys_.empty() && command_count_ == 0 && !incomplete_; }
  // Who reads the stream from here on has no database selected.
  void SelectAnew() noexcept { selected_ = kNone; }

  // ---- cutoffs (replication/cutoff.h)
  //
  // From now on expired keys are told by cutoffs, or by DEL. No effect of `on` unless MayUseCutoffs.
  void UseCutoffs(bool on) noexcept { uses_cutoffs_ = on && exact_; }
  // All who read the stream know the very deadlines that keys have here: the wall clock was not set since they were told.
  bool exact() const noexcept { return exact_; }
  // The last cutoff of the stream, on the clocks of this server's deadlines; 0 if there is none.
  Now cutoff() const noexcept;
  // How far Unix times are ahead of monotonic deadlines, as far as others were told of those; nothing: they were told of none.
  std::optional<int64_t> told_distance_ms() const noexcept { return told_distance_ms_; }
  // All keys are another server's from now on.
  void ForgetTold() noexcept {
    told_distance_ms_.reset();
    exact_ = true;
  }
  // Who has read of a cutoff in another server's stream learns that it does not count any more.
  void SendNoCutoff() noexcept;
  // A cutoff was written since the last call, before the last Flush or in it.
  bool TakeWroteCutoff() noexcept { return std::exchange(wrote_cutoff_, false); }

  // Appends a command that is no change of a key: PUBLISH, FUNCTION LOAD and the like. If memory runs out, as after a change.
  void Send(unsigned database, std::span<const std::string_view> words) noexcept;
  // Appends a command outside of any transaction: PING, REPLCONF GETACK. Throws std::bad_alloc.
  void SendAlone(std::initializer_list<std::string_view> words, Now now);
  // Writes what has changed since the last call. Throws std::bad_alloc, also if there was no memory for a change: then the stream
  // lacks something. REQUIRES: no script is under way.
  void Flush(Now now);

 private:
  static constexpr unsigned kNone = ~0U;

  void OnChange(const Change& change) override;
  // Short texts, which most changes are, are written at once: that is cheaper than to look at the key again later. False: the
  // change is another one, or the key's value was written in this turn.
  bool WriteAtOnce(const Change& change, int64_t distance_ms);
  // For an entry without tags, a stale window and the like, whose value is this text.
  bool WriteTextAtOnce(const Change& change, std::string_view text, int64_t distance_ms);
  // The same for a value that is stored as a number; false for any other value.
  bool WriteNumberAtOnce(const Change& change, int64_t distance_ms);
  // Writes `set`, the head of a command, and two words, behind which there is room for a deadline. Returns their end for Commit;
  // null: the key's value was written in this turn.
  char* BeginText(const Change& change, std::string_view set, std::string_view key, std::string_view text);
  void Note(const Change& change);
  void NoteKey(const Change& change);
  // The command of this change is shorter than the value.
  static bool IsWorthACommand(const Change& change, const TurnChanges::Item& item) noexcept;
  void NoteRename(const Change& change);
  // The other half of a rename. False: the key is one like any other.
  bool FinishRename(const Change& change);
  // An expired key is told by a cutoff, a new one if need be. False: it must be told by its name.
  bool TellByCutoff(const Change& change);
  // Adds the expiries that are still to be told: a cutoff must not come before them, since the keys may have been gone by their
  // old deadlines.
  void TellExpiries(Now now);
  // Notices that the wall clock was set. `distance_ms`: of the wall clock from the monotonic one, now.
  void FollowClock(int64_t distance_ms);
  // It was set: no cutoff counts any more, and none comes, since the deadlines that others know are not those of this server.
  void LoseExactness();
  void AddNoCutoff();
  void AddPart(const Change& change, const Effect& effect);
  void Add(unsigned database, std::span<const std::string_view> first,
           std::span<const std::string_view> then = {});
  void Add(unsigned database, std::initializer_list<std::string_view> words) {
    Add(database, {words.begin(), words.size()});
  }
  void Select(unsigned database);
  // The key as replicas are to have it; null: it is gone.
  const Entry* TheirsOf(const TurnChanges::Item& item, Now now) const noexcept;
  void Write(const TurnChanges::Item& item, Now now);
  void WriteText(std::string_view name, const Entry& entry, Now now);
  void WriteFacts(const Keyspace& keyspace, const Entry& entry, Now now);
  void WriteWords(std::initializer_list<std::string_view> words);
  void Clear() noexcept;

  Server& server_;
  Backlog& backlog_;
  bool running_ = false;
  bool incomplete_ = false;  // there was no memory for a change
  TurnChanges keys_;
  StreamDraft commands_;  // of this turn, before the keys
  size_t command_count_ = 0;
  // The last command is the value of this entry, and begins there. No key has changed since.
  const Entry* last_ = nullptr;
  size_t last_at_ = 0;
  RecentNames recent_;
  DeadlineWords deadline_words_;
  unsigned selected_ = kNone;
  bool uses_cutoffs_ = false;
  bool exact_ = true;
  bool wrote_cutoff_ = false;
  bool has_expiries_ = false;  // an item of keys_ may have Left::kExpiry
  int64_t cutoff_ms_ = 0;      // the last of the stream that counts, Unix time; 0: none
  std::optional<int64_t> told_distance_ms_;
  std::optional<unsigned> swapped_;  // one of two databases
  struct Renamed {
    std::string name;
    unsigned database;
  };
  std::optional<Renamed> renamed_;  // a long value, to be told with its new name
};

}  // namespace mayfly
