// The parts to be called at a time. A part registers itself by its construction; no code keeps a list of parts by hand.
//
//   a part derives from Alarm --NextWake--> the loop arms one timer for the nearest --it fires--> OnWake of every part
//
// The loop calls NextWake at the end of every turn, so a part need not report a changed time. OnWake compares its own time.
// Alarms must outlive the parts. Loop thread only. Units: monotonic milliseconds.
#pragma once

#include <algorithm>
#include <cstddef>
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

    // The time at which OnWake has work; kNever: no work.
    virtual uint64_t NextWake() const noexcept = 0;
    // The time of some part has come, perhaps of another part. `log` may be null.
    virtual void OnWake(Now now, Log* log) = 0;
    // The daemon ends: a part logs now whatever it would have logged later.
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
  // OnWake may make and destroy parts. A part that is passed over then has its turn with the next timer.
  void Wake(Now now, Log* log) {
    for (size_t i = 0; i < alarms_.size(); ++i) alarms_[i]->OnWake(now, log);
  }
  void End(Log* log) noexcept {
    for (Alarm* alarm : alarms_) alarm->AtEnd(log);
  }

 private:
  std::vector<Alarm*> alarms_;  // in the order of construction
};

}  // namespace mayfly
