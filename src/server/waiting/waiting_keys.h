// The clients that wait for a key: an index by key, also of absent keys.
//
// WaitingKeys listens to the change point while a client waits. A key that is created, renamed to or changed becomes
// *ready*, once, in the order of the changes. The server of the waiting clients takes the ready keys, and tests whether a
// key has something for the clients.
//
// Some clients also wait for the end of their keys (AwaitGone): the removal of a key makes the key ready for them.
//
// A swap of databases makes all awaited keys of both databases ready, and a flush those of its database, if somebody waits for
// the end of keys. There may be hundreds of thousands, so these keys come after the others, and only kSwappedAtOnce at once:
// further keys follow after the next Continue, once a turn.
//
// Ownership: a Wait belongs to the Parked that waits, and a Parked leaves before it is destroyed; WaitingKeys owns the names
// of keys. Loop thread only.
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

#include "cache/changes/change.h"
#include "server/waiting/key_place.h"

namespace mayfly {

struct Parked;
struct WaitedKey;

// One place in the line of one key.
struct Wait {
  WaitedKey* key = nullptr;
  Parked* parked = nullptr;
  Wait* next = nullptr;
  Wait* prev = nullptr;
};

// A place in a ring of keys, or the ring's head. A place in no ring is linked to itself.
struct WaitedKeyLinks {
  WaitedKeyLinks() = default;
  WaitedKeyLinks(const WaitedKeyLinks&) = delete;
  WaitedKeyLinks& operator=(const WaitedKeyLinks&) = delete;

  bool alone() const noexcept { return next == this; }

  WaitedKeyLinks* next = this;
  WaitedKeyLinks* prev = this;
};

// A key with waiting clients.
struct WaitedKey : WaitedKeyLinks {
  unsigned db = 0;
  std::string name;
  Wait* first = nullptr;  // by order of arrival (Parked::order)
  Wait* last = nullptr;
  Wait* gap = nullptr;  // after the place of the wait that left last: the wait may come back
  const Parked* enters = nullptr;
  bool ready = false;  // by a change of the key itself
  bool held = false;   // while its clients are served: the key is kept when the last client leaves
};

class WaitingKeys final : public ChangeListener {
 public:
  static constexpr unsigned kSwappedAtOnce = 1024;  // of 300,000 keys: another client waits 5 ms at most

  // Borrows all arguments. `name_bytes`: Stats::name_bytes.
  WaitingKeys(ChangeHub& changes, uint64_t& name_bytes, const Hasher& hasher);
  ~WaitingKeys() override;

  // Puts `parked` into the line of each key, by its order. Throws std::bad_alloc without a change.
  // REQUIRES: `parked` waits for nothing yet.
  void Enter(Parked& parked, unsigned db, std::span<const std::string_view> keys);
  // The removal of one of the keys makes the key ready, too, until Leave. REQUIRES: `parked` is in line.
  void AwaitGone(Parked& parked) noexcept;
  // Takes `parked` out of all lines. No effect if in no line.
  void Leave(Parked& parked) noexcept;
  size_t size() const noexcept { return keys_.size(); }

  // Lets the clients that wait for the key look at the key again, though unchanged. Returns false if no client waits.
  bool Announce(const KeyPlace& place) noexcept;
  // True if TakeReady would return a key.
  bool AnyReady() const noexcept {
    return !keys_.empty() && (!ready_.alone() || (AnySwapped() && swapped_left_ > 0));
  }
  // True if TakeReady would return a swapped key now or after Continue.
  bool AnySwapped() const noexcept { return !swapped_.alone(); }
  void Continue() noexcept { swapped_left_ = kSwappedAtOnce; }
  // Calls fn(key) for each awaited key. REQUIRES: fn adds and removes no wait.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (const auto& [place, key] : keys_) fn(static_cast<const WaitedKey&>(*key));
  }
  // The first wait for `key` after `order`; null if there is none. REQUIRES: `order` is 0, or the order of the wait that
  // left last.
  static const Wait* NextAfter(const WaitedKey& key, uint64_t order) noexcept;
  // Takes the next ready key, held until Release; null if there is none.
  WaitedKey* TakeReady() noexcept;
  void Release(WaitedKey& key) noexcept;

  void OnChange(const Change& change) override;

 private:
  // The values own the names of the keys.
  using Keys = std::unordered_map<KeyPlace, std::unique_ptr<WaitedKey>, KeyPlaceHash>;

  static uint64_t BytesOf(const WaitedKey& key) noexcept;
  WaitedKey& KeyOf(unsigned db, std::string_view name);
  void ForgetIfUnused(WaitedKey& key) noexcept;
  void MarkReady(WaitedKey& key) noexcept;
  void Listen();
  // The head of a database's keys that are neither ready nor held.
  WaitedKeyLinks& Idle(unsigned db) noexcept { return idle_[db]; }

  ChangeHub& changes_;
  size_t gone_awaited_ = 0;  // clients
  uint64_t& name_bytes_;
  Keys keys_;
  std::deque<WaitedKeyLinks> idle_;  // by database; heads do not move when the deque grows
  WaitedKeyLinks ready_;
  WaitedKeyLinks swapped_;
  unsigned swapped_left_ = kSwappedAtOnce;  // how many keys may be taken before Continue
};

}  // namespace mayfly
