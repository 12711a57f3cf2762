// The parts with work at the end of a turn, before the replies are written: what clients did in the turn is complete then. A part
// registers itself as a listener by its construction; no code keeps a list of parts by hand.
//
// A part that has work asks for the end of the turn (Ask); by a slice of work after a turn, that is the next turn's. A part that
// has to look at each turn says so (HearEachTurn). At the end of other turns no part is called. TurnEnds must outlive the parts.
// Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "base/time/clock.h"

namespace mayfly {

class TurnEnds {
 public:
  class Listener {
   public:
    // Throws std::bad_alloc.
    explicit Listener(TurnEnds& ends) : ends_(ends) { ends_.listeners_.push_back(this); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    // Called at the end of a turn in which somebody has asked, or at the end of each turn.
    virtual void OnTurnEnd(Now now) noexcept = 0;

   protected:
    ~Listener() {
      HearEachTurn(false);
      std::erase(ends_.listeners_, this);
    }
    // From now on, at the end of each turn; or only when somebody asks, as at the beginning.
    void HearEachTurn(bool each) noexcept {
      if (std::exchange(hears_each_, each) != each) each ? ++ends_.hearing_each_ : --ends_.hearing_each_;
    }

   private:
    TurnEnds& ends_;
    bool hears_each_ = false;
  };

  TurnEnds() = default;
  TurnEnds(const TurnEnds&) = delete;
  TurnEnds& operator=(const TurnEnds&) = delete;

  // The loop does not sleep before the next Tell.
  void Ask() noexcept { asked_ = true; }
  bool asked() const noexcept { return asked_; }
  // OnTurnEnd may make and destroy listeners.
  void Tell(Now now) noexcept {
    if (asked_ || hearing_each_ != 0) [[unlikely]]
      TellAll(now);
  }

 private:
  [[gnu::noinline]] void TellAll(Now now) noexcept {
    asked_ = false;
    for (size_t i = 0; i < listeners_.size(); ++i) listeners_[i]->OnTurnEnd(now);
  }

  std::vector<Listener*> listeners_;  // in the order of construction
  size_t hearing_each_ = 0;           // of them
  bool asked_ = false;
};

}  // namespace mayfly
