#include "base/log/log_throttle.h"

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("the first event is reported at once, and those of the interval after it as a sum at its end") {
  LogThrottle throttle(1000);
  CHECK(throttle.NextReport() == LogThrottle::kNever);
  CHECK(throttle.Note(5000) == 1);
  CHECK(throttle.NextReport() == LogThrottle::kNever);
  CHECK(throttle.Note(5000) == 0);
  CHECK(throttle.Note(5999) == 0);
  CHECK(throttle.NextReport() == 6000);
  CHECK(throttle.Due(5999) == 0);
  CHECK(throttle.Due(6000) == 2);
  CHECK(throttle.Due(6000) == 0);
  CHECK(throttle.NextReport() == LogThrottle::kNever);
}

TEST_CASE(
    "an event after the interval reports the sum itself, and one after a silence is a first one again") {
  LogThrottle throttle(1000);
  CHECK(throttle.Note(0) == 1);
  CHECK(throttle.Note(1) == 0);
  CHECK(throttle.Note(1000) == 2);
  CHECK(throttle.Note(1001) == 0);
  CHECK(throttle.Due(2000) == 1);
  CHECK(throttle.Note(9000) == 1);
}

}  // namespace
}  // namespace mayfly
