// From bytes to replies: runs the requests that clients have sent, a Batch at a time.
//
//   feeds --Batch: parse, hash, prefetch--> planned requests --arity, login, memory--> handler --> timing
//
// A request for which there is no memory is answered with an error, or, if even that is impossible, its client
// is closed. Either way it has changed nothing, or everything that it was to change. Consecutive calls of one
// O(1) command are timed together. A protocol error is answered after the replies of the requests before it.
// The clock is read at the start of a turn (RefreshNow, by the loop), and again after a command that ends more
// than kStaleUs later. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "cache/eviction.h"
#include "exec/dispatch/batch.h"
#include "exec/dispatch/context.h"
#include "server/output_pool.h"
#include "server/parking.h"

namespace mayfly {

class Executor {
 public:
  static constexpr uint64_t kStaleUs = 200;
  // Before a command that writes runs, it evicts as many bytes as the requests since the last such command
  // added, however many entries that takes: so memory exceeds maxmemory by the bytes of one request at most.
  // If there is more to evict (maxmemory was lowered), it evicts at most this many entries; the next turns of
  // the loop do the rest.
  static constexpr size_t kEvictionsPerCommand = 64;
  // While resident memory is near its limit, it evicts this multiple of the bytes added: a page becomes free
  // only when all entries in it are gone.
  static constexpr uint64_t kPressedFactor = 8;

  // The server's options may change as long as this lives, and not after.
  explicit Executor(Server& server);

  // Runs the complete requests at the front of each feed's input, appends their replies to the session's
  // output, and sets what each feed has consumed. What is left is incomplete, or must wait because the session
  // was parked or will be closed. In state kNoRoom there was no memory to parse the feed. A session for whose
  // reply there is no memory will be closed, so neither this nor RunWoken throws. Marks sessions dirty that
  // have something to write or will be closed.
  void Run(std::span<Feed> feeds);

  // Runs one request that is already parsed: that of a parked client. Reserved for transactions and scripts.
  void Dispatch(Session& session, std::span<const std::string_view> arguments,
                const Parked* resumed = nullptr);

  // Runs the requests of the clients that were woken since the last call. Calls `freed` with each session that
  // is no longer parked, since more of its input may be waiting.
  template <typename Freed>
  void RunWoken(Freed&& freed) {
    while (const std::unique_ptr<Parked> woken = server_.parking.TakeWoken()) {
      Session& session = *woken->session;
      Resume(*woken);
      if (session.parked == nullptr) freed(session);
    }
  }

  // Evicts at most `budget` entries while a limit is exceeded; true if more must go.
  bool EvictSome(size_t budget);
  // Whether more had to go when eviction last stopped. Meanwhile big arguments are not read from sockets.
  bool short_of_room() const noexcept { return short_of_room_; }

  // Reads the clock.
  Now RefreshNow() noexcept;
  Now now() const noexcept { return now_; }
  // The limits on unread output, as the options have them now.
  const OutputPool& output_pool() const noexcept { return output_pool_; }

 private:
  // `kWithModes`: some client has a mode that concerns single requests (exec/dispatch/client_modes.h).
  template <bool kWithModes>
  void RunPlanned();
  // Makes batch_limits_ and output_pool_ what the options say.
  void FollowOptions() noexcept;
  void AnswerBroken(Feed& feed) noexcept;
  void MarkIfDirty(Session& session) noexcept;
  void Resume(const Parked& parked) noexcept;
  void RunAgain(const Parked& parked);
  // False if it was refused.
  bool Execute(Session& session, Args& args, const TableRow& row, FirstKey first_key, const Parked* resumed);
  bool Admit(Session& session, const Args& args, const TableRow& row);
  bool MakeRoomFor(const TableRow& row);
  bool MakeRoomSlowly(const TableRow& row);
  void SetMemoryCeiling() noexcept;
  void Call(Context& context, Args& args);
  void Reject(Session& session, const Args& args, const TableRow* row) noexcept;
  void AnswerRefusal(Session& session, const Args& args, const TableRow* row);
  void AnswerNoMemory(Session& session, const char* end_before) noexcept;
  void CloseForMemory(Session& session) noexcept;
  void RejectUnknown(Session& session, const Args& args, const TableRow* container);
  // Counts the error replies that the session got since it had `before` of them.
  void CountErrors(const Session& session, uint64_t before) noexcept;
  void RecordCallTime() noexcept;
  void TrackLatency(const TableRow& row) noexcept;
  EvictionLimits Limits() const noexcept;
  Evictor::Outcome MakeRoomForCommand() noexcept;
  Evictor::Outcome MakeRoom(size_t budget, const EvictionOwed& owed = {}) noexcept;
  EvictionOwed OwedByCommand() const noexcept;
  void Settle() noexcept;

  Server& server_;
  Now now_;
  Batch batch_;
  Batch::Limits batch_limits_;
  OutputPool output_pool_;
  uint64_t stale_cycles_;
  uint64_t memory_ceiling_ = 0;  // MemoryMeter::All above which a command that writes may have to evict
  uint64_t refreshed_at_ = 0;    // TSC
  uint64_t command_began_ = 0;
  // The data after the last eviction, or the limits if there was less. `bytes` is without the parts of big
  // arguments that had arrived by then: they are made up for when their request runs.
  struct {
    uint64_t bytes = 0;
    uint64_t keys = 0;
  } settled_;
  bool short_of_room_ = false;
  const TableRow* timed_row_ = nullptr;  // of the calls that ran since command_began_; null: none
  uint64_t timed_calls_ = 0;
};

}  // namespace mayfly
