// The loop's work for time and memory: expiry, eviction and freeing in slices, with I/O between slices.
//
//   BeforePoll --- nothing to do now ---> one uv_timer, armed for the nearest deadline of all wheels
//        |
//        +---- work is left ----> an idle handle: the next poll does not wait; each turn the handle runs
//                                     a slice of all sliced work (server/sliced_work.h)
//
// The timer's delay is rounded up, so the timer is early by at most the difference of the clocks' phases. The timer is armed
// anew only when a nearer deadline was filed or when the timer fired. With expire-resolution-ms above 1 the timer waits for
// several keys' deadlines together.
//
// A slice is short if the clients of the turn were served quickly: each of their requests may have to wait for one. If they took
// longer, the slice does, too, so that busy clients leave the work its share. The timekeeper has three steps of sliced work: due keys, keys to be evicted, and flushed
// keys to be freed. Loop thread only.
#pragma once

#include <cassert>
#include <cstdint>

#include <uv.h>

#include "exec/memory/defragmenter.h"
#include "net/client/clients.h"
#include "net/client/turn.h"
#include "net/process/clock_watch.h"
#include "server/sliced_work.h"

namespace mayfly::net {

// The earliest multiple of `resolution_ms` at or after `deadline_ms`. REQUIRES: resolution_ms > 0.
constexpr uint64_t Coalesce(uint64_t deadline_ms, uint64_t resolution_ms) noexcept {
  assert(resolution_ms > 0);
  const uint64_t past = deadline_ms % resolution_ms;
  const uint64_t missing = past == 0 ? 0 : resolution_ms - past;
  return deadline_ms > UINT64_MAX - missing ? UINT64_MAX : deadline_ms + missing;
}

class Timekeeper {
 public:
  Timekeeper(uv_loop_t& loop, Server& server, Executor& executor, Turn& turn, Clients& clients);
  Timekeeper(const Timekeeper&) = delete;
  Timekeeper& operator=(const Timekeeper&) = delete;

  // Does the due work, for a turn that ends before libuv comes to its timers.
  void CatchUp();
  // BeforePoll would do nothing, in a turn that has only read from clients: their requests were quick reads, which need no
  // memory and move no time nearer.
  bool HasNothingNew() noexcept;
  // The end of a turn: arms the timer or the idle handle for the next wake.
  void BeforePoll();
  // The loop must run once more before this dies.
  void Close();

 private:
  static constexpr uint64_t kNever = UINT64_MAX;
  // The longest slice, in multiples of expire-slice-us.
  static constexpr uint64_t kMostSlice = 5;

  // Frees due keys.
  class Expiry final : public SlicedWork::Step {
   public:
    Expiry(Server& server, Executor& executor)
        : Step(server.sliced_work), server_(server), executor_(executor) {}

   private:
    bool DoSome(Now now, size_t budget) noexcept override;
    Server& server_;
    Executor& executor_;
  };
  // Evicts keys until the limits are kept.
  class Eviction final : public SlicedWork::Step {
   public:
    Eviction(Server& server, Executor& executor) : Step(server.sliced_work), executor_(executor) {}

   private:
    bool DoSome(Now now, size_t budget) noexcept override;
    Executor& executor_;
  };
  // Frees flushed keys and evicted big values, dropped records of the event log, and forgotten reads of clients (tracking).
  class Freeing final : public SlicedWork::Step {
   public:
    explicit Freeing(Server& server) : Step(server.sliced_work), server_(server) {}

   private:
    bool DoSome(Now now, size_t budget) noexcept override;
    Server& server_;
  };

  void OnTimer();
  void OnIdle();
  void RunSlice();
  // The length of a slice that begins now.
  uint64_t SliceCycles(uint64_t now) const noexcept;
  uint64_t NextWake();
  void Arm(uint64_t wake_mono_ms);

  Server& server_;
  Executor& executor_;
  Turn& turn_;
  Clients& clients_;
  Expiry expiry_;
  Eviction eviction_;
  Freeing freeing_;
  Defragmenter defragmenter_;
  ClockWatch clock_watch_;
  uv_timer_t timer_;
  uv_idle_t idle_;
  uint64_t armed_for_mono_ms_ = kNever;
  uint64_t keys_wake_mono_ms_ = kNever;
  bool keys_wake_known_ = false;
  bool steps_are_told_ = false;
  bool idling_ = false;
};

}  // namespace mayfly::net
