// The parts that have to be called at a time: one that is built is called, and nobody keeps a list of them.
//
//   a part derives from Alarm --NextWake--> the loop arms one timer for the nearest --it fires--> OnWake of every part
//
// NextWake is asked at the end of every turn, so a part need not tell when its time changes. OnWake looks at its own time.
// Alarms must outlive the parts. Loop thread only. Units: monotonic milliseconds.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/time/clock.h"

namespace mayfly {

class Log;

class Alarms {
 public:
  static constexpr uint64_t kNever = UINT64_MAX;

  class Alarm {
   public:
    // Throws std::bad_alloc.
    explicit Alarm(Alarms& alarms) : alarms_(alarms) { alarms_.alarms_.push_back(this); }
    Alarm(const Alarm&) = delete;
    Alarm& operator=(const Alarm&) = delete;

    // When OnWake has something to do; kNever: nothing.
    virtual uint64_t NextWake() const noexcept = 0;
    // The time of some part has come, perhaps this one's. `log`: null if there is none.
    virtual void OnWake(Now now, Log* log) = 0;
    // The daemon ends: what was to be told later is told now.
    virtual void AtEnd(Log* /*log*/) noexcept {}

   protected:
    ~Alarm() { std::erase(alarms_.alarms_, this); }

   private:
    Alarms& alarms_;
  };

  Alarms() = default;
  Alarms(const Alarms&) = delete;
  Alarms& operator=(const Alarms&) = delete;

  uint64_t NextWake() const noexcept {
    uint64_t next = kNever;
    for (const Alarm* alarm : alarms_) next = std::min(next, alarm->NextWake());
    return next;
  }
  void Wake(Now now, Log* log) {
    for (Alarm* alarm : alarms_) alarm->OnWake(now, log);
  }
  void End(Log* log) noexcept {
    for (Alarm* alarm : alarms_) alarm->AtEnd(log);
  }

 private:
  std::vector<Alarm*> alarms_;  // in the order in which they were made
};

}  // namespace mayfly
