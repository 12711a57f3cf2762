#include "server/figures/error_stats.h"

#include "support/catch.h"

namespace mayfly {
namespace {

TEST_CASE("errors are counted by their codes, and those without one as ERR") {
  ErrorStats stats;
  stats.Count("OOM", 1);
  stats.Count("", 2);
  stats.Count("ERR", 3);
  CHECK(stats.counts() == std::map<std::string, uint64_t>{{"ERR", 5}, {"OOM", 1}});
}

TEST_CASE("made-up codes take a limited amount of memory") {
  ErrorStats stats;
  const size_t codes = ErrorStats::kCodesMax + 100;
  for (size_t i = 0; i < codes; ++i) stats.Count("CODE" + std::to_string(i), 1);
  stats.Count("CODE0", 1);
  CHECK(stats.counts().size() == ErrorStats::kCodesMax + 1);
  CHECK(stats.counts().at(std::string(ErrorStats::kOthers)) == 100);
  CHECK(stats.counts().at("CODE0") == 2);
}

}  // namespace
}  // namespace mayfly
