#include "net/process/stop_deadline.h"

#include <signal.h>

#include <cstddef>
#include <iterator>

#include "base/log/crash_report.h"
#include "support/catch.h"

#include <sys/time.h>

namespace mayfly::net {
namespace {

int handled = 0;
void OnSignal(int) { ++handled; }

// The signals of a stop have a handler, and later those from before.
class Handlers {
 public:
  Handlers() {
    handled = 0;
    for (size_t i = 0; i < std::size(kSignals); ++i) {
      struct sigaction action{};
      action.sa_handler = OnSignal;
      sigaction(kSignals[i], &action, &before_[i]);
    }
  }
  ~Handlers() {
    for (size_t i = 0; i < std::size(kSignals); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr int kSignals[] = {SIGTERM, SIGINT, SIGALRM};
  struct sigaction before_[std::size(kSignals)];
};

struct Nobody final : CrashDetails {
  void Append(CrashText&) const noexcept override {}
};

// A process with so much time to stop that no test sees its end.
class StopDeadlineTest {
 public:
  static constexpr int64_t kSeconds = 10'000;
  static constexpr int64_t kMore = 50'000;

  StopDeadlineTest() { deadline.Watch(witness_); }
  // The time until the alarm, one of kSeconds and kMore if it began just now; 0: there is no alarm.
  static int64_t Left() {
    itimerval timer{};
    REQUIRE(getitimer(ITIMER_REAL, &timer) == 0);
    if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) return 0;
    return timer.it_value.tv_sec < kSeconds ? kSeconds : kMore;
  }

 private:
  const Handlers handlers_;
  const Nobody witness_;

 public:
  StopDeadline deadline{"", kSeconds};
};

}  // namespace

TEST_CASE_METHOD(StopDeadlineTest, "the first signal begins the time to stop, and further ones do not") {
  CHECK(Left() == 0);
  raise(SIGTERM);
  CHECK(Left() == kSeconds);
  deadline.set_seconds(kMore);
  raise(SIGTERM);
  raise(SIGINT);
  CHECK(handled == 3);
  CHECK(Left() == kSeconds);
  deadline.Begin();
  CHECK(Left() == kSeconds);
}

TEST_CASE_METHOD(StopDeadlineTest, "a stop without a signal has its time from its beginning on") {
  deadline.Begin();
  CHECK(Left() == kSeconds);
  deadline.set_seconds(kMore);
  raise(SIGINT);
  CHECK(Left() == kSeconds);
}

TEST_CASE_METHOD(StopDeadlineTest, "while a stop is held its time does not run, whatever signals come") {
  raise(SIGTERM);
  deadline.Hold();
  CHECK(Left() == 0);
  raise(SIGTERM);
  deadline.Begin();
  CHECK(handled == 2);
  CHECK(Left() == 0);
  deadline.Continue();
  CHECK(Left() == 0);
  deadline.set_seconds(kMore);
  raise(SIGINT);
  CHECK(Left() == kMore);
}

TEST_CASE_METHOD(StopDeadlineTest, "a stop that begins after its signal has all its time then") {
  raise(SIGTERM);
  if (GENERATE(false, true)) deadline.Hold();
  deadline.set_seconds(kMore);
  deadline.Restart();
  CHECK(Left() == kMore);
  deadline.set_seconds(kSeconds);
  raise(SIGTERM);
  CHECK(Left() == kMore);
}

}  // namespace mayfly::net
