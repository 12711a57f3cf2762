#include "net/clock_watch.h"

#include <unistd.h>

#include <cstdint>

#ifdef __linux__
#include <sys/timerfd.h>
#endif

namespace mayfly::net {

#ifdef __linux__

bool ClockWatch::Arm() noexcept {
  itimerspec far{};
  far.it_value.tv_sec = time_t{1} << 33;  // in the year 2242
  return timerfd_settime(timer_, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, nullptr) == 0;
}

bool ClockWatch::Start(uv_loop_t& loop) {
  timer_ = timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC);
  if (timer_ < 0) return false;
  if (!Arm() || uv_poll_init(&loop, &poll_, timer_) != 0) {
    close(timer_);
    timer_ = -1;
    return false;
  }
  poll_.data = this;
  uv_poll_start(&poll_, UV_READABLE,
                [](uv_poll_t* poll, int, int) { static_cast<ClockWatch*>(poll->data)->OnReadable(); });
  return true;
}

void ClockWatch::OnReadable() {
  uint64_t expirations = 0;
  // Fails with ECANCELED, which is the message.
  static_cast<void>(!read(timer_, &expirations, sizeof expirations));
  Arm();
  on_step_();
}

#else

bool ClockWatch::Arm() noexcept { return false; }
bool ClockWatch::Start(uv_loop_t&) { return false; }
void ClockWatch::OnReadable() {}

#endif

void ClockWatch::Close() {
  if (timer_ < 0) return;
  uv_close(reinterpret_cast<uv_handle_t*>(&poll_), nullptr);
  close(timer_);
  timer_ = -1;
}

}  // namespace mayfly::net
