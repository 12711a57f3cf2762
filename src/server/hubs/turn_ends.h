// The parts with work at the end of a turn, before the replies are written: what clients did in the turn is complete then. A part
// registers itself as an ear by its construction; no code keeps a list of parts by hand.
//
// A part that has work outside a turn, by a slice of work after its end, asks for another turn (Ask). TurnEnds must outlive the
// parts. Loop thread only.
#pragma once

#include <algorithm>
#include <cstddef>
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

    virtual void OnTurnEnd(Now now) noexcept = 0;

   protected:
    ~Ear() { std::erase(ends_.ears_, this); }

   private:
    TurnEnds& ends_;
  };

  TurnEnds() = default;
  TurnEnds(const TurnEnds&) = delete;
  TurnEnds& operator=(const TurnEnds&) = delete;

  // The loop does not sleep before the next Tell.
  void Ask() noexcept { asked_ = true; }
  bool asked() const noexcept { return asked_; }
  // OnTurnEnd may make and destroy ears.
  void Tell(Now now) noexcept {
    asked_ = false;
    for (size_t i = 0; i < ears_.size(); ++i) ears_[i]->OnTurnEnd(now);
  }

 private:
  std::vector<Ear*> ears_;  // in the order of construction
  bool asked_ = false;
};

}  // namespace mayfly
