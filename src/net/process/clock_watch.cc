#include "net/process/clock_watch.h"

#include "net/socket/descriptor.h"

namespace mayfly::net {

bool ClockWatch::Start(uv_loop_t& loop) {
  timer_ = OpenStepTimer();
  if (timer_ < 0) return false;
  if (uv_poll_init(&loop, &poll_, timer_) != 0) {
    CloseDescriptor(timer_);
    timer_ = -1;
    return false;
  }
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE,
                [](uv_poll_t* poll, int, int) { static_cast<ClockWatch*>(poll->data)->OnReadable(); });
  return true;
}

void ClockWatch::OnReadable() {
  RearmStepTimer(timer_);
  on_step_();
}

void ClockWatch::Close() {
  if (timer_ < 0) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  CloseDescriptor(timer_);
  timer_ = -1;
}

}  // namespace mayfly::net
