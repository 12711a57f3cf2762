// Clients that wait: for a key, for a time, for an operator. Built once for everything that blocks.
//
// A pause holds requests back before they begin. They go on in the order in which they came, when the pause
// is taken back or Advance finds that its time is over.
//
// A request's arguments are views that die when its handler returns, so parking copies them. While a session
// is parked no further request of it runs. Waking puts it on a queue; the executor takes it from there at the
// end of the turn, never from inside whoever woke it, and runs the same command again with the reason. First
// parked is first woken where the waker goes by Order. Timeouts lie on a wheel of their own (ms, monotonic).
// Ownership: ParkingLot owns each Parked; a session that dies while it waits must be dropped with Leave.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/prefetch.h"
#include "cache/timing_wheel.h"
#include "server/session.h"

namespace mayfly {

enum class WakeReason : uint8_t {
  kNone,      // not woken: this is the request's first run
  kReady,     // what it waited for may be there
  kTimeout,   // its deadline has come
  kUnblocked  // an operator asked for it
};

// Whose requests CLIENT PAUSE holds back.
enum class PauseOf : uint8_t { kNobody, kWriters, kEverybody };

struct Parked {
  Session* session = nullptr;
  std::vector<std::string> arguments;
  uint64_t deadline_mono_ms = 0;  // kForever: no deadline
  uint64_t order = 0;             // rises with each Park
  WakeReason reason = WakeReason::kNone;
  bool paused = false;  // held back by a pause: its request has not begun

  size_t index = 0;  // in ParkingLot
  Parked* wheel_next = nullptr;
  Parked* wheel_prev = nullptr;
  uint16_t filed = 0;
};

struct ParkedWheelHooks {
  using Ref = Parked*;
  static constexpr Ref kNull = nullptr;
  Ref Next(Ref ref) const noexcept { return ref->wheel_next; }
  Ref Prev(Ref ref) const noexcept { return ref->wheel_prev; }
  void SetNext(Ref ref, Ref next) const noexcept { ref->wheel_next = next; }
  void SetPrev(Ref ref, Ref prev) const noexcept { ref->wheel_prev = prev; }
  uint64_t Deadline(Ref ref) const noexcept { return ref->deadline_mono_ms; }
  uint16_t Slot(Ref ref) const noexcept { return ref->filed; }
  void SetSlot(Ref ref, uint16_t slot) const noexcept { ref->filed = slot; }
  void Prefetch(Ref ref) const noexcept { PrefetchToRead(ref); }
};

class ParkingLot {
 public:
  static constexpr uint64_t kForever = UINT64_MAX;

  explicit ParkingLot(uint64_t now_mono_ms);
  ~ParkingLot();

  // Parks `session`, copying `arguments`. A session that was woken in vain and waits on passes the deadline
  // and the order that it had, so it keeps its place; 0 is a new order. REQUIRES: it is not parked.
  Parked& Park(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms,
               uint64_t order = 0);
  // Queues it to run again. No effect on one that is queued already.
  void Wake(Parked& parked, WakeReason reason);
  // Drops a session that goes away; no effect on one that is not parked.
  void Leave(Session& session) noexcept;

  // Holds back the requests of `whom` until then. A pause that is under way gets neither shorter nor milder.
  // REQUIRES: whom is not kNobody.
  void Pause(PauseOf whom, uint64_t until_mono_ms) noexcept;
  // Ends the pause; whom it held back runs on.
  void Unpause();
  PauseOf paused() const noexcept { return paused_; }
  // Parks a session whose request must not begin. REQUIRES: there is a pause; the session is not parked.
  void HoldBack(Session& session, std::span<const std::string_view> arguments);

  // Wakes those whose deadline has come.
  void Advance(uint64_t now_mono_ms);
  // When Advance has something to do, in monotonic ms; kForever where nobody has a deadline.
  uint64_t NextWake() const noexcept;

  // The next one to run again, no longer parked; null where none is queued. The caller owns it.
  std::unique_ptr<Parked> TakeWoken();
  size_t size() const noexcept { return parked_.size(); }

 private:
  std::unique_ptr<Parked> Release(Parked& parked) noexcept;

  std::vector<std::unique_ptr<Parked>> parked_;
  std::deque<Parked*> woken_;
  TimingWheel<ParkedWheelHooks> wheel_;
  uint64_t last_order_ = 0;
  PauseOf paused_ = PauseOf::kNobody;
  uint64_t paused_until_mono_ms_ = 0;
};

}  // namespace mayfly
