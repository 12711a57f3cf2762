// A script that runs for long, and an allocation that fails: when its client is parked, while it goes on, when it ends.
#include "base/time/tsc.h"
#include "commands/memory/no_memory_world.h"

namespace mayfly::testing {
namespace {

constexpr size_t kMostAllocations = 200;

// The turns of the loop in which the busy script goes on to its end.
void SliceToEnd(World& world, size_t failing = 0) {
  constexpr int kSlices = 100'000;
  {
    const FailingAllocation failing_allocation(failing);
    for (int i = 0; i < kSlices && world.server.sliced_work.waits(); ++i)
      world.server.sliced_work.RunSlice(world.server.executor.now(), ReadCycles(), 0, 1);
  }
  CHECK_FALSE(world.server.sliced_work.waits());
}

const std::vector<Words> kBefore = {
    {"CONFIG", "SET", "busy-reply-threshold", "1"},
    {"EVAL", "return 1", "0"},
    {"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() while true do end end)"}};

}  // namespace

TEST_CASE("a script that finds no memory to be suspended ends, and one that is suspended can be killed") {
  for (const Words& call : {Words{"EVAL", "while true do end", "0"}, Words{"FCALL", "f", "0"}}) {
    bool failed = true;
    size_t suspended = 0;
    for (size_t nth = 1; failed && nth < kMostAllocations; ++nth) {
      CAPTURE(call, nth);
      World world(kBefore);
      world.Run(world.client, call, nth);
      failed = AllocationFailed();
      if (world.client.parked != nullptr) {
        ++suspended;
        world.Run(world.bystander, {call[0] == "EVAL" ? "SCRIPT" : "FUNCTION", "KILL"});
        CHECK(OutputText(world.bystander.output) == "+OK\r\n");
      }
      SliceToEnd(world);
      world.RunWoken();
      CHECK(world.client.parked == nullptr);
      CHECK(world.Works());
    }
    CHECK_FALSE(failed);
    CHECK(suspended > 0);
  }
}

TEST_CASE("a suspended script for which an allocation fails answers all, an error, or nothing any more") {
  const Words call = {"EVAL", "for i = 1, 1e6 do end return {1, ('x'):rep(100000), {err = 'MINE x'}}", "0"};
  bool failed = true;
  for (size_t nth = 1; failed && nth < kMostAllocations; ++nth) {
    CAPTURE(nth);
    World world(kBefore);
    world.Run(world.client, call);
    REQUIRE(world.client.parked != nullptr);
    SliceToEnd(world, nth);
    failed = AllocationFailed();
    world.RunWoken();
    CHECK(world.client.parked == nullptr);
    const std::string text = OutputText(world.client.output);
    const bool is_whole = text == "*3\r\n:1\r\n$100000\r\n" + std::string(100'000, 'x') + "\r\n-MINE x\r\n";
    const bool is_error = text.starts_with("-") && text.find("\r\n") == text.size() - 2;
    CHECK((is_whole || is_error || text.empty()));
    CHECK((failed || is_whole));
    CHECK(world.Works());
  }
  CHECK_FALSE(failed);
}

}  // namespace mayfly::testing
