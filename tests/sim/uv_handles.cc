// Libuv's handles other than streams: timers, idle, prepare, check, signals, poll and async.
#include <algorithm>

#include "sim/uv_state.h"

namespace mayfly::sim {
namespace {

template <typename Handle>
bool IsStarted(const Handle* handle) noexcept {
  return (handle->flags & kActive) != 0;
}

// Idle, prepare and check differ only in their lists.
template <typename Handle, typename Callback>
int StartLast(Handle* handle, std::list<Handle*>& handles, Callback Handle::* member, Callback callback) {
  if (IsStarted(handle)) return 0;
  if (callback == nullptr) return UV_EINVAL;
  handle->*member = callback;
  handle->flags |= kActive;
  handles.push_front(handle);
  return 0;
}

template <typename Handle>
int Stop(Handle* handle, std::list<Handle*>& handles) {
  if (IsStarted(handle)) handles.remove(handle);
  handle->flags &= ~kActive;
  return 0;
}

void StopAny(uv_handle_t* handle) {
  LoopState& state = StateOf(handle->loop);
  switch (handle->type) {
    case UV_TIMER:
      uv_timer_stop(reinterpret_cast<uv_timer_t*>(handle));
      break;
    case UV_IDLE:
      Stop(reinterpret_cast<uv_idle_t*>(handle), state.idles);
      break;
    case UV_PREPARE:
      Stop(reinterpret_cast<uv_prepare_t*>(handle), state.prepares);
      break;
    case UV_CHECK:
      Stop(reinterpret_cast<uv_check_t*>(handle), state.checks);
      break;
    case UV_POLL:
      std::erase(state.polls, reinterpret_cast<uv_poll_t*>(handle));
      break;
    case UV_SIGNAL:
      std::erase(state.signals, reinterpret_cast<uv_signal_t*>(handle));
      break;
    case UV_ASYNC:
      std::erase(state.asyncs, reinterpret_cast<uv_async_t*>(handle));
      break;
    default:
      CloseStream(StateOf(reinterpret_cast<uv_stream_t*>(handle)));
  }
  handle->flags &= ~kActive;
}

}  // namespace
}  // namespace mayfly::sim

using namespace mayfly::sim;

extern "C" {

// ---- timers

int uv_timer_init(uv_loop_t* loop, uv_timer_t* timer) {
  InitHandle(loop, AsHandle(timer), UV_TIMER);
  timer->repeat = 0;
  return 0;
}

int uv_timer_start(uv_timer_t* timer, uv_timer_cb callback, uint64_t timeout, uint64_t repeat) {
  if ((timer->flags & kClosing) != 0 || callback == nullptr) return UV_EINVAL;
  if (repeat != 0) World::Current().Fail("uv_timer_start knows no repeat");
  uv_timer_stop(timer);
  timer->timer_cb = callback;
  timer->timeout = timeout > UINT64_MAX - timer->loop->time ? UINT64_MAX : timer->loop->time + timeout;
  timer->start_id = timer->loop->timer_counter++;
  timer->flags |= kActive;
  StateOf(timer->loop).timers.insert({{timer->timeout, timer->start_id}, timer});
  return 0;
}

int uv_timer_stop(uv_timer_t* timer) {
  if (IsStarted(timer)) StateOf(timer->loop).timers.erase({{timer->timeout, timer->start_id}, timer});
  timer->flags &= ~kActive;
  return 0;
}

// ---- phases of the loop

int uv_idle_init(uv_loop_t* loop, uv_idle_t* idle) {
  InitHandle(loop, AsHandle(idle), UV_IDLE);
  return 0;
}
int uv_idle_start(uv_idle_t* idle, uv_idle_cb callback) {
  return StartLast(idle, StateOf(idle->loop).idles, &uv_idle_t::idle_cb, callback);
}
int uv_idle_stop(uv_idle_t* idle) { return Stop(idle, StateOf(idle->loop).idles); }

int uv_prepare_init(uv_loop_t* loop, uv_prepare_t* prepare) {
  InitHandle(loop, AsHandle(prepare), UV_PREPARE);
  return 0;
}
int uv_prepare_start(uv_prepare_t* prepare, uv_prepare_cb callback) {
  return StartLast(prepare, StateOf(prepare->loop).prepares, &uv_prepare_t::prepare_cb, callback);
}

int uv_prepare_stop(uv_prepare_t* prepare) { return Stop(prepare, StateOf(prepare->loop).prepares); }

int uv_check_init(uv_loop_t* loop, uv_check_t* check) {
  InitHandle(loop, AsHandle(check), UV_CHECK);
  return 0;
}
int uv_check_start(uv_check_t* check, uv_check_cb callback) {
  return StartLast(check, StateOf(check->loop).checks, &uv_check_t::check_cb, callback);
}

// ---- descriptors and signals

int uv_poll_init(uv_loop_t* loop, uv_poll_t* poll, int fd) {
  InitHandle(loop, AsHandle(poll), UV_POLL);
  poll->io_watcher.fd = fd;
  StateOf(loop).polls.push_back(poll);
  return 0;
}

int uv_poll_start(uv_poll_t* poll, int events, uv_poll_cb callback) {
  if (events != UV_READABLE) World::Current().Fail("uv_poll_start knows UV_READABLE alone");
  poll->poll_cb = callback;
  poll->flags |= kActive;
  return 0;
}

int uv_poll_stop(uv_poll_t* poll) {
  poll->flags &= ~kActive;
  return 0;
}

int uv_async_init(uv_loop_t* loop, uv_async_t* handle, uv_async_cb callback) {
  InitHandle(loop, AsHandle(handle), UV_ASYNC);
  handle->async_cb = callback;
  handle->pending = 0;
  StateOf(loop).asyncs.push_back(handle);
  return 0;
}

// The loop stands still while a thread runs (threads.h).
int uv_async_send(uv_async_t* handle) {
  handle->pending = 1;
  return 0;
}

int uv_signal_init(uv_loop_t* loop, uv_signal_t* handle) {
  InitHandle(loop, AsHandle(handle), UV_SIGNAL);
  StateOf(loop).signals.push_back(handle);
  return 0;
}

int uv_signal_start(uv_signal_t* handle, uv_signal_cb callback, int number) {
  handle->signal_cb = callback;
  handle->signum = number;
  handle->flags |= kActive;
  return 0;
}

// ---- all handles

void uv_close(uv_handle_t* handle, uv_close_cb callback) {
  if ((handle->flags & kClosing) != 0) World::Current().Fail("a handle is closed twice");
  StopAny(handle);
  handle->flags |= kClosing;
  handle->close_cb = callback;
  StateOf(handle->loop).closing.push_back(handle);
}

// ---- words

uv_buf_t uv_buf_init(char* base, unsigned int size) { return {base, size}; }

int uv_translate_sys_error(int error) { return error <= 0 ? error : -error; }

const char* uv_strerror(int error) {
  switch (error) {
#define MAYFLY_TEXT_OF(name, text) \
  case UV_##name:                  \
    return text;
    UV_ERRNO_MAP(MAYFLY_TEXT_OF)
#undef MAYFLY_TEXT_OF
  }
  return "unknown error";
}
}
