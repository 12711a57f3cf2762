// The parts with a thread, to be called by the loop when their thread has something to tell. A part registers itself as an
// ear by its construction; no code keeps a list of parts by hand.
//
//   a part's thread --Signal--> the loop turns --Tell--> OnSignal of every part
//
// The end of a suspended script is signalled, too: parts that do nothing meanwhile go on. A signal tells nothing more: a part
// looks for itself whether it was meant. Several signals may become one call. Wakes must
// outlive the parts. Loop thread only, but for Signal.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace mayfly {

class Wakes {
 public:
  class Ear {
   public:
    // Throws std::bad_alloc.
    explicit Ear(Wakes& wakes) : wakes_(wakes) { wakes_.ears_.push_back(this); }
    Ear(const Ear&) = delete;
    Ear& operator=(const Ear&) = delete;

    virtual void OnSignal() noexcept = 0;

   protected:
    ~Ear() { std::erase(wakes_.ears_, this); }

   private:
    Wakes& wakes_;
  };

  Wakes() = default;
  Wakes(const Wakes&) = delete;
  Wakes& operator=(const Wakes&) = delete;

  // `turn` makes the loop call Tell; it may be called from any thread. Without a loop, empty: a signal has no effect.
  void set_turn(std::function<void()> turn) {
    const std::lock_guard lock(mutex_);
    turn_ = std::move(turn);
  }
  // From any thread.
  void Signal() {
    const std::lock_guard lock(mutex_);
    if (turn_) turn_();
  }
  // OnSignal may make and destroy ears.
  void Tell() noexcept {
    for (size_t i = 0; i < ears_.size(); ++i) ears_[i]->OnSignal();
  }

 private:
  std::vector<Ear*> ears_;  // in the order of construction
  std::mutex mutex_;        // for turn_
  std::function<void()> turn_;
};

}  // namespace mayfly
