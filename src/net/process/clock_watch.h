// Reports steps of the wall clock, and the end of a suspend, by a timer of the kernel. The timer lies far in the future, and
// a step cancels the timer. Without such a timer, the owner must read the clock now and then. Loop thread only.
#pragma once

#include <functional>

#include <uv.h>

namespace mayfly::net {

class ClockWatch {
 public:
  explicit ClockWatch(std::function<void()> on_step) : on_step_(std::move(on_step)) {}
  ClockWatch(const ClockWatch&) = delete;
  ClockWatch& operator=(const ClockWatch&) = delete;

  // False if the kernel has no such timer.
  bool Start(uv_loop_t& loop);
  // The loop must run once more before this dies.
  void Close();

 private:
  void OnReadable();

  std::function<void()> on_step_;
  uv_poll_t poll_;
  int timer_ = -1;
};

}  // namespace mayfly::net
