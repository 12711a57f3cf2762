#include "base/fiber.h"

#include <stdexcept>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

struct Journey {
  Fiber fiber;
  std::string log;
};

Journey& Of(void* argument) { return *static_cast<Journey*>(argument); }

}  // namespace

TEST_CASE("a job goes on where it stopped, as often as it stops") {
  Journey journey;
  const auto job = [](void* argument) {
    std::vector<std::string> kept = {"a", "b", "c"};
    for (const std::string& word : kept) {
      Of(argument).log += word;
      Of(argument).fiber.Suspend();
    }
    Of(argument).log += "!";
  };
  for (int round = 0; round < 3; ++round) {
    journey.log.clear();
    CHECK_FALSE(journey.fiber.Run(job, &journey));
    CHECK(journey.log == "a");
    CHECK_FALSE(journey.fiber.Resume());
    CHECK_FALSE(journey.fiber.Resume());
    CHECK(journey.log == "abc");
    CHECK(journey.fiber.suspended());
    CHECK(journey.fiber.Resume());
    CHECK(journey.log == "abc!");
  }
}

TEST_CASE("what a job throws reaches whoever made it go on") {
  Journey journey;
  const auto job = [](void* argument) {
    if (Of(argument).log.empty()) throw std::runtime_error("at once");
    Of(argument).fiber.Suspend();
    throw std::runtime_error("later");
  };
  CHECK_THROWS_WITH(journey.fiber.Run(job, &journey), "at once");
  journey.log = "x";
  CHECK_FALSE(journey.fiber.Run(job, &journey));
  CHECK_THROWS_WITH(journey.fiber.Resume(), "later");
  CHECK(journey.fiber.Run([](void*) {}, nullptr));
}

TEST_CASE("a job may throw and catch on its own stack while it is stopped in between") {
  Journey journey;
  const auto job = [](void* argument) {
    for (int i = 0; i < 2; ++i) {
      try {
        throw std::runtime_error("inner");
      } catch (const std::runtime_error&) {
        Of(argument).log += 'c';
      }
      Of(argument).fiber.Suspend();
    }
  };
  CHECK_FALSE(journey.fiber.Run(job, &journey));
  try {
    throw std::runtime_error("outer");
  } catch (const std::runtime_error&) {
    journey.log += 'o';
  }
  CHECK_FALSE(journey.fiber.Resume());
  CHECK(journey.fiber.Resume());
  CHECK(journey.log == "coc");
}

TEST_CASE("a fiber that never had a job needs no stack") {
  const Fiber fiber;
  CHECK_FALSE(fiber.suspended());
}

}  // namespace mayfly
