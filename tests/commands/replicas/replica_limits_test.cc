// Limits at a replica: which do not hold for its master's stream, and how much of the stream a turn runs.
#include <algorithm>
#include <string>

#include "commands/replicas/replica_world.h"

namespace mayfly::testing {

TEST_CASE_METHOD(ReplicaTest,
                 "a master's values may be longer than proto-max-bulk-len, the limit of clients") {
  SetOption("proto-max-bulk-len", "1mb");
  Sync(FileWith({}));
  const std::string value(2'000'000, 'v');
  Command({"SELECT", "0"});
  Command({"SET", "k", value});
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"STRLEN", "k"}) == Integer(2'000'000));
  SECTION("nor has an edit the limit") {
    Command({"APPEND", "k", value});
    Command({"SETRANGE", "k", "5000000", "x"});
    Command({"SETBIT", "k", "48000000", "1"});
    Command({"BITFIELD", "k", "SET", "u8", "56000000", "1"});
    CHECK(Run({"STRLEN", "k"}) == Integer(7'000'001));
  }
  SECTION("nor a transaction") {
    Command({"MULTI"});
    Command({"SET", "a", value});
    Command({"SET", "b", "1"});
    Command({"EXEC"});
    CHECK(Run({"STRLEN", "a"}) == Integer(2'000'000));
    CHECK(Run({"GET", "b"}) == Bulk("1"));
  }
  CHECK(Replication("master_link_status") == "up");
  CHECK(Replication("master_failed_commands") == "0");
  TestClient& client = CommandTest::Connect();
  CHECK(client.RunRaw("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$2000000\r\n")
            .starts_with("-ERR Protocol error: invalid bulk"));
}

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
