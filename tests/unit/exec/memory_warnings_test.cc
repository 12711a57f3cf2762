#include "exec/memory/memory_warnings.h"

#include "support/catch.h"

namespace mayfly {
namespace {

using Request = config::MaxMemory::Request;

constexpr uint64_t kMb = uint64_t{1} << 20;
constexpr uint64_t kGb = uint64_t{1} << 30;
constexpr MemoryFacts kMachine = {.memory_bytes = 16 * kGb, .region_bytes = 64 * kGb, .used_bytes = 2 * kMb};

std::vector<std::string> WarningsOf(uint64_t bytes, const MemoryFacts& facts = kMachine) {
  return MemoryWarnings({Request::kBytes, bytes, bytes}, facts);
}

TEST_CASE("a maxmemory that fits has no warning") {
  for (const uint64_t bytes : {uint64_t{0}, 2 * kMb, 16 * kGb}) CHECK(WarningsOf(bytes).empty());
}

TEST_CASE("a number of megabytes without its unit is warned of") {
  REQUIRE(WarningsOf(100).size() == 1);
  CHECK(WarningsOf(100)[0] ==
        "maxmemory is 100B: a number without a unit is bytes. Megabytes are written 100mb");
  CHECK(WarningsOf(999)[0].ends_with(": a number without a unit is bytes. Megabytes are written 999mb"));
}

TEST_CASE("a maxmemory that may have a unit, and is too small, is not called a number without one") {
  for (const uint64_t bytes : {uint64_t{1000}, uint64_t{1024}, kMb - 1}) {
    REQUIRE(WarningsOf(bytes).size() == 1);
    CHECK(WarningsOf(bytes)[0].find("without a unit") == std::string::npos);
  }
  CHECK(WarningsOf(1024)[0] ==
        "maxmemory is 1.00K, and the program itself takes more: writes will be refused. Sizes have units, as "
        "in "
        "100mb");
}

TEST_CASE("a maxmemory below what is used is warned of") {
  REQUIRE(WarningsOf(kMb).size() == 1);
  CHECK(WarningsOf(kMb)[0] ==
        "maxmemory is 1.00M, but 2.00M are used: keys will be evicted, or writes refused");
}

TEST_CASE("a maxmemory above the memory, or above the reserved region, is warned of") {
  REQUIRE(WarningsOf(16 * kGb + 1).size() == 1);
  CHECK(WarningsOf(16 * kGb + 1)[0].find("may use no more than 16.00G") != std::string::npos);
  CHECK(WarningsOf(100 * kGb).size() == 2);
  const MemoryFacts large = {.memory_bytes = 512 * kGb, .region_bytes = 64 * kGb};
  REQUIRE(WarningsOf(65 * kGb, large).size() == 1);
  CHECK(WarningsOf(65 * kGb, large)[0].find("no room beyond 64.00G") != std::string::npos);
  CHECK(MemoryWarnings({Request::kAuto, 0, 384 * kGb}, large).size() == 1);
  const MemoryFacts unknown = {.memory_bytes = 0, .region_bytes = 64 * kGb};
  CHECK(WarningsOf(64 * kGb, unknown).empty());
}

TEST_CASE("limits of namespaces that promise more than there is are warned of") {
  config::Settings settings;
  settings.maxmemory = {Request::kBytes, 10 * kMb, 10 * kMb};
  settings.namespaces = {{.name = "a", .prefix = "a:", .maxmemory_bytes = 6 * kMb, .maxkeys = 60},
                         {.name = "b", .prefix = "b:", .maxmemory_bytes = 3 * kMb, .maxkeys = 50}};
  CHECK(NamespaceWarnings(settings, kMb).empty());
  settings.maxkeys = 100;
  CHECK(
      NamespaceWarnings(settings, 2 * kMb) ==
      std::vector<std::string>{
          "the maxmemory limits of the namespaces are 9.00M together, and maxmemory has 8.00M for them: they "
          "bound the namespaces, but promise them nothing",
          "the maxkeys limits of the namespaces are 110 together, and maxkeys is 100: they bound the "
          "namespaces, but promise them nothing"});
  settings.maxmemory = {Request::kBytes, 0, 0};
  settings.maxkeys = 110;
  CHECK(NamespaceWarnings(settings, 2 * kMb).empty());
}

}  // namespace
}  // namespace mayfly
