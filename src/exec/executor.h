// From bytes to replies: runs the requests that clients have sent, a Batch at a time.
//
//   feeds --Batch: parse, hash, look ahead--> planned requests --arity, login, memory--> handler --> timing
//
// A request that finds no memory is answered with an error, or, where that cannot be done any more, its
// client is closed; it changes nothing, or all that it was to change. Calls of one O(1) command in a row are
// timed together. A protocol error is answered behind the replies of the requests before it. The clock is
// read at the start of a turn (RefreshNow, by the loop) and again once kStaleUs have gone by, so after a slow
// command too. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "exec/batch.h"
#include "exec/context.h"

namespace mayfly {

class Executor {
 public:
  static constexpr uint64_t kStaleUs = 200;
  // A command that writes first makes up for what came since the last one did, however many entries that
  // takes; so nobody's bytes but those of one request are ever above maxmemory. Then it evicts this many
  // entries at most of what else is too much; the rest goes on in the next turns.
  static constexpr size_t kEvictionsPerCommand = 64;
  // Where resident memory comes near its limit, it makes up for so many times what came: the pages of what
  // goes become free only when all that lies in them is gone.
  static constexpr uint64_t kPressedFactor = 8;

  // The server's options may change as long as this lives, and not after.
  explicit Executor(Server& server);

  // Runs the complete requests at the front of each feed's input, appending to its session's output, and sets
  // what each feed has consumed. What is left is incomplete, or waits because the session was parked or is to
  // be closed; a feed in state kNoRoom found no memory. A session for whose reply there is no memory is to be
  // closed, so nothing is thrown here or by RunWoken. Marks sessions dirty that have something to write or
  // to close.
  void Run(std::span<Feed> feeds);

  // Runs one request whose arguments are at hand: of a parked client, later of a transaction or a script.
  void Dispatch(Session& session, std::span<const std::string_view> arguments,
                const Parked* resumed = nullptr);

  // Runs again what was woken since the last call. The sessions that came free may have more input waiting:
  // `freed` is called with each of them.
  template <typename Freed>
  void RunWoken(Freed&& freed) {
    while (const std::unique_ptr<Parked> woken = server_.parking.TakeWoken()) {
      Session& session = *woken->session;
      Resume(*woken);
      if (session.parked == nullptr) freed(session);
    }
  }

  // Evicts at most `budget` entries while over a limit; true where it must go on.
  bool EvictSome(size_t budget);
  // Whether it had to when it last stopped. Meanwhile big arguments wait in the kernel.
  bool short_of_room() const noexcept { return short_of_room_; }

  // Reads the clock.
  Now RefreshNow() noexcept;
  Now now() const noexcept { return now_; }

 private:
  // `kWithModes`: with an eye on what single clients asked for (exec/client_modes.h).
  template <bool kWithModes>
  void RunPlanned();
  Batch::Limits BatchLimits() const noexcept;
  void AnswerBroken(Feed& feed) noexcept;
  void MarkIfDirty(Session& session) noexcept;
  void Resume(const Parked& parked) noexcept;
  void RunAgain(const Parked& parked);
  // False where it was refused.
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
  // Books the error replies that the session got since it had `before` of them.
  void CountErrors(const Session& session, uint64_t before) noexcept;
  void RecordCallTime() noexcept;
  void TrackLatency(const TableRow& row) noexcept;
  EvictionLimits Limits() const noexcept;
  Evictor::Outcome MakeRoomForCommand() noexcept;
  Evictor::Outcome MakeRoom(size_t budget, const Evictor::Owed& owed = {}) noexcept;
  Evictor::Owed OwedByCommand() const noexcept;
  void Settle() noexcept;

  Server& server_;
  Now now_;
  Batch batch_;
  uint64_t stale_cycles_;
  uint64_t memory_ceiling_ = 0;  // MemoryMeter::All at which a command that writes has to look for room
  uint64_t refreshed_at_ = 0;    // TSC
  uint64_t command_began_ = 0;
  // What was there when room was last made, or the limits where that was less. Of the bytes without big
  // arguments that arrive, for which nobody is called to account before they are there.
  struct {
    uint64_t bytes = 0;
    uint64_t keys = 0;
  } settled_;
  bool short_of_room_ = false;
  const TableRow* timed_row_ = nullptr;  // of the calls that ran since command_began_; null: none
  uint64_t timed_calls_ = 0;
};

}  // namespace mayfly
