// Limits at a replica: which do not hold for its master's stream, and how much of the stream a turn runs.
#include <algorithm>
#include <string>

#include "commands/replica_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(ReplicaTest,
                 "a turn runs a bounded part of a master's stream, and the next turns the rest") {
  Sync(FileWith({}));
  std::string stream = EncodeRequest({"SELECT", "0"});
  constexpr int kKeys = 10'000;
  for (int i = 0; i < kKeys; ++i) stream += EncodeRequest({"SET", "k" + std::to_string(i), "v"});
  size_t left = master().AnswerForOneTurn(stream);
  CHECK(left == stream.size() - MasterLink::kMostHeard);
  CHECK(Run({"EXISTS", "k0", "k9999"}) == Integer(1));
  while (left != 0) {
    const size_t before = left;
    left = master().AnswerForOneTurn({});
    REQUIRE(before - left == std::min(before, MasterLink::kMostHeard));
  }
  CHECK(Run({"DBSIZE"}) == Integer(kKeys));
}

TEST_CASE_METHOD(ReplicaTest, "all that came before the end of a link runs at once") {
  Sync(FileWith({}));
  std::string stream = EncodeRequest({"SELECT", "0"});
  for (int i = 0; i < 10'000; ++i) stream += EncodeRequest({"SET", "k" + std::to_string(i), "v"});
  CHECK(master().AnswerForOneTurn(stream) != 0);
  master().HangUp();
  CHECK(Run({"DBSIZE"}) == Integer(10'000));
}

}  // namespace mayfly::testing
