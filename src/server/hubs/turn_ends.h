// The parts with work at the end of a turn, before the replies are written: what clients did in the turn is complete then. A part
// registers itself as an ear by its construction; no code keeps a list of parts by hand.
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
  class Ear {
   public:
    // Throws std::bad_alloc.
    explicit Ear(TurnEnds& ends) : ends_(ends) { ends_.ears_.push_back(this); }
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;

    // Called at the end of a turn in which somebody has asked, or at the end of each turn.
    virtual void OnTurnEnd(Now now) noexcept = 0;

   protected:
    ~Ear() {
      HearEachTurn(false);
      std::erase(ends_.ears_, this);
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
  // OnTurnEnd may make and destroy ears.
  void Tell(Now now) noexcept {
    if (asked_ || hearing_each_ != 0) [[unlikely]]
      TellAll(now);
  }

 private:
  [[gnu::noinline]] void TellAll(Now now) noexcept {
    asked_ = false;
    for (size_t i = 0; i < ears_.size(); ++i) ears_[i]->OnTurnEnd(now);
  }

  std::vector<Ear*> ears_;   // in the order of construction
  size_t hearing_each_ = 0;  // of them
  bool asked_ = false;
};

}  // namespace mayfly
