// The clients that wait for a key: an index by key, also of absent keys.
//
// It listens to the change point while somebody waits. A key that is created, comes under another name or changes its
// value is *ready*, once, in the order of these events. Whoever serves the waiters takes the ready keys, and looks
// whether there is something for them.
//
// A swap of databases makes all keys ready that somebody waits for there. They may be hundreds of thousands, so they
// come after the others, and only kSwappedAtOnce at once: more of them after the next GoOn, once a turn.
//
// Ownership: a Wait belongs to the Parked that waits, which leaves before it is destroyed; names of keys belong to this.
// Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cache/keyspace/change.h"
#include "server/waiting/key_place.h"

namespace mayfly {

struct Parked;
struct Stats;
struct WaitedKey;

// One place in the line of one key.
struct Wait {
  WaitedKey* key = nullptr;
  Parked* parked = nullptr;
  Wait* next = nullptr;
  Wait* prev = nullptr;
};

// A place in a ring of keys, or its head. Of itself alone if it is in none.
struct WaitedKeyLinks {
  WaitedKeyLinks() = default;
  WaitedKeyLinks(const WaitedKeyLinks&) = delete;
  WaitedKeyLinks& operator=(const WaitedKeyLinks&) = delete;

  bool alone() const noexcept { return next == this; }

  WaitedKeyLinks* next = this;
  WaitedKeyLinks* prev = this;
};

// A key that somebody waits for.
struct WaitedKey : WaitedKeyLinks {
  unsigned db = 0;
  std::string name;
  Wait* first = nullptr;  // by the order in which they came (Parked::order)
  Wait* last = nullptr;
  Wait* gap = nullptr;  // behind the place of the one that left last: it may come back
  const Parked* enters = nullptr;
  bool ready = false;  // by an event of its own
  bool held = false;   // somebody serves its waiters: it is not forgotten when the last one leaves
};

class WaitingKeys final : public ChangeListener {
 public:
  static constexpr unsigned kSwappedAtOnce = 1024;  // with 300,000 in all another client waits 5 ms at most

  // Borrows `changes`, and `stats` for their name_bytes.
  WaitingKeys(ChangeHub& changes, Stats& stats, const Hasher& hasher);
  ~WaitingKeys() override;

  // Puts `parked` into the line of each key, by its order. Throws std::bad_alloc, and changes nothing then.
  // REQUIRES: `parked` waits for nothing yet.
  void Enter(Parked& parked, unsigned db, std::span<const std::string_view> keys);
  // Takes it out of all lines. No effect if it is in none.
  void Leave(Parked& parked) noexcept;
  size_t size() const noexcept { return keys_.size(); }

  // Lets those who wait for the key look at it again, though it has not changed. False if nobody waits.
  bool Announce(const KeyPlace& place) noexcept;
  // Whether TakeReady has one.
  bool AnyReady() const noexcept { return !ready_.alone() || (AnySwapped() && swapped_left_ > 0); }
  // Whether it has one now or after GoOn.
  bool AnySwapped() const noexcept { return !swapped_.alone(); }
  void GoOn() noexcept { swapped_left_ = kSwappedAtOnce; }
  // Calls fn(key) for each key that somebody waits for. REQUIRES: fn lets nobody come or leave.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (const auto& [place, key] : keys_) fn(static_cast<const WaitedKey&>(*key));
  }
  // The first that waits for `key` and came after `order`, if `order` is 0 or that of the one that left last; null if
  // there is none.
  static const Wait* NextAfter(const WaitedKey& key, uint64_t order) noexcept;
  // The key that is to be served next, held until Release; null if there is none.
  WaitedKey* TakeReady() noexcept;
  void Release(WaitedKey& key) noexcept;

  void OnChange(const Change& change) override;

 private:
  // The names are those of the values.
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<WaitedKey>, KeyPlaceHash>;

  static uint64_t BytesOf(const WaitedKey& key) noexcept;
  WaitedKey& KeyOf(unsigned db, std::string_view name);
  void ForgetIfUnused(WaitedKey& key) noexcept;
  void MarkReady(WaitedKey& key) noexcept;
  // The head of the keys of a database that are neither ready nor held.
  WaitedKeyLinks& Idle(unsigned db) noexcept { return idle_[db]; }

  ChangeHub& changes_;
  uint64_t& name_bytes_;
  Keys keys_;
  std::deque<WaitedKeyLinks> idle_;  // by database; heads do not move when it grows
  WaitedKeyLinks ready_;
  WaitedKeyLinks swapped_;
  unsigned swapped_left_ = kSwappedAtOnce;  // that may be taken before GoOn
};

}  // namespace mayfly
