// Keyspace notifications: publishes changes of keys as messages (option notify-keyspace-events).
//
// Notifier listens to the change point while the option asks for events. An event's class follows from the event's name, or
// from the type of the value. No text is built while no client has a subscription. A message without memory is lost. Loop
// thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "cache/changes/change.h"
#include "config/settings.h"
#include "server/watch/pubsub.h"

namespace mayfly {

class Notifier final : public ChangeListener {
 public:
  // Borrows both arguments.
  Notifier(ChangeHub& changes, PubSub& pubsub) : changes_(changes), pubsub_(pubsub) {}
  ~Notifier() override { changes_.Unlisten(*this); }

  // Publishes events of these classes from now on. Throws std::bad_alloc.
  void Follow(const config::EventClasses& classes);
  // True if a read of an absent key is an event.
  bool tells_misses() const noexcept { return tells_misses_; }
  // Reports a read of an absent key.
  void OnMiss(unsigned database, std::string_view key) noexcept;

  void OnChange(const Change& change) override;

 private:
  // A letter of EventClasses.
  using Class = char;
  static Class ClassOf(std::string_view event, const Change& change) noexcept;
  void Tell(Class of, std::string_view event, unsigned database, std::string_view key) noexcept;

  ChangeHub& changes_;
  PubSub& pubsub_;
  config::EventClasses classes_;
  bool tells_misses_ = false;
  std::string channel_;  // reused
};

}  // namespace mayfly
