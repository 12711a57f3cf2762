// The one point that every creation, change and removal of a key passes, told to whoever listens.
//
// With no listener a change costs one test of a mask. Listeners are told after the keyspace is consistent
// again and must not change it. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mayfly {

class Entry;

enum class ChangeReason : uint8_t {
  kSet,          // created, or its value or expiry changed
  kDeleted,      // by a command; also told of a key that was not there
  kExpired,      // at its deadline
  kEvicted,      // to make room
  kInvalidated,  // by its tag
  kFlushed,      // with the whole keyspace: key is empty
  kRenamed,      // went away under this name: has another one now, or lies in another database
  kSwapped,      // with the whole keyspace: belongs to another database now; key is empty
};

struct Change {
  ChangeReason reason;
  uint8_t keyspace;  // its id
  std::string_view key;
  const Entry* entry;  // as it is now (kSet) or was (removals); null for an absent key, kFlushed, kSwapped
};

class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  virtual void OnChange(const Change& change) = 0;
};

class ChangeHub {
 public:
  static constexpr uint32_t Bit(ChangeReason reason) noexcept { return 1U << static_cast<unsigned>(reason); }

  // Tells `listener` of every reason whose bit is in `reasons`, until Unlisten. Borrows it.
  void Listen(ChangeListener& listener, uint32_t reasons) {
    Unlisten(listener);
    listeners_.push_back({&listener, reasons});
    Sum();
  }
  void Unlisten(ChangeListener& listener) {
    std::erase_if(listeners_, [&](const Subscription& s) { return s.listener == &listener; });
    Sum();
  }

  // Whether Tell would tell anybody: worth asking before a Change is made.
  bool Wants(ChangeReason reason) const noexcept { return (mask_ & Bit(reason)) != 0; }
  void Tell(const Change& change) const {
    for (const Subscription& s : listeners_) {
      if ((s.reasons & Bit(change.reason)) != 0) s.listener->OnChange(change);
    }
  }

 private:
  struct Subscription {
    ChangeListener* listener;
    uint32_t reasons;
  };
  void Sum() noexcept {
    mask_ = 0;
    for (const Subscription& s : listeners_) mask_ |= s.reasons;
  }

  std::vector<Subscription> listeners_;
  uint32_t mask_ = 0;
};

}  // namespace mayfly
