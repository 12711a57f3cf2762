// Blocked clients: clients that wait for a key, a time or an operator. One mechanism for all blocking
// commands, and for CLIENT PAUSE.
//
// Parking. A request's arguments are views that are invalid after its handler, so parking copies them. No
// further request of a parked session runs. What ends the wait decides when the executor runs the same command
// again, with the reason:
//   - a key that it waits for is there: before the next request of anybody, in the order in which they came
//     (server/waiting/waiting_keys.h), so that nobody takes first what a waiter has waited for; after SWAPDB some each turn
//   - its time limit, an operator, or the next event of the log (server/watch/event_log.h): at the end of the turn, from a
//     queue
// Never inside the call that woke it. The time limits are in a timing wheel of their own, in monotonic ms.
//
// Pause. CLIENT PAUSE holds requests back before they begin. They continue in the order of their arrival,
// after Unpause or when Advance finds that the pause is over.
//
// Delay. A client that has failed to log in too often waits before its next login runs. No event ends that
// wait, only its deadline, and it is not a blocked client.
//
// Ownership: ParkingLot owns each Parked. A session that is destroyed while it is parked must be removed by
// Leave first. Loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/entry/rich_value.h"
#include "cache/time/pointer_wheel_hooks.h"
#include "cache/time/timing_wheel.h"
#include "server/clients/copied_arguments.h"
#include "server/clients/presence.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "server/waiting/waiting_keys.h"

namespace mayfly {

struct Hubs;
struct Session;
struct Stats;

enum class WakeReason : uint8_t {
  kNone,      // not woken: the first run of the request
  kReady,     // what it waits for may be available
  kTimeout,   // its deadline has passed
  kUnblocked  // by CLIENT UNBLOCK
};

// Whose requests CLIENT PAUSE holds back.
enum class PauseOf : uint8_t { kNobody, kWriters, kEverybody };

struct Parked {
  Session* session = nullptr;
  CopiedArguments arguments;
  uint64_t deadline_mono_ms = 0;  // kForever: no deadline
  uint64_t order = 0;             // rises with each Park: the place in a first come, first served order
  WakeReason reason = WakeReason::kNone;
  bool paused = false;              // held back by CLIENT PAUSE: its request has not begun
  bool delayed = false;             // waits for its deadline and for nothing else: see Delay
  std::vector<Wait> waits;          // one for each key that it waits for
  uint64_t waited_bytes = 0;        // of these and of the keys' names
  std::optional<ValueType> wanted;  // a key of another type does not wake it
  bool even_absent = false;         // it is served when its key is ready, though there is none

  size_t index = 0;              // in ParkingLot::parked_
  Parked* woken_next = nullptr;  // among those to run again
  Parked* woken_prev = nullptr;
  Parked* reader_next = nullptr;  // among those who wait for the next event of the log
  Parked* reader_prev = nullptr;
  bool reads_events = false;
  Parked* wheel_next = nullptr;
  Parked* wheel_prev = nullptr;
  uint16_t filed = 0;
};

using ParkedWheelHooks = PointerWheelHooks<Parked, &Parked::deadline_mono_ms>;

class ParkingLot final : private Alarms::Alarm, private ClientEnds::Ear {
 public:
  static constexpr uint64_t kForever = UINT64_MAX;

  // Borrows all but the time.
  ParkingLot(Hubs& hubs, ChangeHub& changes, Stats& stats, const Hasher& hasher, uint64_t now_mono_ms);
  ~ParkingLot();

  // Parks `session`, which waits for `keys` of its database, and copies `arguments`. A session that was woken in
  // vain passes its old deadline and order, so that it keeps its place. An order of 0 assigns the next one. A key of
  // another type than `wanted` does not wake it.
  // Throws std::bad_alloc, and changes nothing then.
  // REQUIRES: the session is not parked.
  Parked& Park(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms,
               uint64_t order = 0, std::span<const std::string_view> keys = {},
               std::optional<ValueType> wanted = std::nullopt);
  // As Park, for a client that is not blocked but has to wait until the deadline.
  Parked& Delay(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms,
                uint64_t order = 0);
  // Queues the session to run again. No effect if it is queued already. Takes no memory, so that a timer may
  // call it.
  void Wake(Parked& parked, WakeReason reason) noexcept;
  // Null: every client counts as connected. Borrowed.
  void AskPresence(const Presence* presence) noexcept { presence_ = presence; }
  // Whether the client is still connected. To be called before its request runs again: what it takes would be lost.
  bool IsThere(const Session& session) const noexcept {
    return presence_ == nullptr || presence_->IsThere(session);
  }
  // From now on the next event of the log wakes the session, too.
  void AwaitEvent(Parked& parked) noexcept;
  bool AnyEventReader() const noexcept { return reader_first_ != nullptr; }
  // Wakes those who wait for an event, in the order in which they came. Takes no memory.
  void WakeEventReaders() noexcept;
  // Forgets a session. No effect if it is not parked.
  void Leave(Session& session) noexcept;

  // Holds back the requests of `whom` until `until_mono_ms`. During a pause it can only be extended, in time
  // and in scope.
  // REQUIRES: whom is not kNobody.
  void Pause(PauseOf whom, uint64_t until_mono_ms) noexcept;
  // Ends the pause. The requests that it held back run at the end of the turn.
  void Unpause() noexcept;
  PauseOf paused() const noexcept { return paused_; }
  // Parks a session whose request must not begin.
  // REQUIRES: paused() is not kNobody; the session is not parked.
  void HoldBack(Session& session, std::span<const std::string_view> arguments);

  // When a session's deadline comes, or a pause is over.
  uint64_t NextWake() const noexcept override;

  // Whether a key that somebody waits for is there.
  bool AnyReady() const noexcept { return keys_.AnyReady(); }
  WaitingKeys& keys() noexcept { return keys_; }
  // Passes a session that waits to the caller, no longer parked, with `reason` unless it was woken before.
  std::unique_ptr<Parked> Take(Parked& parked, WakeReason reason) noexcept;
  // Whether TakeWoken has one.
  bool AnyWoken() const noexcept { return woken_first_ != nullptr; }
  // Removes the next woken session and passes it to the caller, no longer parked; null if there is none.
  std::unique_ptr<Parked> TakeWoken() noexcept;
  size_t size() const noexcept { return parked_.size(); }
  // Those that are blocked or held back, but not delayed.
  size_t blocked() const noexcept { return parked_.size() - delayed_; }

 private:
  // Wakes the sessions whose deadline has passed, and ends a pause that is over.
  void OnWake(Now now, Log* log) noexcept override;
  void OnClientEnd(Session& session) noexcept override { Leave(session); }
  void LeaveReaders(Parked& parked) noexcept;
  // No longer parked and on no list; the caller owns it.
  std::unique_ptr<Parked> Release(Parked& parked) noexcept;

  WaitingKeys keys_;
  std::vector<std::unique_ptr<Parked>> parked_;
  Parked* woken_first_ = nullptr;
  Parked* woken_last_ = nullptr;
  Parked* reader_first_ = nullptr;
  Parked* reader_last_ = nullptr;
  TimingWheel<ParkedWheelHooks> wheel_;
  size_t delayed_ = 0;  // of parked_
  uint64_t last_order_ = 0;
  PauseOf paused_ = PauseOf::kNobody;
  uint64_t paused_until_mono_ms_ = 0;
  const Presence* presence_ = nullptr;
};

}  // namespace mayfly
