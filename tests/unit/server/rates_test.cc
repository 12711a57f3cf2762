#include "server/figures/rates.h"

#include "support/catch.h"

namespace mayfly {

TEST_CASE("the first instants count as a second, so that the first request is no burst") {
  Rates rates;
  CHECK(rates.At(1000, {.commands = 5}).commands == 0);
  rates.Sample(1000, {.commands = 5});
  CHECK(rates.At(1000, {.commands = 5}).commands == 0);
  CHECK(rates.At(1001, {.commands = 9}).commands == Approx(4));
}

TEST_CASE("a steady stream shows its rate") {
  Rates rates;
  uint64_t commands = 0;
  uint64_t ms = 5000;
  for (; ms < 15000; ms += 10, commands += 20) rates.Sample(ms, {commands, commands * 30, commands * 5});
  const Rates::PerSecond now = rates.At(ms, {commands, commands * 30, commands * 5});
  CHECK(now.commands == Approx(2000));
  CHECK(now.input_bytes == Approx(60000));
  CHECK(now.output_bytes == Approx(10000));
}

TEST_CASE("a burst is forgotten once the window has moved on") {
  Rates rates;
  rates.Sample(0, {});
  rates.Sample(100, {.commands = 1000});
  CHECK(rates.At(200, {.commands = 1000}).commands == Approx(1000));
  for (uint64_t ms = 200; ms <= 2000; ms += 100) rates.Sample(ms, {.commands = 1000});
  CHECK(rates.At(2000, {.commands = 1000}).commands == 0);
}

TEST_CASE("after a silence the rate is taken over all of it") {
  Rates rates;
  rates.Sample(0, {});
  rates.Sample(100, {.commands = 50});
  CHECK(rates.At(10100, {.commands = 60}).commands == Approx(1));
}

TEST_CASE("samples are taken at their spacing, however often the totals are offered") {
  Rates rates;
  for (uint64_t ms = 0; ms < 3000; ++ms) rates.Sample(ms, {.commands = ms});
  CHECK(rates.At(3000, {.commands = 3000}).commands == Approx(1000));
  rates.Reset();
  CHECK(rates.At(3000, {.commands = 0}).commands == 0);
}

}  // namespace mayfly
