// Blocked clients: clients that wait for a key, a time or an operator. One mechanism for all blocking
// commands, and for CLIENT PAUSE.
//
// Parking. A request's arguments are views that are invalid after the handler, so parking copies the arguments. No further
// request of a parked session runs. The end of the wait decides when the executor runs the same command again, with the
// reason:
//   - a key of the wait is ready: before the next request of any client, in the order of arrival
//     (server/waiting/waiting_keys.h), so no other client takes the awaited element first; after SWAPDB some keys each turn
//   - the time limit, an operator, or the next event of the log (server/watch/event_log.h): at the end of the turn, from a
//     queue
// A request never runs again inside the waking call. The time limits are in a separate timing wheel, in monotonic ms.
//
// Pause. CLIENT PAUSE holds requests back before they begin. The requests continue in the order of their arrival, after
// Unpause or when OnWake finds the pause over.
//
// Postponement. A request that would hold up all other clients runs again from the start at a deadline, or when a pause
// ends. The client is not a blocked client.
//
// Work. A request may wait for something that it has begun itself, such as an answer of another server. The work belongs to
// the wait: whatever ends the wait, a gone client as well, ends the work, unless the request takes the work over when it runs
// again. The part with news for the request wakes it.
//
// Held keys. Requests that may change one of some keys wait until the keys are released (server/waiting/held_keys.h). Like a
// pause, for writers of these keys alone.
//
// Delay. A client with too many failed logins waits before its next login runs. No event ends this wait, only the deadline,
// and the client is not a blocked client.
//
// Ownership: ParkingLot owns each Parked. A parked session must leave by Leave before it is destroyed. Loop thread only.
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
#include "server/waiting/held_keys.h"
#include "server/waiting/waiting_keys.h"

namespace mayfly {

struct Hubs;
struct Session;
struct Stats;

enum class WakeReason : uint8_t {
  kNone,      // not woken: the first run of the request
  kReady,     // a value for the request may be available
  kTimeout,   // its deadline has passed
  kUnblocked  // by CLIENT UNBLOCK
};

// The clients whose requests CLIENT PAUSE holds back.
enum class PauseOf : uint8_t { kNobody, kWriters, kEverybody };

// What a waiting request has under way. Its destruction ends the work.
struct PendingWork {
  PendingWork() = default;
  PendingWork(const PendingWork&) = delete;
  PendingWork& operator=(const PendingWork&) = delete;
  virtual ~PendingWork() = default;
};

struct Parked {
  Session* session = nullptr;
  CopiedArguments arguments;
  uint64_t deadline_mono_ms = 0;  // kForever: no deadline
  uint64_t order = 0;             // rises with each Park: the place in a first come, first served order
  WakeReason reason = WakeReason::kNone;
  bool paused = false;              // held back by CLIENT PAUSE, or postponed: the request begins anew
  bool delayed = false;             // waits only for the deadline: see Delay
  std::vector<Wait> waits;          // one for each awaited key
  uint64_t waited_bytes = 0;        // of the waits and of the keys' names
  std::optional<ValueType> wanted;  // a key of another type does not wake the session
  bool even_absent = false;  // a ready key serves the request even if the key is absent, or of another type
  bool awaits_gone = false;  // WaitingKeys::AwaitGone
  // The end of the wait, if deadline_mono_ms is only a time to look again, with kReady as the reason. For the part that sets it.
  uint64_t end_mono_ms = 0;
  std::unique_ptr<PendingWork> work;  // mostly null

  size_t index = 0;              // in ParkingLot::parked_
  Parked* woken_next = nullptr;  // in the list of sessions to run again
  Parked* woken_prev = nullptr;
  Parked* reader_next = nullptr;  // in the list of sessions that wait for the next event of the log
  Parked* reader_prev = nullptr;
  bool reads_events = false;
  Parked* wheel_next = nullptr;
  Parked* wheel_prev = nullptr;
  uint16_t filed = 0;
};

using ParkedWheelHooks = PointerWheelHooks<Parked, &Parked::deadline_mono_ms>;

class ParkingLot final : private Alarms::Alarm, private ClientEnds::Listener {
 public:
  static constexpr uint64_t kForever = UINT64_MAX;

  // Borrows all arguments but the time.
  ParkingLot(Hubs& hubs, ChangeHub& changes, Stats& stats, const Hasher& hasher, uint64_t now_mono_ms);
  ~ParkingLot();

  // Parks `session` until one of `keys` of its database is ready, and copies `arguments`. A session that was woken in vain
  // passes its old deadline and order to keep its place. An order of 0 assigns the next order. A key of another type than
  // `wanted` does not wake the session. Throws std::bad_alloc without a change.
  // REQUIRES: the session is not parked.
  Parked& Park(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms,
               uint64_t order = 0, std::span<const std::string_view> keys = {},
               std::optional<ValueType> wanted = std::nullopt);
  // Parks `session` until its work wakes it. Moves from `arguments` and `work` only on success. Throws std::bad_alloc.
  // REQUIRES: the session is not parked.
  Parked& Await(Session& session, CopiedArguments& arguments, uint64_t deadline_mono_ms,
                std::unique_ptr<PendingWork>& work);
  // Like Park, for a client that is not blocked but has to wait until the deadline.
  Parked& Delay(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms,
                uint64_t order = 0);
  // Queues the session to run again. No effect if the session is queued already. Takes no memory, so a timer may call Wake.
  void Wake(Parked& parked, WakeReason reason) noexcept;
  // Parks a session whose request runs again from the start at the deadline, or when a pause ends.
  // Throws std::bad_alloc, and changes nothing then. REQUIRES: the session is not parked.
  void Postpone(Session& session, std::span<const std::string_view> arguments, uint64_t deadline_mono_ms) {
    Park(session, arguments, deadline_mono_ms).paused = true;
  }
  // Null: every client counts as connected. Borrowed.
  void AskPresence(const Presence* presence) noexcept { presence_ = presence; }
  // True if the client is still connected. Called before the client's request runs again: an element taken for a gone client
  // would be lost.
  bool IsThere(const Session& session) const noexcept {
    return presence_ == nullptr || presence_->IsThere(session);
  }
  // The removal of an awaited key wakes the session, too, and so does a value of another type.
  void AwaitGone(Parked& parked) noexcept {
    parked.even_absent = true;
    keys_.AwaitGone(parked);
  }
  // The next event of the log wakes the session, too.
  void AwaitEvent(Parked& parked) noexcept;
  bool AnyEventReader() const noexcept { return reader_first_ != nullptr; }
  // Wakes the sessions that wait for an event, in the order of arrival. Takes no memory.
  void WakeEventReaders() noexcept;
  // Forgets a session. No effect if the session is not parked.
  void Leave(Session& session) noexcept;

  // Holds back the requests of `whom` until `until_mono_ms`. A running pause can only be extended, in time and in scope.
  // REQUIRES: whom is not kNobody.
  void Pause(PauseOf whom, uint64_t until_mono_ms) noexcept;
  // Ends the pause. The held-back requests run at the end of the turn.
  void Unpause() noexcept;
  // Holds the requests of writers back until HoldWriters(false), whatever Pause and Unpause say.
  void HoldWriters(bool hold) noexcept;
  // Whose requests are held back now, for either reason.
  PauseOf paused() const noexcept {
    return std::max(paused_, holds_writers_ ? PauseOf::kWriters : PauseOf::kNobody);
  }
  // Parks a session whose request must not begin.
  // REQUIRES: HoldsBack(); the session is not parked.
  void HoldBack(Session& session, std::span<const std::string_view> arguments);

  // True if requests of some clients are held back now.
  bool HoldsBack() const noexcept { return paused() != PauseOf::kNobody || held_.any(); }
  const HeldKeys& held() const noexcept { return held_; }
  // From now on requests that may change this key do not begin. Throws std::bad_alloc.
  void HoldKey(unsigned db, std::string_view key) { held_.Hold(db, key); }
  // Ends one HoldKey. The held-back requests run at the end of the turn.
  void ReleaseKey(unsigned db, std::string_view key) noexcept;

  // The time of the next deadline of a session, or of the end of a pause.
  uint64_t NextWake() const noexcept override;

  // True if an awaited key is ready.
  bool AnyReady() const noexcept { return keys_.AnyReady(); }
  WaitingKeys& keys() noexcept { return keys_; }
  // Passes a waiting session to the caller, no longer parked, with `reason` unless the session was woken before.
  std::unique_ptr<Parked> Take(Parked& parked, WakeReason reason) noexcept;
  // True if TakeWoken would return a session.
  bool AnyWoken() const noexcept { return woken_first_ != nullptr; }
  // Removes the next woken session and passes it to the caller, no longer parked; null if there is none.
  std::unique_ptr<Parked> TakeWoken() noexcept;
  size_t size() const noexcept { return parked_.size(); }
  // The sessions that are blocked or held back, but not delayed.
  size_t blocked() const noexcept { return parked_.size() - delayed_; }

 private:
  // Wakes the sessions with a passed deadline, and ends a pause whose time is over.
  void OnWake(Now now, Log* log) noexcept override;
  void OnClientEnd(Session& session) noexcept override { Leave(session); }
  void LeaveReaders(Parked& parked) noexcept;
  // Queues the requests that were held back to run from the start, in the order of their arrival.
  void WakeHeldBack() noexcept;
  // Files a new Parked whose fields are set. REQUIRES: parked_ has room.
  Parked& File(std::unique_ptr<Parked> parked) noexcept;
  void MakeRoom();
  // Removes `parked` from all lists; the caller owns the result.
  std::unique_ptr<Parked> Release(Parked& parked) noexcept;

  WaitingKeys keys_;
  HeldKeys held_;
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
  bool holds_writers_ = false;
  const Presence* presence_ = nullptr;
};

}  // namespace mayfly
