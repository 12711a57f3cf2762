// The executor runs the requests of clients, a Batch at a time: bytes in, replies out.
//
//   feeds --Batch: parse, hash, prefetch--> planned requests --arity, memory--> handler --> timing
//                                                |
//                                                +-- of a client with modes --> one by one: refusals, pause, ...
//
// A request that finds no memory gets an error. If there is no memory for the error either, the executor closes the client. A
// client whose reply becomes longer than its output may be is closed, too: OutputTooLong ends the handler. In each of these
// cases the command had its whole effect, or none.
//
// Consecutive calls of one O(1) command are timed together. A protocol error is answered after the replies of the earlier
// requests. After each request, blocked clients whose keys became ready run. The clock is read at the start of a turn
// (RefreshNow, by the loop), and again after a command that ends more than kOldClockUs later. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "exec/call/call.h"
#include "exec/call/call_timer.h"
#include "exec/call/in_flight.h"
#include "exec/dispatch/batch.h"
#include "exec/dispatch/context.h"
#include "exec/memory/memory_gate.h"
#include "exec/observe/call_observers.h"
#include "exec/observe/monitors.h"
#include "exec/observe/slow_calls.h"
#include "server/clients/output_pool.h"
#include "server/clients/sessions.h"
#include "server/figures/hot_keys.h"
#include "server/server.h"
#include "server/waiting/parking.h"

namespace mayfly {

class Executor final : public InFlight, private ClientEnds::Listener {
 public:
  static constexpr uint64_t kOldClockUs = 200;

  // The server's options may change as long as this lives, and not after.
  explicit Executor(Server& server);
  // From now on the server is a part of this cluster, which must outlive this. REQUIRES: no request has run.
  void Join(Cluster& cluster);

  // Runs the complete requests at the front of each feed's input, appends their replies to the session's
  // output, and sets what each feed has consumed. What is left is incomplete, or must wait because the session
  // was parked or will be closed. In state kNoRoom there was no memory to parse the feed. A session for whose
  // reply there is no memory will be closed, so neither this nor RunWoken throws. Marks sessions dirty that
  // have something to write or will be closed.
  void Run(std::span<Feed> feeds);

  // Makes one call, which may be nested in another: looks whether it is refused, runs its handler, times and
  // counts it. The reply, an error included, goes to call.reply. Neither the session's modes nor its state as a
  // client matter, but for login and permissions. Throws std::bad_alloc if there is no memory for the reply; what
  // is in call.reply then is of no use.
  Outcome MakeCall(const Call& call);
  // The row of a call; null if the command is unknown.
  // REQUIRES: arguments is not empty.
  const TableRow* RowOf(std::span<const std::string_view> arguments) const noexcept {
    return server_.commands.FindCall(arguments);
  }

  // Runs the requests of the clients that were woken since the last call, by a time or an operator. Calls
  // `freed` with each session that is no longer parked, also those that were served between requests, since more
  // of its input may be waiting.
  template <typename Freed>
  void RunWoken(Freed&& freed) {
    server_.parking.keys().Continue();
    if (server_.parking.AnyReady() && !server_.Busy())
      ServeReady();  // a suspended script may have made keys ready
    for (;;) {
      if (Session* const session = server_.sessions.TakeResumed()) {
        freed(*session);
        continue;
      }
      // While a script is busy, who is woken would be refused.
      const std::unique_ptr<Parked> woken = server_.Busy() ? nullptr : server_.parking.TakeWoken();
      if (woken == nullptr) return;
      Wake(*woken);
      if (server_.parking.AnyReady()) ServeReady();
    }
  }

  // Before the replies of a turn are written.
  void EndTurn() noexcept;
  // All that has run since the last call were requests that read, take constant time, and of which nobody hears: whatever they
  // change by the way, such as the order of keys, nobody has to look at.
  bool TakeOnlyQuickReads() noexcept { return std::exchange(only_quick_reads_, true); }

  // This server follows a master now, or does not any more: other limits count.
  void FollowRole() noexcept { gate_.FollowRole(); }
  // See MemoryGate.
  bool RefusesWrites() const noexcept { return gate_.RefusesWrites(); }
  // Evicts at most `budget` entries while a limit is exceeded; true if more must go.
  bool EvictSome(size_t budget) { return !server_.Busy() && gate_.EvictSome(budget, now_); }
  bool short_of_room() const noexcept { return gate_.short_of_room(); }
  // Whether there is memory for a call that needs some, after the evictions that it takes.
  bool MakeRoom(Now now) { return gate_.MakeRoom(/*only_if_room=*/true, now); }

  // Reads the clock.
  Now RefreshNow() noexcept;
  Now now() const noexcept { return now_; }
  // The limits on what all clients hold, as the options have them now.
  const OutputPool& output_pool() const noexcept { return output_pool_; }
  // How long a reply may be: what a client that has logged in may hold of unread output.
  size_t most_reply() const noexcept { return server_.sessions.output_limits.most; }
  const RunningCall* InnermostCall() const noexcept override { return running_; }
  Begun LastRequest() const noexcept override { return batch_.LastBegun(); }
  CallObservers& observers() noexcept { return observers_; }
  Monitors& monitors() noexcept { return monitors_; }
  HotKeys& hot_keys() noexcept { return hot_keys_; }

 private:
  void OnClientEnd(Session& session) noexcept override;
  void RunPlanned();
  // Counts the first key of a request for HOTKEYS.
  void CountKey(const Planned& request) noexcept;
  // Counts a call that has run, together with the calls before it or alone.
  void CountRun(CallTimer& timer, const TableRow& row, const Planned& planned) noexcept;
  // Runs one request of a client that has a mode, or while the server has one. `resumed`: it has waited.
  void RunWithModes(Session& session, Args& args, const TableRow* row, FirstKey first_key, Parked* resumed);
  // True if a request of a client with modes, or during a mode of the server, may go the plain way.
  bool RunsPlainly(const Planned& planned, uint32_t modes,
                   std::span<const std::string_view> call) const noexcept;
  // The modes of the server.
  uint32_t ModesOfAll() const noexcept;
  // Does what the options say, now and whenever CONFIG SET changes them.
  void FollowOptions();
  void TrackLatency(const config::Settings& settings) noexcept;
  // Makes what counts as slow what the options say.
  void LookForSlowCalls() noexcept;
  // Makes the limits of requests, replies and tracking what the options say.
  void SetLimits(const config::Settings& settings) noexcept;
  void AnswerBroken(Feed& feed) noexcept;
  void MarkIfDirty(Session& session) noexcept;
  // Runs the blocked clients whose keys became ready, in their order.
  void ServeReady() noexcept;
  void Wake(Parked& parked) noexcept;

  // Runs the handler, and counts its errors. Returns their number.
  uint64_t Execute(Context& context, Args& args);
  // Execute, in the way that CLIENT NO-TOUCH wants.
  uint64_t ExecuteInMode(Context& context, Args& args);
  // kQuickRead: a row that needs nothing around its handler. kPlain: the client has no modes.
  enum class Way : uint8_t { kQuickRead, kPlain, kWithModes };
  // Execute, with whatever every call needs around its handler: all calls run through here. A new invariant of calls belongs
  // here.
  template <Way kWay>
  uint64_t Carry(Context& context, Args& args);
  // Carry, timed on its own and reported to observers. `resumed`: it was counted before.
  uint64_t Perform(const Call& call, Args& args, FirstKey first_key, Parked* resumed);
  uint64_t Refuse(Refusal why, Session& session, resp::Writer& reply, Origin origin, const Args& args,
                  const TableRow* row);
  void RefuseClient(Refusal why, Session& session, const Args& args, const TableRow* row) noexcept;
  void QueueRequest(Session& session, const Args& args, const TableRow& row) noexcept;
  // Lets write() answer the client without a handler.
  template <typename Write>
  void Answer(Session& session, Write&& write) noexcept;
  void AnswerFailure(std::string_view error, Session& session, resp::Writer& reply, Origin origin,
                     const char* end_before);
  void EndTooLong(Session& session, Origin origin);
  void Postpone(const Context& context, const Args& args) noexcept;
  void CloseForMemory(Session& session) noexcept;
  // Counts the error replies that `reply` has written and that were not counted yet, by an inner call. Returns
  // their number.
  uint64_t CountErrors(resp::Writer& reply) noexcept;
  // Records what `timer` has counted: calls of the batch's requests just before `end`.
  [[gnu::always_inline]] void Record(CallTimer& timer, const Planned* end) noexcept {
    const CallTimer::Group group = timer.Record();
    if (group.ended - refreshed_at_ >= late_cycles_) [[unlikely]]
      RecordLate(group.row, group.calls, group.cycles, group.ended, end);
  }
  // The calls took long, or the clock was read long ago.
  void RecordLate(const TableRow* row, uint64_t calls, uint64_t cycles, uint64_t ended,
                  const Planned* end) noexcept;
  // The arguments of a request of the batch.
  std::span<const std::string_view> ArgumentsOf(const Planned& request) const noexcept;

  Server& server_;
  Now now_;
  Batch batch_;
  Batch::Limits batch_limits_;
  OutputPool output_pool_;
  MemoryGate gate_;
  CallObservers observers_;
  Monitors monitors_;
  SlowCalls slow_calls_;
  HotKeys hot_keys_;
  const RunningCall* running_ = nullptr;
  bool only_quick_reads_ = true;
  bool track_latency_ = false;
  uint64_t old_clock_cycles_;
  uint64_t late_cycles_ = 0;   // so long after refreshed_at_ the clock is stale, or a call may have been slow
  uint64_t refreshed_at_ = 0;  // TSC
};

}  // namespace mayfly
