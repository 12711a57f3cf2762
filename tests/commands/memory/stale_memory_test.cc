// Windows and stale values when an allocation fails.
#include <string>
#include <vector>

#include "commands/memory/no_memory_world.h"

namespace mayfly::testing {

TEST_CASE("whichever allocation fails, a window is set or nothing is, and a stale value is one or none") {
  const std::string block(100'000, 'x');
  const std::vector<Words> requests = {
      {"SET", "k", "new", "EX", "100", "STALE", "30"},
      {"SET", "fresh", block, "EX", "100", "STALE", "30"},
      {"SET", "timed", "new", "KEEPTTL"},
      {"EXPIRE", "timed", "200"},
      {"SET", "timed", "new", "KEEPTTL", "STALE", "5"},
      {"COPY", "timed", "copy"},
      {"RENAME", "timed", "renamed"},
      {"APPEND", "timed", "more"},
      {"MSETEX", "2", "timed", "a", "x", "b", "KEEPTTL"},
      {"TAKE", "old", "LEASE", "1000"},
      {"TAKE", "expires", "LEASE", "1000"},
      {"SET", "old", "new", "EX", "10"},
      {"DEL", "old"},
      {"FLUSHALL"},
  };
  for (const Words& request : requests) {
    for (size_t nth = 1; nth < 200; ++nth) {
      World world({{"SET", "k", "v"},
                   {"SET", "timed", "value", "EX", "100", "STALE", "30"},
                   {"SET", "old", "value", "PX", "5", "STALE", "30000"},
                   {"SET", "expires", "value", "PX", "7", "STALE", "30000"}});
      world.server.clock.AdvanceTime(5);
      world.Run(world.bystander, {"EXISTS", "old"});
      world.server.clock.AdvanceTime(2);
      world.Run(world.client, request, nth);
      const bool failed = AllocationFailed();
      INFO(request[0] << " " << request[1 % request.size()] << " " << nth);
      REQUIRE(world.Valid());
      REQUIRE(world.Works());
      if (!failed) break;
    }
  }
}

}  // namespace mayfly::testing
