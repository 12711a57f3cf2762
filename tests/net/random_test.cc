// Random traffic, compared with a model. MAYFLY_SIM_SEED chooses one seed (a failure prints it), MAYFLY_SIM_RUNS
// the number of seeds.
#include <cstdlib>

#include "sim/scenario.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

constexpr uint64_t kFirstSeed = 1;
constexpr uint64_t kDefaultRuns = 20;
constexpr size_t kSteps = 2'000;

uint64_t FromEnvironment(const char* name, uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::stoull(text) : otherwise;
}

Scenario::Tally RunSeed(uint64_t seed, bool sealed = false) {
  Scenario scenario(Choices(seed), sealed);
  scenario.Run(kSteps);
  return scenario.tally();
}

TEST_CASE("in random traffic each client gets exactly the replies to its own requests") {
  const bool sealed = GENERATE(false, true);
  INFO((sealed ? "through a transport" : "plain"));
  Scenario::Tally all;
  const uint64_t only = FromEnvironment("MAYFLY_SIM_SEED", 0);
  const uint64_t first = only != 0 ? only : kFirstSeed;
  const uint64_t runs = only != 0 ? 1 : FromEnvironment("MAYFLY_SIM_RUNS", kDefaultRuns);
  for (uint64_t seed = first; seed < first + runs; ++seed) {
    INFO("MAYFLY_SIM_SEED=" << seed);
    CHECK_NOTHROW(all.Add(RunSeed(seed, sealed)));
  }
  if (only != 0) return;
  // The traffic was not harmless.
  CHECK(all.requests > 2'000 * runs);
  CHECK(all.partial_writes > (sealed ? 20 : 100) * runs);
  CHECK(all.quits > runs);
  CHECK(all.ends > runs);
  CHECK(all.resets > runs);
  CHECK(all.pauses > runs);
  CHECK(all.expired_keys > 100 * runs);
  CHECK(all.stops_in_traffic > runs / 8);
}

TEST_CASE("a seed always gives the same run") {
  const Scenario::Tally first = RunSeed(77);
  const Scenario::Tally second = RunSeed(77);
  CHECK(first.requests == second.requests);
  CHECK(first.bytes_received == second.bytes_received);
  CHECK(first.partial_writes == second.partial_writes);
  CHECK(first.expired_keys == second.expired_keys);
}

}  // namespace
}  // namespace mayfly::sim
