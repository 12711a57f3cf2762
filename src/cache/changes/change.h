// The change point: listeners hear here of every creation, change and removal of a key. A listener registers for reasons and
// gets the changes with these reasons.
//
// The hub calls a listener after the change, when the keyspace is consistent again; the listener must not change the
// keyspace. A listener may also ask to see entries before they change (BeforeChange), as a point-in-time walk does.
//
// Cost: without a listener, one test of a mask for each change. If all listeners want listened entries only, other
// entries cost the same test, and a test of the entry's flag. The hub also counts the changes by clients, for the save points.
// Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace mayfly {

class Entry;
class Keyspace;

enum class ChangeReason : uint8_t {
  kCreated,           // the key did not exist
  kValueChanged,      // another value, perhaps with another expiry: a SET of a key that exists
  kExpiryChanged,     // the expiry alone, by a command
  kSlid,              // the expiry alone, by an access of a key with SLIDE: not reported to clients
  kDeleted,           // by a command; also reported for a key that did not exist
  kExpired,           // at its deadline
  kEvicted,           // to free memory
  kInvalidated,       // by one of its tags: INVALIDATE
  kFlushed,           // with its whole keyspace; `key` is empty
  kRenamed,           // the key has another name now, or is in another database
  kSwapped,           // its keyspace belongs to another database now; `key` is empty
  kNamespaceFlushed,  // with its namespace; `key` is the prefix; remaining keys may have the prefix, too
  kFreed,  // after its namespace was flushed: clients see no change any more, but replicas need the name
};

// A change of one key as a command: `command [subcommand] key arguments...`. On an equal copy of the key it has the same result,
// whatever the time, the other keys and the options are; all servers with Redis's commands know it. So replicas need not get the
// whole value.
struct Effect {
  std::string_view command;
  std::string_view subcommand = {};
  std::span<const std::string_view> arguments = {};
  bool of_deadlines = false;     // of members alone: only servers like Redis 7.4 know it
  const Effect* next = nullptr;  // a second part of the change
};

// The name of a change in Redis's keyspace notifications. Some changes have two names: SET with an expiry is "set" and
// "expire"; a command that takes the last member of a value has its own name, and "del". Redis also reports "new" before the
// event of a key that RENAME, COPY or RESTORE replaces; Mayfly reports kValueChanged.
struct Event {
  std::string_view name;       // empty: the change is not reported
  std::string_view then = {};  // mostly empty
  // False: the server itself did it, or the change is no news. Change::client is 0 then, and by_clients does not count it.
  bool by_client = true;
  // True: nothing that clients read has changed, such as a stream's next ID. WATCH and CLIENT TRACKING do not hear of it.
  bool unseen = false;
  const Effect* effect = nullptr;  // null: unknown; valid during the report

  constexpr Event With(const Effect& its_effect) const noexcept {
    Event event = *this;
    event.effect = &its_effect;
    return event;
  }
};

namespace events {
inline constexpr Event kSet{"set"};
inline constexpr Event kSetWithExpiry{"set", "expire"};
inline constexpr Event kExpire{"expire"};
inline constexpr Event kPersist{"persist"};
inline constexpr Event kSlid{.name = "slid", .by_client = false};
inline constexpr Event kDel{"del"};
inline constexpr Event kExpired{.name = "expired", .by_client = false};
inline constexpr Event kEvicted{.name = "evicted", .by_client = false};
// Members at their deadlines: of a hash, a set, a sorted set. Redis knows only the first event.
inline constexpr Event kFieldsExpired{.name = "hexpired", .by_client = false};
inline constexpr Event kSetMembersExpired{.name = "sexpired", .by_client = false};
inline constexpr Event kSortedSetMembersExpired{.name = "zexpired", .by_client = false};
inline constexpr bool IsOfExpiredMembers(const Event& event) noexcept {
  return event.name == kFieldsExpired.name || event.name == kSetMembersExpired.name ||
         event.name == kSortedSetMembersExpired.name;
}
inline constexpr Event kRenameFrom{"rename_from"};
inline constexpr Event kRenameTo{"rename_to"};
inline constexpr Event kMoveFrom{"move_from"};
inline constexpr Event kMoveTo{"move_to"};
inline constexpr Event kCopyTo{"copy_to"};
inline constexpr Event kRestore{"restore"};
// A key that was created by an unreported change, or by DEBUG POPULATE: the notification of the creation says all.
inline constexpr Event kNew{"new"};
// A key comes from a snapshot file (Adopter), or gives way to a master's file (Adopter::GiveWay). Clients get no
// notification.
inline constexpr Event kLoaded{.name = "loaded", .by_client = false};
// The same value was stored again, in another encoding: no listener needs to know. Or a later report covers the change.
inline constexpr Event kUnreported{.name = "", .by_client = false};
// Of a whole keyspace or namespace: its reason says all.
inline constexpr Event kUnnamed{.name = ""};
}  // namespace events

struct Change {
  ChangeReason reason;
  const Event& event;  // its name is empty for kFlushed, kSwapped and kNamespaceFlushed
  Keyspace& keyspace;  // kFlushed: the old keyspace, with its keys; an empty keyspace has taken its place
  unsigned database;   // the present index of the keyspace
  std::string_view key;
  // The key's present entry; before a removal, the entry to remove. Null for an absent key, and without an event.
  const Entry* entry;
  // The client of the request (Session::id); 0 for changes without a client: expiry and eviction.
  uint64_t client;
};

class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  virtual void OnChange(const Change& change) = 0;
  // Called for an entry that Databases::StartWalk has marked, before the entry changes its value or expiry, moves in its list
  // by an access, or goes. The call removes the mark, so an entry gets only one call. The change may still fail, for want of
  // memory.
  virtual void BeforeChange(Keyspace& /*keyspace*/, const Entry& /*entry*/) noexcept {}
};

// The changes that a listener wants to hear.
struct Interest {
  uint32_t reasons = 0;  // ChangeHub::Bit of each
  // Only entries with EntryFlag::kListened, and all created entries. A change removes the flag: a listener that wants to
  // hear of the next change sets the flag again.
  bool listened_only = false;
  bool before = false;   // calls BeforeChange, for all marked entries
  bool unnamed = false;  // also changes of entries whose event has no name
  bool effects = false;  // reads Event::effect
};

class ChangeHub {
 public:
  static constexpr uint32_t Bit(ChangeReason reason) noexcept { return 1U << static_cast<unsigned>(reason); }
  static constexpr uint32_t kEverything = ~uint32_t{0};
  // The reasons that clients may hear of.
  static constexpr uint32_t kAllReasons = kEverything & ~(1U << static_cast<unsigned>(ChangeReason::kSlid)) &
                                          ~(1U << static_cast<unsigned>(ChangeReason::kFreed));

  // Calls the listener for the changes of `interest`, until Unlisten. Replaces an earlier registration of the same listener.
  // Borrows `listener`.
  void Listen(ChangeListener& listener, const Interest& interest) {
    Unlisten(listener);
    const uint32_t unlistened =
        interest.listened_only ? interest.reasons & Bit(ChangeReason::kCreated) : interest.reasons;
    listeners_.insert(
        Hears(interest) ? listeners_.begin() + static_cast<ptrdiff_t>(awake_) : listeners_.end(),
        {&listener, interest, unlistened});
    Sum();
  }
  void Listen(ChangeListener& listener, uint32_t reasons) { Listen(listener, Interest{.reasons = reasons}); }
  void Unlisten(ChangeListener& listener) {
    std::erase_if(listeners_, [&](const Subscription& s) { return s.listener == &listener; });
    Sum();
  }

  // Returns true if a listener wants this reason, perhaps of listened entries only. Test this before building a Change.
  bool Wants(ChangeReason reason) const noexcept { return (mask_ & Bit(reason)) != 0; }
  // False: nobody reads Event::effect, so it need not be built. Replicas alone want effects.
  bool WantsEffects() const noexcept { return wants_effects_; }
  // As Wants, for an entry without EntryFlag::kListened.
  bool WantsUnlistened(ChangeReason reason) const noexcept { return (unlistened_mask_ & Bit(reason)) != 0; }
  // `listened`: the entry has EntryFlag::kListened, or there is no entry. REQUIRES: Wants this, or WantsUnlistened.
  [[gnu::always_inline]] void Tell(const Change& change, bool listened) const {
    if (awake_ == 1) [[likely]]
      return listeners_.front().listener->OnChange(change);
    TellAll(change, listened);
  }
  // As Tell, for a change of an entry whose event has no name.
  void TellOfUnnamed(const Change& change) const {
    for (const Subscription& s : awake()) {
      if ((s.interest.reasons & Bit(change.reason)) != 0 && s.interest.unnamed) s.listener->OnChange(change);
    }
  }
  // The changes by clients since the start: each key that was created, changed or removed, a flush for each of its keys. Not
  // what expired, was evicted, slid or came from a file. Redis calls this number dirty.
  uint64_t by_clients() const noexcept { return by_clients_; }
  void CountByClient(uint64_t changes = 1) noexcept { by_clients_ += changes; }
  void TellBefore(Keyspace& keyspace, const Entry& entry) const noexcept {
    for (const Subscription& s : awake()) {
      if (s.interest.before) s.listener->BeforeChange(keyspace, entry);
    }
  }

 private:
  [[gnu::noinline]] void TellAll(const Change& change, bool listened) const {
    const uint32_t bit = Bit(change.reason);
    for (const Subscription& s : awake()) {
      if (((listened ? s.interest.reasons : s.unlistened) & bit) != 0) s.listener->OnChange(change);
    }
  }

  struct Subscription {
    ChangeListener* listener;
    Interest interest;
    uint32_t unlistened;  // the reasons for which it hears of an entry without EntryFlag::kListened
  };
  static bool Hears(const Interest& interest) noexcept { return interest.reasons != 0 || interest.before; }
  std::span<const Subscription> awake() const noexcept { return {listeners_.data(), awake_}; }
  void Sum() noexcept {
    awake_ = static_cast<size_t>(std::ranges::count_if(listeners_, Hears, &Subscription::interest));
    mask_ = 0;
    unlistened_mask_ = 0;
    wants_effects_ = false;
    for (const Subscription& s : awake()) {
      mask_ |= s.interest.reasons;
      unlistened_mask_ |= s.unlistened;
      wants_effects_ = wants_effects_ || s.interest.effects;
    }
  }

  std::vector<Subscription> listeners_;  // first those that want to hear of something
  size_t awake_ = 0;                     // the number of these
  uint32_t mask_ = 0;
  uint32_t unlistened_mask_ = 0;
  bool wants_effects_ = false;
  uint64_t by_clients_ = 0;
};

}  // namespace mayfly
