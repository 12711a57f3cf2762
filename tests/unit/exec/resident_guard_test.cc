#include "exec/memory/resident_guard.h"

#include "support/catch.h"

namespace mayfly {
namespace {

constexpr uint64_t kMegabyte = 1 << 20;

// A kernel that counts what it is told: used bytes, holes between them, and pages that nobody uses.
struct FakeMemory final : ProcessMemory {
  uint64_t ResidentBytes() noexcept override { return unknown ? 0 : used + holes + unused; }
  void Purge() noexcept override {
    ++purges;
    unused = 0;
  }
  void PurgeSoon() noexcept override { ++purges_soon; }
  void PurgeOld() noexcept override { ++purges_old; }

  uint64_t used = 0;
  uint64_t holes = 0;
  uint64_t unused = 0;
  bool unknown = false;
  int purges = 0;
  int purges_soon = 0;
  int purges_old = 0;
};

struct Guarded {
  explicit Guarded(uint64_t limit) : guard(&memory, limit) {}
  // As much passes through the allocator as it takes.
  void Look() {
    while (!guard.Due(churned)) churned += kMegabyte;
    guard.Look(churned, memory.used, maxmemory);
  }

  FakeMemory memory;
  ResidentGuard guard;
  uint64_t churned = 0;
  uint64_t maxmemory = 96 * kMegabyte;
};

}  // namespace

TEST_CASE("a guard follows a limit that is lowered or raised, from its next look on, which comes soon") {
  Guarded guarded(512 * kMegabyte);
  guarded.memory.used = 100 * kMegabyte;
  guarded.Look();
  CHECK_FALSE(guarded.guard.pressed());
  guarded.guard.SetLimit(100 * kMegabyte);
  CHECK(guarded.guard.Due(guarded.churned + 2 * kMegabyte));
  guarded.Look();
  CHECK(guarded.guard.pressed());
  guarded.guard.SetLimit(512 * kMegabyte);
  guarded.Look();
  CHECK_FALSE(guarded.guard.pressed());
}

TEST_CASE("a guard looks once in a while, by what went through the allocator, and never without a kernel") {
  Guarded guarded(128 * kMegabyte);
  CHECK_FALSE(guarded.guard.Due(0));
  CHECK(guarded.guard.Due(16 * kMegabyte));
  guarded.guard.Look(16 * kMegabyte, 0, guarded.maxmemory);
  CHECK_FALSE(guarded.guard.Due(16 * kMegabyte));
  CHECK(guarded.guard.Due(20 * kMegabyte));
  const ResidentGuard none(nullptr, 128 * kMegabyte);
  CHECK_FALSE(none.Due(uint64_t{1} << 40));
}

TEST_CASE("pages that nobody uses are given back when they are many, by somebody else") {
  Guarded guarded(0);
  guarded.memory.used = 50 * kMegabyte;
  guarded.memory.unused = 12 * kMegabyte;
  guarded.Look();
  CHECK(guarded.memory.purges_soon == 0);
  guarded.memory.unused = 13 * kMegabyte;
  guarded.Look();
  CHECK(guarded.memory.purges_soon == 1);
  CHECK(guarded.memory.purges == 0);
  guarded.maxmemory = 1000 * kMegabyte;  // of more memory more may wait
  guarded.memory.unused = 120 * kMegabyte;
  guarded.Look();
  CHECK(guarded.memory.purges_soon == 1);
  CHECK_FALSE(guarded.guard.pressed());
}

TEST_CASE("near the limit pages are given back at once, and if that is enough no key has to go") {
  Guarded guarded(128 * kMegabyte);
  guarded.memory.used = 96 * kMegabyte;
  guarded.memory.unused = 30 * kMegabyte;
  guarded.Look();
  CHECK(guarded.memory.purges == 1);
  CHECK_FALSE(guarded.guard.pressed());
  CHECK(guarded.guard.Allowed(guarded.maxmemory) == guarded.maxmemory);
}

TEST_CASE(
    "the nearer the limit, the less of maxmemory may be used; and all of it again when memory is free") {
  Guarded guarded(128 * kMegabyte);
  guarded.memory.used = 96 * kMegabyte;
  uint64_t before = guarded.maxmemory;
  for (guarded.memory.holes = 20 * kMegabyte; guarded.memory.holes <= 27 * kMegabyte;
       guarded.memory.holes += kMegabyte) {
    guarded.Look();
    CHECK(guarded.guard.pressed());
    CHECK(guarded.guard.Allowed(guarded.maxmemory) < before);
    before = guarded.guard.Allowed(guarded.maxmemory);
  }
  CHECK(before < guarded.maxmemory / 4);
  guarded.memory.holes = 50 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(guarded.maxmemory) == guarded.maxmemory / 16);
  guarded.memory.holes = 5 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(guarded.maxmemory) == guarded.maxmemory);
}

TEST_CASE("where the limit or the kernel's count is unknown no key has to go") {
  Guarded without_limit(0);
  without_limit.memory.used = 500 * kMegabyte;
  without_limit.Look();
  CHECK_FALSE(without_limit.guard.pressed());
  Guarded unknown(128 * kMegabyte);
  unknown.memory.used = 500 * kMegabyte;
  unknown.memory.unknown = true;
  unknown.Look();
  CHECK_FALSE(unknown.guard.pressed());
  CHECK(unknown.memory.purges + unknown.memory.purges_soon == 0);
}

TEST_CASE("the next look comes after a part of maxmemory went through the allocator, within bounds") {
  struct Step {
    uint64_t maxmemory;
    uint64_t bytes;
  };
  for (const Step& step :
       {Step{0, 2 * kMegabyte}, Step{64 * kMegabyte, 2 * kMegabyte}, Step{256 * kMegabyte, 4 * kMegabyte},
        Step{1024 * kMegabyte, 16 * kMegabyte}, Step{100'000 * kMegabyte, 16 * kMegabyte}}) {
    Guarded guarded(0);
    guarded.maxmemory = step.maxmemory;
    guarded.Look();
    CAPTURE(step.maxmemory);
    CHECK_FALSE(guarded.guard.Due(guarded.churned + step.bytes - 1));
    CHECK(guarded.guard.Due(guarded.churned + step.bytes));
  }
}

TEST_CASE(
    "after pages had to go at once, or with a new limit, the next look comes soon, however large maxmemory "
    "is") {
  Guarded guarded(2000 * kMegabyte);
  guarded.maxmemory = 1024 * kMegabyte;
  guarded.memory.used = 1000 * kMegabyte;
  guarded.memory.unused = 900 * kMegabyte;
  guarded.Look();
  REQUIRE(guarded.memory.purges == 1);
  CHECK_FALSE(guarded.guard.Due(guarded.churned + 2 * kMegabyte - 1));
  CHECK(guarded.guard.Due(guarded.churned + 2 * kMegabyte));
  guarded.Look();
  REQUIRE(guarded.memory.purges == 1);
  CHECK_FALSE(guarded.guard.Due(guarded.churned + 16 * kMegabyte - 1));
  guarded.guard.SetLimit(1900 * kMegabyte);
  CHECK(guarded.guard.Due(guarded.churned + 2 * kMegabyte));
}

TEST_CASE(
    "pages are given back at once above 90 percent of the limit, and from 97 percent on the least share "
    "stays") {
  Guarded guarded(1000 * kMegabyte);
  guarded.maxmemory = 640 * kMegabyte;
  guarded.memory.holes = 900 * kMegabyte;
  guarded.Look();
  CHECK(guarded.memory.purges == 0);
  CHECK_FALSE(guarded.guard.pressed());
  guarded.memory.holes = 900 * kMegabyte + 1;
  guarded.Look();
  CHECK(guarded.memory.purges == 1);
  CHECK(guarded.memory.purges_soon == 1);  // of the look before: it was much, but below the limit
  guarded.memory.holes = 935 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(guarded.maxmemory) == guarded.maxmemory / 2);
  guarded.memory.holes = 962 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(guarded.maxmemory) > guarded.maxmemory / 16);
  guarded.memory.holes = 970 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(guarded.maxmemory) == guarded.maxmemory / 16);
}

TEST_CASE("pages that nobody uses may be an eighth of maxmemory, within bounds") {
  struct Slack {
    uint64_t maxmemory;
    uint64_t bytes;
  };
  for (const Slack& slack :
       {Slack{0, 12 * kMegabyte}, Slack{96 * kMegabyte, 12 * kMegabyte},
        Slack{800 * kMegabyte, 100 * kMegabyte}, Slack{8192 * kMegabyte, 1024 * kMegabyte},
        Slack{100'000 * kMegabyte, 1024 * kMegabyte}}) {
    Guarded guarded(0);
    guarded.maxmemory = slack.maxmemory;
    guarded.memory.unused = slack.bytes;
    guarded.Look();
    CAPTURE(slack.maxmemory);
    CHECK(guarded.memory.purges_soon == 0);
    guarded.memory.unused = slack.bytes + 1;
    guarded.Look();
    CHECK(guarded.memory.purges_soon == 1);
  }
}

TEST_CASE("maxmemory 0 stays without a limit") {
  Guarded guarded(128 * kMegabyte);
  guarded.maxmemory = 0;
  guarded.memory.used = 127 * kMegabyte;
  guarded.Look();
  CHECK(guarded.guard.Allowed(0) == 0);
}

TEST_CASE("pages that stay unused are looked for after each 8 MB that went through the allocator") {
  Guarded guarded(0);
  guarded.guard.EndTurn(8 * kMegabyte - 1);
  CHECK(guarded.memory.purges_old == 0);
  guarded.guard.EndTurn(8 * kMegabyte);
  guarded.guard.EndTurn(16 * kMegabyte - 1);
  CHECK(guarded.memory.purges_old == 1);
  guarded.guard.EndTurn(80 * kMegabyte);
  guarded.guard.EndTurn(80 * kMegabyte);
  CHECK(guarded.memory.purges_old == 2);
}

}  // namespace mayfly
