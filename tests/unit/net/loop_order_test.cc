// The order in which a loop calls back. Compiled twice, with libuv and with the simulation that replaces it in
// sim_tests: both must pass.
#include <algorithm>
#include <string>
#include <vector>

#include <uv.h>

#include "support/catch.h"

namespace mayfly::net {
namespace {

template <typename Handle>
uv_handle_t* AsHandle(Handle& handle) {
  return reinterpret_cast<uv_handle_t*>(&handle);
}

// A loop with handles, and the calls in their order.
struct Phases {
  Phases() {
    REQUIRE(uv_loop_init(&loop) == 0);
    uv_timer_init(&loop, &timer);
    uv_timer_init(&loop, &second_timer);
    uv_idle_init(&loop, &idle);
    uv_prepare_init(&loop, &prepare);
    uv_check_init(&loop, &check);
    timer.data = second_timer.data = idle.data = prepare.data = check.data = this;
  }
  ~Phases() { CHECK(uv_loop_close(&loop) == 0); }

  template <typename Handle>
  static Phases& Of(Handle* handle) {
    return *static_cast<Phases*>(handle->data);
  }
  void CloseAll() {
    uv_close(AsHandle(timer), [](uv_handle_t* handle) { Of(handle).calls.push_back("closed timer"); });
    uv_close(AsHandle(idle), [](uv_handle_t* handle) { Of(handle).calls.push_back("closed idle"); });
    uv_close(AsHandle(second_timer), nullptr);
    uv_close(AsHandle(prepare), nullptr);
    uv_close(AsHandle(check), [](uv_handle_t* handle) { Of(handle).calls.push_back("closed check"); });
  }

  uv_loop_t loop;
  uv_timer_t timer;
  uv_timer_t second_timer;
  uv_idle_t idle;
  uv_prepare_t prepare;
  uv_check_t check;
  std::vector<std::string> calls;
};

using Calls = std::vector<std::string>;

TEST_CASE("a turn of a loop is timers, idle, prepare, poll, check, closing; handles close in reverse order") {
  Phases phases;
  uv_timer_start(
      &phases.timer, [](uv_timer_t* handle) { Phases::Of(handle).calls.push_back("timer"); }, 0, 0);
  uv_idle_start(&phases.idle, [](uv_idle_t* handle) { Phases::Of(handle).calls.push_back("idle"); });
  uv_prepare_start(&phases.prepare,
                   [](uv_prepare_t* handle) { Phases::Of(handle).calls.push_back("prepare"); });
  uv_check_start(&phases.check, [](uv_check_t* handle) {
    Phases::Of(handle).calls.push_back("check");
    Phases::Of(handle).CloseAll();
  });
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
  CHECK(phases.calls ==
        Calls{"timer", "idle", "prepare", "check", "closed check", "closed idle", "closed timer"});
}

TEST_CASE("timers fire in the order of their times; those of one time in the order of their start") {
  Phases phases;
  const auto first = [](uv_timer_t* handle) { Phases::Of(handle).calls.push_back("first"); };
  const auto second = [](uv_timer_t* handle) { Phases::Of(handle).calls.push_back("second"); };
  uv_timer_start(&phases.timer, first, 1, 0);
  uv_timer_start(&phases.second_timer, second, 0, 0);
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
  uv_timer_start(&phases.timer, first, 1, 0);
  uv_timer_start(&phases.second_timer, second, 1, 0);
  uv_timer_start(&phases.timer, first, 1, 0);  // starting again puts it last
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
  CHECK(phases.calls == Calls{"second", "first", "second", "first"});
  phases.CloseAll();
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
}

// Since libuv 1.48 the next turn.
TEST_CASE("a timer that a timer's callback starts without delay fires in the same turn, or in the next one") {
  Phases phases;
  uv_timer_start(
      &phases.timer,
      [](uv_timer_t* handle) {
        Phases::Of(handle).calls.push_back("timer");
        uv_timer_start(
            &Phases::Of(handle).second_timer,
            [](uv_timer_t* second) { Phases::Of(second).calls.push_back("second"); }, 0, 0);
      },
      0, 0);
  uv_prepare_start(&phases.prepare,
                   [](uv_prepare_t* handle) { Phases::Of(handle).calls.push_back("prepare"); });
  uv_check_start(&phases.check, [](uv_check_t* handle) {
    Phases& all = Phases::Of(handle);
    if (std::ranges::find(all.calls, "second") != all.calls.end()) all.CloseAll();
  });
  uv_idle_start(&phases.idle, [](uv_idle_t*) {});
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
  phases.calls.resize(3);
  const bool same_turn = UV_VERSION_HEX < 0x013000;
  CHECK(phases.calls ==
        (same_turn ? Calls{"timer", "second", "prepare"} : Calls{"timer", "prepare", "second"}));
}

TEST_CASE("a loop with an active idle handle does not wait for its timers") {
  Phases phases;
  uv_timer_start(
      &phases.timer, [](uv_timer_t* handle) { Phases::Of(handle).calls.push_back("timer"); }, 3'600'000, 0);
  uv_idle_start(&phases.idle, [](uv_idle_t* handle) {
    Phases::Of(handle).calls.push_back("idle");
    if (Phases::Of(handle).calls.size() == 3) Phases::Of(handle).CloseAll();
  });
  CHECK(uv_run(&phases.loop, UV_RUN_DEFAULT) == 0);
  CHECK(phases.calls == Calls{"idle", "idle", "idle", "closed check", "closed idle", "closed timer"});
}

}  // namespace
}  // namespace mayfly::net
