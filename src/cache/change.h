// The change point: every creation, change and removal of a key is reported here, to the listeners that
// registered for its reason.
//
// Without a listener, a change costs one test of a mask. Listeners are called when the keyspace is consistent
// again, and must not change it. Loop thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <vector>

namespace mayfly {

class Entry;

enum class ChangeReason : uint8_t {
  kSet,          // created, or the value or expiry changed
  kDeleted,      // by a command; also reported for a key that did not exist
  kExpired,      // at its deadline
  kEvicted,      // to free memory
  kInvalidated,  // by its tag (reserved for tags)
  kFlushed,      // with its whole keyspace; `key` is empty
  kRenamed,      // it has another name now, or is in another database
  kSwapped,      // its keyspace belongs to another database now; `key` is empty
};

struct Change {
  ChangeReason reason;
  uint8_t keyspace;  // id of the keyspace
  std::string_view key;
  const Entry*
      entry;  // its state now (kSet) or before its removal; null for an absent key, kFlushed and kSwapped
};

class ChangeListener {
 public:
  virtual ~ChangeListener() = default;
  virtual void OnChange(const Change& change) = 0;
};

class ChangeHub {
 public:
  static constexpr uint32_t Bit(ChangeReason reason) noexcept { return 1U << static_cast<unsigned>(reason); }

  // Calls listener.OnChange for every reason whose bit is set in `reasons`, until Unlisten. Replaces an
  // earlier registration of the same listener. Borrows `listener`.
  void Listen(ChangeListener& listener, uint32_t reasons) {
    Unlisten(listener);
    listeners_.push_back({&listener, reasons});
    Sum();
  }
  void Unlisten(ChangeListener& listener) {
    std::erase_if(listeners_, [&](const Subscription& s) { return s.listener == &listener; });
    Sum();
  }

  // Whether any listener wants this reason. Test it before building a Change.
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
