// REPLICAOF against a master whose every byte the test decides (support/fake_target.h).
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "commands/replicas/replica_world.h"

namespace mayfly::testing {
namespace {

const std::string kOtherHistory(40, 'b');
const Reply kReadOnly = Error("READONLY You can't write against a read only replica.");

// ---- the first synchronisation

TEST_CASE_METHOD(ReplicaTest, "a replica greets its master, receives all keys, and follows its commands") {
  Sync(FileWith({{"SET", "a", "1"}, {"RPUSH", "l", "x", "y"}}));
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  CHECK(Run({"LRANGE", "l", "0", "-1"}) == Array({Bulk("x"), Bulk("y")}));
  Command({"SELECT", "0"});
  Command({"SET", "b", "2"});
  CHECK(Run({"GET", "b"}) == Bulk("2"));
  const size_t bytes = EncodeRequest({"SELECT", "0"}).size() + EncodeRequest({"SET", "b", "2"}).size();
  CHECK(Replication("slave_repl_offset") == std::to_string(100 + bytes));
  CHECK(Run({"ROLE"}) == Array({Bulk("slave"), Bulk("there"), Integer(7000), Bulk("connected"),
                                Integer(static_cast<int64_t>(100 + bytes))}));
}

TEST_CASE_METHOD(ReplicaTest, "a master may send its keys with a mark at their end") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  const std::string mark(40, 'e');
  Connect();
  AnswerFull();
  master().Answer("\n\n$EOF:" + mark + "\r\n");
  const std::string bytes = file + mark;
  for (const char byte : bytes) master().Answer(std::string(1, byte));
  FinishSync();
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "the keys of before are served until the master's are there, and go then") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"SET", "old", "x"});
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file.substr(0, file.size() - 1));
  for (int i = 0; i < 10; ++i) Slice();
  CHECK(Run({"GET", "old"}) == Bulk("x"));
  CHECK(Run({"ROLE"}).elements[3] == Bulk("sync"));
  master().Answer(file.substr(file.size() - 1));
  FinishSync();
  CHECK(Run({"GET", "old"}) == Null());
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest,
                 "while the file is loaded, each key is the old one, or the master's, and never absent") {
  constexpr int kKeys = 500;
  std::vector<Words> requests;
  for (int i = 0; i < kKeys; ++i) requests.push_back({"SET", "k" + std::to_string(i), "new"});
  requests.push_back({"SELECT", "3"});
  requests.push_back({"SET", "k", "new"});
  requests.push_back({"SELECT", "0"});
  const std::string file = FileWith(requests);
  for (int i = 0; i < 2 * kKeys; ++i) Run({"SET", "k" + std::to_string(i), "old", "PX", "50"});
  AdvanceTime(10);
  Connect();
  AnswerFull(0);
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  size_t mixed = 0;
  while (Replication("master_sync_in_progress") == "1") {
    const Reply first = Run({"GET", "k0"});
    const Reply last = Run({"GET", "k" + std::to_string(kKeys - 1)});
    CHECK((first == Bulk("old") || first == Bulk("new")));
    CHECK((last == Bulk("old") || last == Bulk("new")));
    mixed += first == last ? 0 : 1;
    Slice(8);
  }
  CHECK(mixed != 0);
  CHECK(Run({"DBSIZE"}) == Integer(kKeys));
  AdvanceTime(100);
  CHECK(Run({"DBSIZE"}) == Integer(kKeys));
  for (int i = 0; i < kKeys; ++i) CHECK(Run({"GET", "k" + std::to_string(i)}) == Bulk("new"));
  Run({"SELECT", "3"});
  CHECK(Run({"GET", "k"}) == Bulk("new"));
}

TEST_CASE_METHOD(ReplicaTest,
                 "who is made a master while it loads the master's file refuses clients until it has all") {
  std::vector<Words> requests;
  for (int i = 0; i < 100; ++i) requests.push_back({"SET", "k" + std::to_string(i), "new"});
  const std::string file = FileWith(requests);
  Run({"SET", "old", "x"});
  Connect();
  AnswerFull(0);
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  WorkUntil([this] { return snapshots().loading(); });
  TestClient& reader = SnapshotTest::Connect();
  reader.Run({"MULTI"});
  CHECK(reader.Run({"GET", "k99"}) == Simple("QUEUED"));
  REQUIRE(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  REQUIRE(snapshots().loading());
  CHECK(reader.Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of: LOADING Redis is loading "
                                      "the dataset in memory"));
  const Reply loading = Error("LOADING Redis is loading the dataset in memory");
  CHECK(Run({"SET", "k99", "lost"}) == loading);
  CHECK(Run({"SET", "other", "lost"}) == loading);
  FinishSync();
  CHECK(Run({"DBSIZE"}) == Integer(100));
  CHECK(Run({"SET", "other", "kept"}) == Ok());
  CHECK(Run({"GET", "k99"}) == Bulk("new"));
}

TEST_CASE_METHOD(ReplicaTest, "a file that is damaged does the keys no harm") {
  std::string file = FileWith({{"SET", "a", "1"}});
  Run({"SET", "old", "x"});
  file[file.size() - 12] ^= 1;
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  CHECK(Replication("master_link_status") == "down");
  CHECK(master().closed());
  CHECK(Run({"GET", "old"}) == Bulk("x"));
  AdvanceTime(MasterLink::kRetryMs);
  CHECK(targets.count() == 2);
}

TEST_CASE_METHOD(ReplicaTest, "a master that hangs up within its file does the keys no harm") {
  const std::string file = FileWith({{"SET", "a", "1"}});
  Run({"SET", "old", "x"});
  Connect();
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file.substr(0, 20));
  master().HangUp();
  CHECK(Run({"GET", "old"}) == Bulk("x"));
  CHECK(Run({"ROLE"}).elements[3] == Bulk("connect"));
}

// What a hostile or broken master makes of a snapshot: bits that are flipped, an end too early, a length that is wrong.
TEST_CASE_METHOD(
    ReplicaTest,
    "whatever is wrong with a file, the keys of before are served, and the master is asked again") {
  const std::string file = FileWith({{"SET", "a", "1"}, {"RPUSH", "l", "x", "y"}, {"SADD", "u", "m", "n"}});
  Run({"SET", "old", "x"});
  Run({"HSET", "h", "f", "v"});
  const Reply before = Run({"DEBUG", "DIGEST"});
  SetOption("repl-timeout", "10");
  std::mt19937 random(5);
  Connect();
  for (int round = 0; round < 60; ++round) {
    CAPTURE(round);
    std::string bytes = file;
    std::string length = std::to_string(file.size());
    switch (round % 4) {
      case 0:
        bytes[random() % (file.size() - 8)] ^= static_cast<char>(1U << random() % 8);
        break;
      case 1:  // too early, and then the link ends
        bytes.resize(1 + random() % (file.size() - 1));
        break;
      case 2: {  // shorter than it is
        const size_t size = 1 + random() % (file.size() - 1);
        length = std::to_string(size);
        break;
      }
      default:  // longer than it is: the rest never comes
        length = std::to_string(file.size() + 1 + random() % 1000);
        break;
    }
    AnswerFull();
    master().Answer("$" + length + "\r\n" + bytes);
    if (round % 2 == 0) WorkUntil([this] { return Replication("master_sync_in_progress") != "1"; });
    CHECK(Run({"GET", "old"}) == Bulk("x"));
    if (round % 4 == 1) master().HangUp();
    if (round % 4 == 3) AdvanceTime(10'000);
    CHECK(Replication("master_link_status") == "down");
    CHECK(Run({"DEBUG", "DIGEST"}) == before);
    // Not at once.
    const size_t asked = targets.count();
    AdvanceTime(MasterLink::kRetryMs - 1);
    CHECK(targets.count() == asked);
    AdvanceTime(1);
    REQUIRE(targets.count() == asked + 1);
    Greet();
  }
  AnswerFull();
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  FinishSync();
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"EXISTS", "old", "h", "a", "l", "u"}) == Integer(3));
}

TEST_CASE_METHOD(ReplicaTest, "what is no snapshot ends the link") {
  Connect();
  AnswerFull();
  master().Answer("HTTP/1.1 400 Bad Request\r\n");
  CHECK(master().closed());
  AdvanceTime(MasterLink::kRetryMs);
  Greet();
  AnswerFull();
  master().Answer(std::string(100, 'x'));
  CHECK(master().closed());
}

// ---- the greeting

TEST_CASE_METHOD(ReplicaTest, "the replica logs in with masteruser and masterauth") {
  SetOption("masterauth", "secret");
  SetOption("masteruser", "repl");
  Run({"REPLICAOF", "there", "7000"});
  AdvanceTime(0);
  master().Accept();
  CHECK(master().Take() == "PING");
  master().Answer("-NOAUTH Authentication required.\r\n");
  CHECK(master().Take() == "AUTH repl secret");
  master().Answer("-WRONGPASS invalid username-password pair or user is disabled.\r\n");
  CHECK(master().closed());
}

TEST_CASE_METHOD(ReplicaTest, "a master that is not ready is asked again") {
  Connect();
  master().Answer("-NOMASTERLINK Can't SYNC while not connected with my master\r\n");
  CHECK(master().closed());
  CHECK(Run({"ROLE"}).elements[3] == Bulk("connect"));
  AdvanceTime(MasterLink::kRetryMs);
  CHECK(targets.count() == 2);
}

TEST_CASE_METHOD(ReplicaTest, "a master that says nothing is given up after repl-timeout") {
  SetOption("repl-timeout", "10");
  Connect();
  AdvanceTime(9'999);
  CHECK_FALSE(master().closed());
  AdvanceTime(1);
  CHECK(master().closed());
}

TEST_CASE_METHOD(ReplicaTest, "a master whose bytes wait for the end of a script is not silent") {
  SetOption("repl-timeout", "10");
  Sync(FileWith({}), 0);
  server().server.modes |= BitOf(Mode::kBusy);
  Command({"SET", "a", "1"});
  AdvanceTime(25'000);
  CHECK_FALSE(master().closed());
  server().server.modes &= ~BitOf(Mode::kBusy);
  server().hubs.wakes.Tell();
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

// ---- the stream

TEST_CASE_METHOD(ReplicaTest, "a transaction takes effect as a whole, and counts when it has") {
  Sync(FileWith({}), 0);
  const std::string begin = EncodeRequest({"MULTI"}) + EncodeRequest({"SET", "a", "1"});
  master().Answer(begin);
  CHECK(Run({"GET", "a"}) == Null());
  CHECK(Replication("slave_repl_offset") == "0");
  const std::string end = EncodeRequest({"INCR", "a"}) + EncodeRequest({"EXEC"});
  master().Answer(end.substr(0, 5));
  master().Answer(end.substr(5));
  CHECK(Run({"GET", "a"}) == Bulk("2"));
  CHECK(Replication("slave_repl_offset") == std::to_string(begin.size() + end.size()));
}

TEST_CASE_METHOD(ReplicaTest, "the replica tells each second how far it is, and when it is asked") {
  Sync(FileWith({}), 0);
  Command({"SET", "a", "1"});
  AdvanceTime(MasterLink::kTellMs);
  const size_t set = EncodeRequest({"SET", "a", "1"}).size();
  CHECK(master().Take() == "REPLCONF ACK " + std::to_string(set));
  Command({"REPLCONF", "GETACK", "*"});
  const size_t wish = EncodeRequest({"REPLCONF", "GETACK", "*"}).size();
  CHECK(master().Take() == "REPLCONF ACK " + std::to_string(set + wish));
}

TEST_CASE_METHOD(ReplicaTest, "after a break the stream goes on where it was, in the same database") {
  Sync(FileWith({}), 0);
  Command({"SELECT", "3"});
  master().Answer(EncodeRequest({"SET", "a", "1"}) + "*3\r\n$3\r\nSET");
  const size_t done = EncodeRequest({"SELECT", "3"}).size() + EncodeRequest({"SET", "a", "1"}).size();
  master().HangUp();
  CHECK(Replication("master_link_status") == "down");
  CHECK(Run({"EXISTS", "a"}) == Integer(0));
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC " + kHistory + " " + std::to_string(done + 1));
  master().Answer("+CONTINUE " + kOtherHistory + "\r\n");
  CHECK(Replication("master_replid") == kOtherHistory);
  CHECK(Replication("master_link_status") == "up");
  Command({"SET", "b", "2"});
  Run({"SELECT", "3"});
  CHECK(Run({"MGET", "a", "b"}) == Array({Bulk("1"), Bulk("2")}));
}

TEST_CASE_METHOD(ReplicaTest, "bytes that are no requests end the stream, and all keys are asked for again") {
  Sync(FileWith({}), 0);
  master().Answer("*1\r\nnonsense\r\n");
  CHECK(master().closed());
  AdvanceTime(MasterLink::kRetryMs);
  Greet("PSYNC ? -1");
}

TEST_CASE_METHOD(ReplicaTest, "a command that cannot run here is counted, and the stream goes on") {
  Sync(FileWith({{"SET", "a", "x"}}), 0);
  Command({"FT.CREATE", "index"});
  Command({"LPUSH", "a", "1"});
  Command({"SET", "b", "2"});
  CHECK(Replication("master_failed_commands") == "2");
  CHECK(Run({"GET", "b"}) == Bulk("2"));
}

TEST_CASE_METHOD(ReplicaTest, "what no master sends does not run") {
  Sync(FileWith({}), 0);
  const std::vector<Words> requests = {{"REPLICAOF", "NO", "ONE"},
                                       {"SLAVEOF", "elsewhere", "1"},
                                       {"SUBSCRIBE", "c"},
                                       {"SHUTDOWN", "NOSAVE"},
                                       {"CONFIG", "SET", "maxmemory", "1"},
                                       {"EVAL", "return 1", "0"},
                                       {"MONITOR"},
                                       {"RESET"},
                                       {"AUTH", "x"},
                                       {"GET", "a"},
                                       {"BGSAVE"},
                                       {"CLIENT", "PAUSE", "1000"}};
  for (const Words& request : requests) Command(request);
  Command({"MULTI"});
  Command({"SLAVEOF", "NO", "ONE"});
  Command({"SET", "a", "1"});
  Command({"EXEC"});
  CHECK(Replication("master_failed_commands") == std::to_string(requests.size() + 1));
  CHECK(Replication("master_link_status") == "up");
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "what the master does in a database that does not exist here is left out") {
  Sync(FileWith({{"SET", "a", "0"}}), 0);
  Command({"SELECT", "99"});
  Command({"SET", "a", "99"});
  Command({"FLUSHDB"});
  CHECK(Run({"GET", "a"}) == Bulk("0"));
  CHECK(Replication("master_failed_commands") == "3");
  Command({"SWAPDB", "0", "1"});
  Command({"SELECT", "0"});
  Command({"SET", "b", "1"});
  CHECK(Run({"MGET", "a", "b"}) == Array({Null(), Bulk("1")}));
  CHECK(Replication("master_failed_commands") == "3");
}

TEST_CASE_METHOD(ReplicaTest, "rules for TTLs do not touch what the master sends") {
  SetOption("ttl-rule", "* default 10s");
  Sync(FileWith({}), 0);
  Command({"SET", "a", "1"});
  CHECK(Run({"TTL", "a"}) == Integer(-1));
}

// The offset that the last PSYNC asks for, or 0.
size_t AskedFrom(FakeTarget& master) {
  const std::string asked = master.Take();
  const size_t at = asked.rfind(' ');
  return asked.starts_with("PSYNC " + kHistory) ? std::stoul(asked.substr(at + 1)) - 1 : SIZE_MAX;
}

// What a master sends, with everything that a stream may have.
std::string Stream(std::mt19937& random) {
  std::string stream;
  bool in_transaction = false;
  for (int i = 0; i < 150; ++i) {
    const std::string key = "k" + std::to_string(random() % 20);
    const std::string text(random() % 10 == 0 ? 40'000 : random() % 30,
                           static_cast<char>('a' + random() % 26));
    const std::vector<Words> requests = {{"SELECT", std::to_string(random() % 3)},
                                         {"SET", key, text},
                                         {"APPEND", "a" + key, text},
                                         {"INCR", "n" + key},
                                         {"RPUSH", "l" + key, text, "x"},
                                         {"LPOP", "l" + key},
                                         {"PEXPIREAT", key, "99999999999999"},
                                         {"PING"},
                                         {"REPLCONF", "GETACK", "*"},
                                         {"HSET", "h" + key, text, text},
                                         {in_transaction ? "EXEC" : "MULTI"}};
    const Words& request = requests[random() % requests.size()];
    if (in_transaction && (request[0] == "PING" || request[0] == "REPLCONF")) continue;
    if (request.size() == 1 && request[0] != "PING") in_transaction = !in_transaction;
    stream += EncodeRequest(request);
    if (random() % 20 == 0 && !in_transaction) stream += "\n";
  }
  if (in_transaction) stream += EncodeRequest({"EXEC"});
  return stream;
}

TEST_CASE_METHOD(ReplicaTest, "however often the link breaks, and wherever, each command takes effect once") {
  const std::string file = FileWith({});
  std::mt19937 random(11);
  for (int round = 0; round < 30; ++round) {
    CAPTURE(round);
    const std::string stream = Stream(random);
    Run({"REPLICAOF", "NO", "ONE"});
    Sync(file, 0, "");
    master().Answer(stream);
    const Reply whole = Run({"DEBUG", "DIGEST"});
    Run({"REPLICAOF", "NO", "ONE"});
    Sync(file, 0, "");
    size_t breaks = 0;
    for (size_t at = 0; at < stream.size();) {
      const size_t piece =
          std::min<size_t>(1 + random() % (random() % 2 == 0 ? 20 : 5000), stream.size() - at);
      master().Answer(stream.substr(at, piece));
      at += piece;
      // A long request, or a transaction, needs a link that lives long enough.
      if (random() % 4 != 0 || ++breaks > 100) continue;
      master().HangUp();
      AdvanceTime(MasterLink::kRetryMs);
      master().Accept();
      master().Answer("+PONG\r\n");
      master().Answer("+OK\r\n");
      master().Take();
      master().Answer("+OK\r\n");
      const size_t from = AskedFrom(master());
      REQUIRE(from <= at);
      master().Answer("+CONTINUE\r\n");
      at = from;
    }
    CHECK(Run({"DEBUG", "DIGEST"}) == whole);
    CHECK(Replication("slave_repl_offset") == std::to_string(stream.size()));
    CHECK(Replication("master_full_syncs") == std::to_string(2 * round + 2));
  }
}

// ---- deadlines

TEST_CASE_METHOD(ReplicaTest, "an expired key is hidden, and kept until the master deletes it") {
  Sync(FileWith({{"SET", "a", "1", "PX", "100"}}), 0);
  AdvanceTime(100);
  CHECK(Run({"GET", "a"}) == Null());
  CHECK(Run({"DBSIZE"}) == Integer(1));
  Command({"DEL", "a"});
  CHECK(Run({"DBSIZE"}) == Integer(0));
}

TEST_CASE_METHOD(ReplicaTest, "the master may still change a key that has expired here") {
  Sync(FileWith({{"SET", "a", "1", "PX", "100"}}), 0);
  AdvanceTime(101);
  Command({"INCR", "a"});
  CHECK(Run({"GET", "a"}) == Null());
  Command({"PEXPIREAT", "a", UnixMs(1000)});
  CHECK(Run({"GET", "a"}) == Bulk("2"));
  CHECK(Run({"PTTL", "a"}) == Integer(1000));
}

TEST_CASE_METHOD(ReplicaTest, "a key that has expired on its way is kept, too") {
  const std::string file = FileWith({{"SET", "a", "1", "PX", "100"}});
  AdvanceTime(200);
  Sync(file, 0);
  CHECK(Run({"GET", "a"}) == Null());
  Command({"PEXPIREAT", "a", UnixMs(1000)});
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "a command with a deadline that passed on its way removes no key") {
  Run({"SET", "a", "1"});
  const std::string payload = Run({"DUMP", "a"}).text;
  Sync(FileWith({{"SET", "b", "2"}, {"SET", "c", "3"}, {"RPUSH", "l", "x"}}), 0);
  const std::string past = UnixMs(-10);
  Command({"SET", "a", "1", "PXAT", past});
  Command({"PEXPIREAT", "b", past});
  Command({"GETEX", "c", "PXAT", past});
  Command({"PEXPIREAT", "l", past});
  Command({"RESTORE", "r", past, payload, "ABSTTL"});
  for (const char* key : {"a", "b", "c", "l", "r"}) {
    CHECK(Run({"EXISTS", key}) == Integer(0));
    Command({"PEXPIREAT", key, UnixMs(1000)});
    CHECK(Run({"PTTL", key}) == Integer(1000));
  }
  CHECK(Run({"MGET", "a", "b", "c", "r"}) == Array({Bulk("1"), Bulk("2"), Bulk("3"), Bulk("1")}));
}

TEST_CASE_METHOD(ReplicaTest, "a hash whose deadline is over takes the master's fields, and lives on") {
  const std::string file = FileWith({{"HSET", "h", "a", "1", "b", "2"}, {"PEXPIRE", "h", "100"}});
  AdvanceTime(200);
  Sync(file, 0);
  Command({"HSET", "h", "c", "3"});
  CHECK(Run({"HLEN", "h"}) == Integer(0));
  AdvanceTime(5);
  Command({"PEXPIREAT", "h", UnixMs(1000)});
  CHECK(Run({"HLEN", "h"}) == Integer(3));
  AdvanceTime(1000);
  Command({"HSET", "h", "d", "3"});
  Command({"PERSIST", "h"});
  CHECK(Run({"HLEN", "h"}) == Integer(4));
}

TEST_CASE_METHOD(ReplicaTest, "a field whose deadline is over is absent") {
  Sync(FileWith({{"HSET", "h", "a", "1", "b", "2"}, {"HPEXPIRE", "h", "100", "FIELDS", "1", "a"}}), 0);
  AdvanceTime(100);
  CHECK(Run({"HGETALL", "h"}) == Array({Bulk("b"), Bulk("2")}));
  CHECK(Run({"HKEYS", "h"}) == Array({Bulk("b")}));
  Command({"HDEL", "h", "a"});
  Command({"HPEXPIREAT", "h", UnixMs(50), "FIELDS", "1", "b"});
  AdvanceTime(50);
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
  Command({"HSET", "h", "c", "3"});
  CHECK(Run({"HGETALL", "h"}) == Array({Bulk("c"), Bulk("3")}));
}

TEST_CASE_METHOD(ReplicaTest, "keys whose deadlines pass while they are loaded are kept") {
  constexpr int kKeys = 1000;
  std::vector<Words> requests;
  for (int i = 0; i < kKeys; ++i) {
    const std::string n = std::to_string(i);
    requests.insert(requests.end(), {{"SET", "s" + n, "v", "PX", std::to_string(100 + i)},
                                     {"HSET", "h" + n, "a", "1", "b", "2"},
                                     {"PEXPIRE", "h" + n, std::to_string(100 + i)}});
  }
  const std::string file = FileWith(requests);
  AdvanceTime(100);
  Connect();
  AnswerFull(0);
  master().Answer("$" + std::to_string(file.size()) + "\r\n" + file);
  while (Replication("master_sync_in_progress") == "1") {
    Slice();
    AdvanceTime(1);
  }
  AdvanceTime(kKeys);
  for (int i = 0; i < kKeys; ++i) {
    Command({"PEXPIREAT", "s" + std::to_string(i), UnixMs(1000)});
    Command({"PEXPIREAT", "h" + std::to_string(i), UnixMs(1000)});
  }
  for (int i = 0; i < kKeys; ++i) {
    CHECK(Run({"EXISTS", "s" + std::to_string(i)}) == Integer(1));
    CHECK(Run({"HLEN", "h" + std::to_string(i)}) == Integer(2));
  }
}

TEST_CASE_METHOD(ReplicaTest, "a new master frees what has expired meanwhile") {
  Sync(FileWith({{"SET", "a", "1", "PX", "100"}}), 0);
  AdvanceTime(100);
  CHECK(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(master().closed());
  AdvanceTime(0);
  CHECK(Run({"DBSIZE"}) == Integer(0));
  CHECK(Run({"SET", "b", "1"}) == Ok());
  CHECK(Run({"ROLE"}).elements[0] == Bulk("master"));
}

TEST_CASE_METHOD(ReplicaTest, "what a client of a Redis has published is not taken for its master's word") {
  Sync(FileWith({{"SET", "a", "1"}}), 0);
  master().Answer(EncodeRequest({"PUBLISH", "__mayfly__", "c*2\r\n$3\r\nDEL\r\n$1\r\na\r\n"}));
  CHECK(Run({"EXISTS", "a"}) == Integer(1));
  CHECK(Replication("master_failed_commands") == "0");
}

// ---- clients

TEST_CASE_METHOD(ReplicaTest, "clients of a replica read, and may not write") {
  Sync(FileWith({{"SET", "a", "1"}}), 0);
  CHECK(Run({"SET", "b", "1"}) == kReadOnly);
  CHECK(Run({"GETEX", "a", "EX", "1"}) == kReadOnly);
  CHECK(Run({"FLUSHALL"}) == kReadOnly);
  CHECK(Run({"DEBUG", "POPULATE", "10"}) == kReadOnly);
  CHECK(Run({"MULTI"}) == Ok());
  CHECK(Run({"SET", "b", "1"}) == kReadOnly);
  CHECK(Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of previous errors."));
  CHECK(Run({"EVAL", "return redis.call('GET', KEYS[1])", "1", "a"}) == Bulk("1"));
  CHECK(Run({"EVAL", "return redis.call('SET', KEYS[1], '2')", "1", "a"}).text.starts_with("READONLY"));
  CHECK(Run({"EVAL", "#!lua\nreturn 1", "0"}) == kReadOnly);
  CHECK(Run({"EVAL", "#!lua flags=allow-oom\nreturn 1", "0"}) == kReadOnly);
  CHECK(Run({"EVAL", "#!lua flags=no-writes\nreturn redis.call('GET', KEYS[1])", "1", "a"}) == Bulk("1"));
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  SetOption("replica-read-only", "no");
  CHECK(Run({"SET", "b", "1"}) == Ok());
}

TEST_CASE_METHOD(ReplicaTest, "what comes in the same turn after REPLICAOF does not write any more") {
  const std::string refused = "-" + kReadOnly.text + "\r\n";
  CHECK(RunRaw(EncodeRequest({"SET", "a", "1"}) + EncodeRequest({"REPLICAOF", "there", "7000"}) +
               EncodeRequest({"SET", "a", "2"}) + EncodeRequest({"INCR", "b"})) ==
        "+OK\r\n+OK\r\n" + refused + refused);
  SetOption("replica-read-only", "no");
  CHECK(RunRaw(EncodeRequest({"CONFIG", "SET", "replica-read-only", "yes"}) +
               EncodeRequest({"SET", "a", "2"})) == "+OK\r\n" + refused);
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest,
                 "EXEC of writes that were queued before REPLICAOF is refused as a whole, as in Redis") {
  REQUIRE(Run({"MULTI"}) == Ok());
  Run({"GET", "a"});
  Run({"SET", "a", "1"});
  TestClient other(server());
  other.Run({"REPLICAOF", "there", "7000"});
  CHECK(Run({"EXEC"}) == Error("EXECABORT Transaction discarded because of: " + kReadOnly.text));
  REQUIRE(Run({"MULTI"}) == Ok());
  Run({"GET", "a"});
  CHECK(Run({"EXEC"}) == Array({Null()}));
}

TEST_CASE_METHOD(ReplicaTest, "a replica that takes writes frees its expired keys by itself") {
  Sync(FileWith({{"SET", "a", "1", "PX", "100"}, {"SET", "b", "1", "PX", "300"}}), 0);
  AdvanceTime(200);
  SetOption("replica-read-only", "no");
  CHECK(Run({"SET", "a", "2"}) == Ok());
  CHECK(Run({"GET", "a"}) == Bulk("2"));
  AdvanceTime(100);
  CHECK(Run({"DBSIZE"}) == Integer(1));
  SetOption("replica-read-only", "yes");
  Command({"SET", "a", "3"});
  CHECK(Run({"GET", "a"}) == Bulk("3"));
}

TEST_CASE_METHOD(ReplicaTest, "without its master a replica answers, unless replica-serve-stale-data is no") {
  Sync(FileWith({{"SET", "a", "1"}}), 0);
  master().HangUp();
  CHECK(Run({"GET", "a"}) == Bulk("1"));
  SetOption("replica-serve-stale-data", "no");
  CHECK(Run({"GET", "a"}) ==
        Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."));
  CHECK(Run({"PING"}) ==
        Error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'."));
  CHECK(Run({"ROLE"}).elements.size() == 5);
  CHECK(Run({"REPLICAOF", "NO", "ONE"}) == Ok());
  CHECK(Run({"GET", "a"}) == Bulk("1"));
}

TEST_CASE_METHOD(ReplicaTest, "a replica evicts nothing, unless replica-ignore-maxmemory is no") {
  SetOption("maxkeys", "2");
  Sync(FileWith({}), 0);
  for (const char* key : {"a", "b", "c", "d"}) Command({"SET", key, "1"});
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(4));
  Run({"REPLICAOF", "NO", "ONE"});
  CHECK(Run({"SET", "e", "1"}) == Ok());
  AdvanceTime(1);
  CHECK(Run({"DBSIZE"}) == Integer(2));
}

TEST_CASE_METHOD(ReplicaTest, "replica-ignore-maxmemory counts from its change on, in both directions") {
  SetOption("maxkeys", "2");
  Sync(FileWith({}), 0);
  for (const char* key : {"a", "b", "c", "d"}) Command({"SET", key, "1"});
  CHECK(Run({"DBSIZE"}) == Integer(4));
  CHECK(Run({"CONFIG", "SET", "replica-ignore-maxmemory", "no"}) == Ok());
  Command({"SET", "e", "1"});
  CHECK(Run({"DBSIZE"}) == Integer(2));
  CHECK(Run({"CONFIG", "SET", "replica-ignore-maxmemory", "yes"}) == Ok());
  Command({"SET", "f", "1"});
  Command({"SET", "g", "1"});
  CHECK(Run({"DBSIZE"}) == Integer(4));
  CHECK(Replication("master_failed_commands") == "0");
}

TEST_CASE_METHOD(ReplicaTest, "clients that wait to read hear of what the master adds") {
  Sync(FileWith({}), 0);
  TestClient& reader = SnapshotTest::Connect();
  CHECK(reader.Run({"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}) == NoReply());
  Command({"XADD", "s", "1-1", "f", "v"});
  CHECK(reader.Received().size() == 1);
}

TEST_CASE_METHOD(ReplicaTest, "REPLICAOF reads a port, and knows the master that it has") {
  CHECK(Run({"REPLICAOF", "there", "x"}) == Error("ERR value is not an integer or out of range"));
  CHECK(Run({"REPLICAOF", "there", "65536"}) == Error("ERR Invalid master port"));
  CHECK(Run({"REPLICAOF", "there\nport 1", "7000"}) == Error("ERR Invalid master host"));
  CHECK(Run({"REPLICAOF", "", "7000"}) == Error("ERR Invalid master host"));
  CHECK(Run({"REPLICAOF", "there", "7000"}) == Ok());
  CHECK(Run({"SLAVEOF", "there", "7000"}) == Simple("OK Already connected to specified master"));
  CHECK(Run({"CONFIG", "GET", "replicaof"}) == Array({Bulk("replicaof"), Bulk("there 7000")}));
  CHECK(Run({"HELLO"}).elements[11] == Bulk("replica"));
}

}  // namespace
}  // namespace mayfly::testing
