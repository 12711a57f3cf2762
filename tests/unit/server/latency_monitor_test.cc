#include "server/figures/latency_monitor.h"

#include "support/catch.h"

namespace mayfly {
namespace {

using Samples = std::vector<LatencySample>;

TEST_CASE("work that takes as long as the threshold is a sample, and without a threshold nothing is") {
  LatencyMonitor monitor;
  monitor.Note("command", 1'000'000, 1);
  CHECK(monitor.events().empty());
  monitor.set_threshold_ms(10);
  monitor.Note("command", 9, 1);
  CHECK(monitor.events().empty());
  monitor.Note("command", 10, 1);
  REQUIRE(monitor.events().size() == 1);
  CHECK(monitor.events().at("command").samples() == Samples{{1, 10}});
}

TEST_CASE("of one second the longest is kept") {
  LatencyEvent event;
  event.Add({5, 20});
  event.Add({5, 30});
  event.Add({5, 10});
  event.Add({6, 1});
  CHECK(event.samples() == Samples{{5, 30}, {6, 1}});
  CHECK(event.max_ms() == 30);
}

TEST_CASE("160 samples are kept, and the longest time even after its sample has gone") {
  LatencyEvent event;
  event.Add({0, 99});
  for (int64_t s = 1; s <= 160; ++s) event.Add({s, 7});
  CHECK(event.samples().size() == LatencyEvent::kSamplesMax);
  CHECK(event.samples().front() == LatencySample{1, 7});
  CHECK(event.max_ms() == 99);
}

TEST_CASE("events are forgotten by their name in any case, or all") {
  LatencyMonitor monitor;
  monitor.set_threshold_ms(1);
  for (const char* name : {"a", "b", "c"}) monitor.Note(name, 1, 1);
  CHECK(monitor.Forget("B") == 1);
  CHECK(monitor.Forget("B") == 0);
  CHECK(monitor.ForgetAll() == 2);
  CHECK(monitor.events().empty());
}

}  // namespace
}  // namespace mayfly
