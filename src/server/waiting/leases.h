// Leases of TAKE: one client computes the value of a missing key, other clients wait.
//
//   Grant --> held --+--> the key is written, deleted or flushed -> the end: waiting clients look at the key again
//                    +--> its time; its owner leaves -------------> likewise: the first waiting client gets a lease
//                    +--> Revoke ------------------------------------> likewise
//                    +--> Release -----> released ----------------> waiting clients are answered: nothing came
//                    '--> Fail --------> failed ---> its time ----> waiting clients are answered with the error, and so are
//                                                                   clients that ask before that time
//
// A lease is known by its token, not by a connection: clients lend connections to each other. Expiry or eviction of the
// key's old value does not end the lease. WaitingKeys knows the waiting clients, and the executor serves ready keys before
// the next request of any client. A client that asked for a push instead gets its message at the end of the turn.
//
// Leases listens to the change point while there are leases. The times are in a separate timing wheel, in monotonic ms.
// Invariant: a key has at most one lease. Owns the leases. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/changes/change.h"
#include "cache/time/pointer_wheel_hooks.h"
#include "cache/time/timing_wheel.h"
#include "cache/time/wheel_geometry.h"
#include "server/hubs/accounts.h"
#include "server/hubs/alarms.h"
#include "server/hubs/client_ends.h"
#include "server/waiting/invalidations.h"
#include "server/waiting/key_place.h"
#include "server/waiting/waiting_keys.h"

namespace mayfly {

struct Lease {
  enum class State : uint8_t {
    kHeld,
    kReleased,  // until the waiting clients were answered
    kFailed     // until its time
  };

  unsigned db = 0;
  std::string name;
  uint64_t token = 0;
  uint64_t owner = 0;  // Session::id
  uint64_t until_mono_ms = 0;
  uint64_t invalidations = 0;  // Invalidations::count when the lease was given
  State state = State::kHeld;
  std::string message = {};         // of a failure
  std::vector<uint64_t> told = {};  // ids of the sessions to be told of the end by a push

  Lease* owned_next = nullptr;  // of the same owner
  Lease* owned_prev = nullptr;
  Lease* ended_next = nullptr;
  Lease* wheel_next = nullptr;
  Lease* wheel_prev = nullptr;
  uint16_t filed = wheel::kUnfiled;
};

using LeaseWheelHooks = PointerWheelHooks<Lease, &Lease::until_mono_ms>;

class Leases final : public ChangeListener, private Alarms::Alarm, private ClientEnds::Listener {
 public:
  // Enough for 50,000 leases of keys of usual length. More leases mean clients that ask and never compute a value.
  static constexpr size_t kMostBytes = size_t{16} << 20;
  // One client leaves room for the others. A program's connection shared by many threads may hold 13,000 leases.
  static constexpr size_t kMostBytesOfOwner = kMostBytes / 4;
  // Likewise for remembered failures.
  static constexpr size_t kMostBytesOfFailures = kMostBytes / 4;

  // Borrows all arguments.
  Leases(Alarms& alarms, Accounts& accounts, ClientEnds& ends, ChangeHub& changes, WaitingKeys& waiting,
         const Hasher& hasher, std::mt19937_64& random, uint64_t now_mono_ms);
  ~Leases() override;

  // The lease of the key, in any state; null if there is none.
  const Lease* Find(unsigned db, std::string_view key) const noexcept;
  // The lease with this token if it is held, or null.
  const Lease* Held(unsigned db, std::string_view key, uint64_t token) const noexcept;
  Invalidations& invalidations() noexcept { return invalidations_; }
  enum class Room : uint8_t { kYes, kOwnerHasTooMany, kFull };
  // Tests the room for a lease of this key for this owner.
  Room RoomFor(uint64_t owner, std::string_view key) const noexcept;
  // Gives `owner` the lease of the key and returns the lease. Throws std::bad_alloc without a change. REQUIRES: no client
  // holds a lease of the key.
  const Lease& Grant(uint64_t owner, unsigned db, std::string_view key, uint64_t until_mono_ms);
  // Takes the lease back: waiting clients look at the key again. REQUIRES: the lease is held.
  void Revoke(const Lease& lease) noexcept;
  // REQUIRES: the lease is held.
  void Release(const Lease& lease, uint64_t now_mono_ms) noexcept;
  // `message` is the answer until `until_mono_ms`, and at least until the waiting clients have been answered; with too many
  // remembered failures, only the waiting clients get the message. Throws std::bad_alloc without a change. REQUIRES: the
  // lease is held.
  void Fail(const Lease& lease, std::string_view message, uint64_t until_mono_ms);
  // The session will be told when the lease ends. Throws std::bad_alloc. REQUIRES: the lease is held.
  void TellEnd(const Lease& lease, uint64_t session);
  // Ends the leases for which ends(database, name) returns true. REQUIRES: `ends` changes no lease.
  template <typename Fn>
  void EndIf(Fn&& ends) {
    for (auto at = leases_.begin(); at != leases_.end();) {
      const auto next = std::next(at);
      if (ends(at->first.db, at->first.name)) End(at);
      at = next;
    }
  }
  // Ends the leases of a database's keys.
  void EndAllOf(unsigned db) noexcept;
  // Returns the oldest ended lease with sessions to be told; null if there is none.
  std::unique_ptr<Lease> TakeEnded() noexcept;
  // True if there is a lease, or was a lease since the last EndTurn.
  bool any() const noexcept { return hears_; }
  // Called at the end of a turn, after TakeEnded: stops listening if there is no lease.
  void EndTurn() noexcept {
    account_bytes_ = bytes();
    if (hears_ && leases_.empty()) [[unlikely]]
      Hear(false);
  }

  // The number of leases held, or failed and remembered.
  size_t size() const noexcept { return leases_.size(); }
  // The approximate memory of all leases.
  size_t bytes() const noexcept { return bytes_; }

  void OnChange(const Change& change) override;
  [[nodiscard]] bool Validate() const;

 private:
  uint64_t NextWake() const noexcept override { return wheel_.NextWake(); }
  // Ends the leases whose time has come.
  void OnWake(Now now, Log* log) noexcept override;
  void OnClientEnd(Session& session) noexcept override;
  // With the nodes of both maps and a share of the buckets.
  static constexpr size_t BytesOf(size_t text) noexcept { return sizeof(Lease) + 128 + text; }

  // The leases of one owner.
  struct Holding {
    Lease* first = nullptr;
    size_t bytes = 0;
  };
  using Map = std::unordered_map<KeyPlace, std::unique_ptr<Lease>, KeyPlaceHash>;

  Lease& Mutable(const Lease& lease) noexcept;
  Lease& Add(unsigned db, std::string_view key);
  void File(Lease& lease, uint64_t until_mono_ms) noexcept;
  void AddHolder(Lease& lease, Holding& holding) noexcept;
  void RemoveHolder(Lease& lease) noexcept;
  // The lease fails no longer; the caller changes the state next.
  void ForgetFailure(Lease& lease) noexcept;
  // Ends the lease: all clients waiting for the key look at the key again.
  void End(Map::iterator at) noexcept;
  void Forget(Map::iterator at) noexcept;
  // Answers the waiting clients by the lease's state. The state stays until `until_mono_ms`; without `remember` and without
  // waiting clients the lease is forgotten.
  void KeepOrForget(Lease& lease, uint64_t until_mono_ms, bool remember) noexcept;
  void AddEnded(std::unique_ptr<Lease> lease) noexcept;
  void Hear(bool on) noexcept;

  ChangeHub& changes_;
  WaitingKeys& waiting_;
  std::mt19937_64& random_;
  Invalidations invalidations_;
  TimingWheel<LeaseWheelHooks> wheel_;
  // The values own the names of the keys.
  Map leases_;
  std::unordered_map<uint64_t, Holding> owned_;
  std::unique_ptr<Lease> ended_first_;
  Lease* ended_last_ = nullptr;
  size_t bytes_ = 0;
  size_t failed_bytes_ = 0;  // the failed leases' part of bytes_
  bool hears_ = false;
  uint64_t account_bytes_ = 0;  // bytes(), at the end of the last turn
  Accounts::Account account_;
};

}  // namespace mayfly
