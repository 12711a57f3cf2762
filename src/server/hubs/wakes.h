// The parts with a thread, to be called by the loop when their thread has something to tell. A part registers itself as an
// listener by its construction; no code keeps a list of parts by hand.
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
  class Listener {
   public:
    // Throws std::bad_alloc.
    explicit Listener(Wakes& wakes) : wakes_(wakes) { wakes_.listeners_.push_back(this); }
    Listener(const Listener&) = delete;
    Listener& operator=(const Listener&) = delete;

    virtual void OnSignal() noexcept = 0;

   protected:
    ~Listener() { std::erase(wakes_.listeners_, this); }

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
  // OnSignal may make and destroy listeners.
  void Tell() noexcept {
    for (size_t i = 0; i < listeners_.size(); ++i) listeners_[i]->OnSignal();
  }

 private:
  std::vector<Listener*> listeners_;  // in the order of construction
  std::mutex mutex_;                  // for turn_
  std::function<void()> turn_;
};

}  // namespace mayfly
