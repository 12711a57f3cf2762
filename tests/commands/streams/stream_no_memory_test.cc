// Whichever allocation of a request on a stream fails: groups and consumers agree, and the request succeeds afterwards.
#include <new>

#include "commands/memory/failing_allocation.h"
#include "commands/streams/stream_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(GroupTest,
                 "a delivery for which there is no memory leaves nothing behind, and comes later") {
  server().changes.Unlisten(server().change_log);  // it needs memory where no listener may
  const std::vector<Words> requests{
      {"XREADGROUP", "GROUP", "g", "a", "STREAMS", "s", ">"},
      {"XREADGROUP", "GROUP", "g", "a", "COUNT", "1", "STREAMS", "s", ">"},
      {"XCLAIM", "s", "g", "a", "0", "1-1", "2-1", "FORCE"},
      {"XCLAIM", "s", "g", "a", "0", "1-1", "FORCE", "JUSTID"},
  };
  for (const Words& request : requests) {
    CAPTURE(request);
    size_t failures = 0;
    bool failed = true;
    for (size_t nth = 1; failed; ++nth) {
      CAPTURE(nth);
      Run({"XGROUP", "DESTROY", "s", "g"});
      Run({"XGROUP", "CREATE", "s", "g", "0"});
      Run({"XGROUP", "CREATECONSUMER", "s", "g", "a"});
      {
        TestClient client(server());
        const FailingAllocation failing(nth);
        try {
          client.RunRaw(EncodeRequest(request));
        } catch (const std::bad_alloc&) {
        }
      }
      failed = AllocationFailed();
      failures += failed ? 1 : 0;
      REQUIRE(keyspace().Validate());
      const Reply of_group = AllPending();
      CHECK(Run({"XPENDING", "s", "g", "-", "+", "100", "a"}) == of_group);
      // A consumer that holds what the group does not know would fail here.
      CHECK(Read("a", "0").elements.at(0).elements.at(1).elements.size() == of_group.elements.size());
      Run({"XGROUP", "SETID", "s", "g", "0"});
      CHECK(Read("a") == Delivered("1-1", "2-1", "3-1"));
      CHECK(AllPending().elements.size() == 3);
      CHECK(Run({"XACK", "s", "g", "1-1", "2-1", "3-1"}) == Integer(3));
      CHECK(Read("a", "0") == Delivered());
      REQUIRE(keyspace().Validate());
    }
    CHECK(failures > 3);
  }
}

}  // namespace mayfly::testing
