// The link to a master in unlucky moments: what breaks it, what does not, what is told, and what a hostile master gets.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/replicas/replica_world.h"

namespace mayfly::testing {
namespace {

class ReplicaLinkTest : public ReplicaTest {
 public:
  // What only Mayfly knows, in its master's stream.
  void Fact(const std::string& message) { Command({"PUBLISH", "__mayfly__", message}); }
  std::vector<Words> KeysWithTtl(int keys) {
    std::vector<Words> requests;
    for (int i = 0; i < keys; ++i) requests.push_back({"SET", "k" + std::to_string(i), "v", "PX", "100"});
    return requests;
  }
};

}  // namespace

TEST_CASE_METHOD(ReplicaLinkTest,
                 "a cutoff frees few keys at once, and the others in slices, but none beside a script") {
  constexpr int kKeys = 2000;
  const std::string file = FileWith(KeysWithTtl(kKeys));
  const int64_t deadline = WallMs() + 100;
  SyncWithMayfly(file);
  AdvanceTime(200);
  CHECK(Run({"DBSIZE"}) == Integer(kKeys));
  Fact("t" + std::to_string(deadline));
  const int64_t left = Run({"DBSIZE"}).integer;
  CHECK(left > kKeys / 2);
  // A script that runs must not see keys go.
  server().server.modes |= BitOf(Mode::kBusy);
  for (int i = 0; i < 100; ++i) Slice();
  server().server.modes &= ~BitOf(Mode::kBusy);
  CHECK(Run({"DBSIZE"}) == Integer(left));
  server().hubs.wakes.Tell();
  for (int i = 0; i < 1000; ++i) Slice();
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(
    ReplicaLinkTest,
    "a fact within a fact is refused, however deep, and facts for absent databases are no failures") {
  SyncWithMayfly(FileWith({{"SET", "a", "1"}}));
  std::string message = "c" + EncodeRequest({"DEL", "a"});
  for (int i = 0; i < 100; ++i) message = "c" + EncodeRequest({"PUBLISH", "__mayfly__", message});
  Fact(message);
  CHECK(Run({"EXISTS", "a"}) == Integer(1));
  CHECK(Replication("master_failed_commands") == "1");
  Command({"SELECT", "99"});
  CHECK(Replication("master_failed_commands") == "2");
  Fact("kxyz");
  CHECK(Replication("master_failed_commands") == "2");
  Command({"SELECT", "0"});
  for (const std::string& wrong :
       {std::string(), std::string("z"), std::string("t"), std::string("t-5"), std::string("tx"),
        std::string("k"), std::string("c"), std::string("c*1\r\n")})
    Fact(wrong);
  CHECK(Replication("master_failed_commands") == "10");
  CHECK(Replication("master_link_status") == "up");
}

TEST_CASE_METHOD(ReplicaLinkTest, "failures are counted from the last full synchronisation on") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  Sync(file, 0);
  Command({"LPUSH", "a", "x"});
  CHECK(Replication("master_failed_commands") == "1");
  master().Answer("*1\r\nnonsense\r\n");
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  CHECK(Replication("master_failed_commands") == "0");
}

TEST_CASE_METHOD(
    ReplicaLinkTest,
    "a master that hangs up while its whole file is loaded does no harm: the stream goes on later") {
  std::vector<Words> requests;
  for (int i = 0; i < 300; ++i) requests.push_back({"SET", "k" + std::to_string(i), "new"});
  const std::string file = FileWith(requests);
  Connect();
  AnswerFull(100);
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  WorkUntil([this] { return snapshots().loading(); });
  REQUIRE(snapshots().loading());
  master().HangUp();
  FinishSync();
  CHECK(Run({"DBSIZE"}) == Integer(300));
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC " + kHistory + " 101");
  master().Answer("+CONTINUE\r\n");
  CHECK(Replication("master_link_status") == "up");
  CHECK(Replication("master_full_syncs") == "1");
}

TEST_CASE_METHOD(ReplicaLinkTest,
                 "a Redis that takes the place of a Mayfly as the master is not trusted as one") {
  const bool is_mayfly = GENERATE(true, false);
  CAPTURE(is_mayfly);
  SyncWithMayfly(FileWith({{"SET", "a", "1"}}), 100);
  master().HangUp();
  AdvanceTime(MasterLink::kRetryMs);
  master().Accept();
  master().Answer("+PONG\r\n");
  master().Answer("+OK\r\n");
  master().Answer(is_mayfly ? "+OK mayfly\r\n" : "+OK\r\n");
  master().Answer("+CONTINUE\r\n");
  REQUIRE(Replication("master_link_status") == "up");
  Command({"PUBLISH", "__mayfly__", "c*2\r\n$3\r\nDEL\r\n$1\r\na\r\n"});
  CHECK(Run({"EXISTS", "a"}) == Integer(is_mayfly ? 0 : 1));
}

TEST_CASE_METHOD(ReplicaLinkTest, "an answer without an end does not fill memory") {
  Run({"REPLICAOF", "there", "7000"});
  AdvanceTime(0);
  master().Accept();
  const std::string piece(10'000, 'x');
  for (int i = 0; i < 100 && !master().closed(); ++i) master().Answer(piece);
  CHECK(master().closed());
  AdvanceTime(MasterLink::kRetryMs);
  CHECK(targets.count() == 2);
}

TEST_CASE_METHOD(ReplicaLinkTest, "a half command of the master is counted as memory") {
  Sync(FileWith({}), 0);
  const uint64_t before = server().hubs.accounts.Sum();
  master().Answer("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1000000\r\n" + std::string(900'000, 'x'));
  CHECK(server().hubs.accounts.Sum() - before > 800'000);
  master().Answer(std::string(100'000, 'x') + "\r\n");
  CHECK(Run({"STRLEN", "a"}) == Integer(1'000'000));
}

TEST_CASE_METHOD(ReplicaLinkTest, "a client that a pause holds up goes on at a replica, and is not closed") {
  TestClient& writer = SnapshotTest::Connect();
  TestClient& reader = SnapshotTest::Connect();
  REQUIRE(Run({"CLIENT", "PAUSE", "1000", "ALL"}) == Ok());
  CHECK(writer.RunRaw("SET a 1\r\n").empty());
  CHECK(reader.RunRaw("GET a\r\n").empty());
  server().server.options.FollowMaster({.host = "there", .port = 7000});
  MasterLink::Of(server().server).Follow({.host = "there", .port = 7000}, now());
  AdvanceTime(1000);
  CHECK(writer.RunRaw("").starts_with("-READONLY"));
  CHECK(reader.RunRaw("") == "$-1\r\n");
  CHECK_FALSE(reader.session().closes());
}

TEST_CASE_METHOD(ReplicaLinkTest,
                 "a long absence of the master is logged once a minute, and each new reason at once") {
  const std::string name = "mayfly-link-" + std::to_string(getpid());
  const std::string path = (std::filesystem::temp_directory_path() / name).string();
  {
    Log log(server().clock, Log::Level::kWarning, path);
    server().server.log = &log;
    Run({"REPLICAOF", "there", "7000"});
    for (int s = 0; s < 150; ++s) {
      AdvanceTime(MasterLink::kRetryMs);
      master().Refuse();
    }
    AdvanceTime(MasterLink::kRetryMs);
    master().FindNoAddress();
    server().server.log = nullptr;
  }
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  const auto count = [&](const std::string& what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count("it cannot be connected to") >= 2);
  CHECK(count("it cannot be connected to") <= 4);
  CHECK(count("its name is not known") == 1);
}

}  // namespace mayfly::testing
