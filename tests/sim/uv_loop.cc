// Libuv's loop on a simulated machine, with the phases in the order of libuv:
//
//   timers -> write callbacks -> idle -> prepare -> poll -> write callbacks -> check -> closing
//
// Since libuv 1.45 a turn begins with the poll and ends with the timers, which is the same cycle.
#include <algorithm>

#include "sim/uv_state.h"

namespace mayfly::sim {
namespace {

void UpdateTime(uv_loop_t* loop) noexcept { loop->time = World::Current().UvTimeMs(); }

// Runs the timers that are due: one after the other as they are then, or (World::set_timers_in_batches) those that were due and
// started at the begin.
void RunTimers(uv_loop_t* loop) {
  const LoopState& state = StateOf(loop);
  const bool batch = World::Current().timers_in_batches();
  const uint64_t begin = loop->time;
  const uint64_t first_new_id = loop->timer_counter;
  const auto runs = [&](const auto& entry) {
    const auto [due, id] = entry.first;
    return batch ? due <= begin && id < first_new_id : due <= loop->time;
  };
  for (;;) {
    const auto found = std::find_if(state.timers.begin(), state.timers.end(), runs);
    if (found == state.timers.end()) return;
    uv_timer_t* const timer = found->second;
    uv_timer_stop(timer);
    timer->timer_cb(timer);
  }
}

// Calls the idle, prepare or check handles that are active now, except those that are stopped meanwhile.
template <typename Handle, typename Callback>
void RunAll(const std::list<Handle*>& handles, Callback Handle::* callback) {
  for (Handle* handle : std::list<Handle*>(handles)) {
    if ((handle->flags & kActive) != 0) (handle->*callback)(handle);
  }
}

bool IsAlive(const LoopState& state) {
  const auto started = [](const auto* handle) { return (handle->flags & kActive) != 0; };
  return !state.timers.empty() || !state.idles.empty() || !state.prepares.empty() || !state.checks.empty() ||
         !state.closing.empty() || !state.fed.empty() || !state.lookups.empty() ||
         std::any_of(state.streams.begin(), state.streams.end(),
                     [](const auto& stream) { return IsActive(*stream); }) ||
         std::any_of(state.polls.begin(), state.polls.end(), started) ||
         std::any_of(state.signals.begin(), state.signals.end(), started);
}

// When the poll ends by itself. Libuv computes a number of milliseconds from its own time, which is that of the
// beginning of the turn, but the kernel counts them from now.
uint64_t WakeTime(const uv_loop_t* loop) {
  const LoopState& state = StateOf(loop);
  const uint64_t now_ns = World::Current().now_ns();
  if (!state.idles.empty() || !state.closing.empty() || !state.fed.empty() || !IsAlive(state)) return now_ns;
  if (state.timers.empty()) return UINT64_MAX;
  const uint64_t due_ms = state.timers.begin()->first.first;
  const uint64_t wait_ms = due_ms > loop->time ? due_ms - loop->time : 0;
  return wait_ms > (UINT64_MAX - now_ns) / World::kNsPerMs ? UINT64_MAX : now_ns + wait_ms * World::kNsPerMs;
}

std::vector<uv_handle_t*> CollectReady(const LoopState& state) {
  std::vector<uv_handle_t*> ready;
  for (const auto& stream : state.streams) {
    if (IsReady(*stream)) ready.push_back(AsHandle(stream->handle));
  }
  for (uv_poll_t* poll : state.polls) {
    if ((poll->flags & kActive) != 0 && World::Current().Readable(poll->io_watcher.fd))
      ready.push_back(AsHandle(poll));
  }
  for (uv_async_t* async : state.asyncs) {
    if (async->pending != 0) ready.push_back(AsHandle(async));
  }
  return ready;
}

void DeliverSignals(const LoopState& state) {
  std::deque<int> raised;
  raised.swap(World::Current().signals());
  for (const int number : raised) {
    for (uv_signal_t* handle : std::vector<uv_signal_t*>(state.signals)) {
      if ((handle->flags & kActive) != 0 && handle->signum == number) handle->signal_cb(handle, number);
    }
  }
}

// Waits until something happens. False if the leash is used up before.
bool Wait(const LoopState& state, std::vector<uv_handle_t*>& ready) {
  World& world = World::Current();
  Leash& leash = world.leash();
  for (;;) {
    world.Happen();
    ready = CollectReady(state);
    const bool any = !ready.empty() || AnyLookupReady(state) || !world.signals().empty();
    if (any || state.wake_ns <= world.now_ns()) break;
    const uint64_t next = std::min(state.wake_ns, world.NextEventNs());
    if (!leash.may_wait) {
      world.NoteSleep(state.wake_ns);
      return false;
    }
    if (next > leash.until_ns) {
      world.SetTime(std::max(leash.until_ns, world.now_ns()));
      return false;
    }
    if (next == UINT64_MAX) world.Fail("the program waits for something that never happens");
    world.SetTime(std::max(next, world.now_ns()));
  }
  if (leash.turns == 0) return false;
  if (leash.turns != UINT64_MAX) --leash.turns;
  world.CountTurn();
  return true;
}

// False if the test is to continue; the loop stays in its poll.
bool Poll(uv_loop_t* loop) {
  LoopState& state = StateOf(loop);
  std::vector<uv_handle_t*> ready;
  if (!Wait(state, ready)) return false;
  UpdateTime(loop);
  World::Current().choices().Shuffle(ready);
  for (uv_handle_t* handle : ready) {
    if ((handle->flags & kClosing) != 0) continue;
    if (handle->type == UV_POLL) {
      auto* const poll = reinterpret_cast<uv_poll_t*>(handle);
      if ((poll->flags & kActive) != 0) poll->poll_cb(poll, 0, UV_READABLE);
    } else if (handle->type == UV_ASYNC) {
      auto* const async = reinterpret_cast<uv_async_t*>(handle);
      async->pending = 0;
      async->async_cb(async);
    } else {
      Deliver(StateOf(reinterpret_cast<uv_stream_t*>(handle)));
    }
  }
  RunLookups(state);
  DeliverSignals(state);
  return true;
}

void RunClosing(LoopState& state) {
  std::vector<uv_handle_t*> closing;
  closing.swap(state.closing);
  while (!closing.empty()) {
    uv_handle_t* const handle = closing.back();
    closing.pop_back();
    if (handle->type == UV_TCP || handle->type == UV_NAMED_PIPE)
      DestroyStream(StateOf(reinterpret_cast<uv_stream_t*>(handle)));
    --state.open_handles;
    if (handle->close_cb != nullptr) handle->close_cb(handle);
  }
}

}  // namespace

void InitHandle(uv_loop_t* loop, uv_handle_t* handle, uv_handle_type type) noexcept {
  handle->loop = loop;
  handle->type = type;
  handle->flags = 0;
  handle->close_cb = nullptr;
  ++StateOf(loop).open_handles;
}

}  // namespace mayfly::sim

using mayfly::sim::LoopState;
using mayfly::sim::StateOf;
using mayfly::sim::World;

extern "C" {

int uv_loop_init(uv_loop_t* loop) {
  *loop = uv_loop_t{};
  loop->internal_fields = new LoopState;
  uv_update_time(loop);
  return 0;
}

int uv_loop_close(uv_loop_t* loop) {
  if (StateOf(loop).open_handles != 0) World::Current().Fail("a loop ends whose handles are not closed");
  delete static_cast<LoopState*>(loop->internal_fields);
  return 0;
}

uint64_t uv_hrtime(void) { return World::Current().now_ns(); }

uint64_t uv_now(const uv_loop_t* loop) { return loop->time; }

void uv_update_time(uv_loop_t* loop) { mayfly::sim::UpdateTime(loop); }

int uv_run(uv_loop_t* loop, uv_run_mode mode) {
  using namespace mayfly::sim;
  if (mode != UV_RUN_DEFAULT) World::Current().Fail("uv_run knows UV_RUN_DEFAULT alone");
  LoopState& state = StateOf(loop);
  // Handles were closed or written to since uv_run returned: the loop must not go on sleeping.
  if (!state.closing.empty() || !state.fed.empty()) state.at_poll = false;
  while (state.at_poll || IsAlive(state)) {
    if (!state.at_poll) {
      UpdateTime(loop);
      RunTimers(loop);
      RunFed(state);
      RunAll(state.idles, &uv_idle_t::idle_cb);
      RunAll(state.prepares, &uv_prepare_t::prepare_cb);
      state.wake_ns = WakeTime(loop);
      state.at_poll = true;
    }
    if (!Poll(loop)) return 1;
    state.at_poll = false;
    RunFed(state);
    RunAll(state.checks, &uv_check_t::check_cb);
    RunClosing(state);
    World::Current().ThrowMistake();
  }
  World::Current().NoteEnd();
  return 0;
}
}
