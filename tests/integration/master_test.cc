// Real servers follow a Mayfly under writes: redis-server, a newer one, valkey-server, and another Mayfly.
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/writers.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/oracle.h"
#include "support/random_writes.h"
#include "support/reply.h"

namespace mayfly {
namespace {

using Words = std::vector<std::string>;
using testing::Oracle;
using testing::RandomWrites;

const std::string kMayfly = "mayfly";
const Words kDebugAllowed = {"--enable-debug-command", "yes"};

// A server that follows a Mayfly, and a client of it.
class Follower {
 public:
  explicit Follower(const std::string& program) {
    if (program == kMayfly) {
      daemon_ = std::make_unique<Daemon>(kDebugAllowed);
      client_ = std::make_unique<Client>(*daemon_);
      return;
    }
    const uint16_t port = FreePort();
    const Words options = {"--port",    std::to_string(port),     "--bind",
                           "127.0.0.1", "--enable-debug-command", "yes"};
    server_ = std::make_unique<Oracle>(options, program);
    client_ = std::make_unique<Client>(Client::ToPort(port));
  }
  void Follow(const Daemon& master) {
    REQUIRE(Run({"REPLICAOF", "127.0.0.1", std::to_string(master.port())}) == "OK");
    REQUIRE(Eventually([&] { return client_->Info("master_link_status") == "up"; }));
  }
  std::string Run(const Words& words) { return client_->Run(words); }
  Client& client() noexcept { return *client_; }

 private:
  std::unique_ptr<Daemon> daemon_;
  std::unique_ptr<Oracle> server_;
  std::unique_ptr<Client> client_;
};

std::string AnyProgram() {
  return GENERATE(as<std::string>(), Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey, kMayfly);
}

int64_t UnixMs() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

// The names in a reply of XINFO CONSUMERS: the times are each server's own.
Words NamesIn(const std::string& consumers) {
  constexpr std::string_view kBefore = "[name ";
  Words names;
  for (size_t at = consumers.find(kBefore); at != std::string::npos; at = consumers.find(kBefore, at + 1)) {
    const size_t begin = at + kBefore.size();
    names.push_back(consumers.substr(begin, consumers.find(' ', begin) - begin));
  }
  return names;
}

// What the master has done is done there, too, and no key differs. REQUIRES: nobody writes.
void CompareAll(Client& master, Follower& follower) {
  CHECK(Eventually([&] {
    return master.Info("master_repl_offset") == follower.client().Info("slave_repl_offset") &&
           master.Run({"DEBUG", "DIGEST"}) == follower.Run({"DEBUG", "DIGEST"});
  }));
  // A key may expire between two questions.
  const auto same = [&](const Words& request) {
    return Eventually([&] { return master.Run(request) == follower.Run(request); });
  };
  for (int database = 0; database < 3; ++database) {
    master.Run({"SELECT", std::to_string(database)});
    follower.Run({"SELECT", std::to_string(database)});
    CHECK(same({"DBSIZE"}));
    for (const char* type : {"x", "t"}) {
      for (int i = 0; i < 9; ++i) {
        const std::string key = type + std::to_string(i);
        CAPTURE(database, key);
        CHECK(same({"XPENDING", key, "g"}));
        const Words consumers{"XINFO", "CONSUMERS", key, "g"};
        CHECK(Eventually([&] { return NamesIn(master.Run(consumers)) == NamesIn(follower.Run(consumers)); }));
        CHECK(same({"XRANGE", key, "-", "+"}));
      }
    }
    for (const char* key : {"s0", "s1", "s2", "l0", "h0", "u0", "z0", "x0"})
      CHECK(same({"PEXPIRETIME", key}));
  }
}

// What a program prints until it has printed `last`, or ends.
class Output {
 public:
  explicit Output(const std::string& command) : pipe_(popen((command + " 2>&1").c_str(), "r")) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() { pclose(pipe_); }

  std::string ReadUntil(const std::string& last) {
    std::array<char, 4096> line;
    while (text_.find(last) == std::string::npos && fgets(line.data(), line.size(), pipe_) != nullptr)
      text_ += line.data();
    return text_;
  }

 private:
  FILE* pipe_;
  std::string text_;
};

}  // namespace

TEST_CASE("a server that follows a Mayfly has every key of it, and what clients write meanwhile") {
  const std::string program = AnyProgram();
  CAPTURE(program);
  Daemon daemon(kDebugAllowed);
  Client master(daemon);
  Follower follower(program);
  follower.Run({"SET", "before", "x"});
  Writers writers(daemon.port());
  CHECK(Eventually([&] { return writers.requests() > 5000; }));
  follower.Follow(daemon);
  const size_t before = writers.requests();
  CHECK(Eventually([&] { return writers.requests() > before + 20'000; }));
  writers.Stop();
  CompareAll(master, follower);
  CHECK(follower.Run({"EXISTS", "before"}) == ":0");
  CHECK(master.Run({"WAIT", "1", "10000"}) == ":1");
  CHECK(follower.Run({"SET", "a", "1"}).starts_with("-READONLY"));
}

TEST_CASE("random writes of all types leave no difference between a Mayfly and who follows it") {
  const std::string program = AnyProgram();
  CAPTURE(program);
  Daemon daemon(kDebugAllowed);
  Client master(daemon);
  for (const Words& request : RandomWrites::SmallLimits()) REQUIRE(master.Run(request) == "OK");
  Follower follower(program);
  const unsigned seed = GENERATE(range(1U, 4U));
  CAPTURE(seed);
  RandomWrites writes(seed, {.member_deadlines = program == kMayfly, .fractions = false});
  follower.Follow(daemon);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = writes.Next(UnixMs());
    // One request at a time: the client counts replies.
    for (std::string_view rest = bytes; !rest.empty();) {
      const testing::Reply request = *testing::TakeReply(rest);
      Words words;
      for (const testing::Reply& word : request.elements) words.push_back(word.text);
      master.Queue(words);
      master.Next();
    }
  }
  master.Run({"CLIENT", "NO-TOUCH", "ON"});
  CompareAll(master, follower);
}

TEST_CASE(
    "consumers without an entry, and a stream's last id, are the same at a server that follows a Mayfly") {
  const std::string program = AnyProgram();
  CAPTURE(program);
  Daemon daemon(kDebugAllowed);
  Client master(daemon);
  Follower follower(program);
  follower.Follow(daemon);
  for (const Words& request : std::vector<Words>{{"XGROUP", "CREATE", "x0", "g", "0", "MKSTREAM"},
                                                 {"XREADGROUP", "GROUP", "g", "polls", "STREAMS", "x0", ">"},
                                                 {"XREADGROUP", "GROUP", "g", "looks", "STREAMS", "x0", "0"},
                                                 {"XCLAIM", "x0", "g", "claims", "0", "1-1"},
                                                 {"XAUTOCLAIM", "x0", "g", "sweeps", "0", "0"},
                                                 {"XADD", "x0", "5-0", "f", "v"},
                                                 {"XADD", "x0", "6-0", "f", "v"},
                                                 {"XDEL", "x0", "6-0"},
                                                 {"XSETID", "x0", "5-0"}})
    master.Run(request);
  CompareAll(master, follower);
  master.Run({"SELECT", "0"});
  follower.Run({"SELECT", "0"});
  CHECK(NamesIn(master.Run({"XINFO", "CONSUMERS", "x0", "g"})) ==
        Words{"claims", "looks", "polls", "sweeps"});
  CHECK(NamesIn(follower.Run({"XINFO", "CONSUMERS", "x0", "g"})).size() == 4);
}

TEST_CASE("after a broken link a server that follows a Mayfly gets only what it has missed") {
  const std::string program = AnyProgram();
  CAPTURE(program);
  Words options = kDebugAllowed;
  options.insert(options.end(), {"--repl-backlog-size", "100mb"});  // a Mayfly comes back after a second
  Daemon daemon(options);
  Client master(daemon);
  Follower follower(program);
  follower.Follow(daemon);
  Writers writers(daemon.port());
  for (int i = 1; i <= 3; ++i) {
    const size_t before = writers.requests();
    CHECK(Eventually([&] { return writers.requests() > before + 300; }));
    CHECK(master.Run({"CLIENT", "KILL", "TYPE", "replica"}) == ":1");
    CHECK(Eventually([&] { return master.InfoNumber("sync_partial_ok") == i; }));
    CHECK(Eventually([&] { return master.Info("slave0").find("state=online") != std::string::npos; }));
  }
  writers.Stop();
  CompareAll(master, follower);
  CHECK(master.InfoNumber("sync_full") == 1);
}

TEST_CASE("a Mayfly has replicas of all kinds at the same time") {
  Daemon daemon(kDebugAllowed);
  Client master(daemon);
  std::vector<std::unique_ptr<Follower>> followers;
  for (const std::string& program : {std::string(Oracle::kProgram), std::string(Oracle::kNewerProgram),
                                     std::string(Oracle::kValkey), kMayfly})
    followers.push_back(std::make_unique<Follower>(program));
  Writers writers(daemon.port());
  for (const auto& follower : followers) follower->Follow(daemon);
  CHECK(Eventually([&] { return writers.requests() > 10'000; }));
  writers.Stop();
  CHECK(master.Run({"WAIT", "4", "10000"}) == ":4");
  CHECK(master.Info("connected_slaves") == "4");
  for (const auto& follower : followers) CompareAll(master, *follower);
}

TEST_CASE(
    "a consumer group has read as much at a server that follows a Mayfly: known or not, by snapshot and by "
    "stream") {
  const std::string program = AnyProgram();
  CAPTURE(program);
  Follower follower(program);
  const Daemon master(kDebugAllowed);
  Client client(master);
  const Words keys = {"before", "after", "before-empty", "after-empty"};
  const auto make = [&](const std::string& key) {
    client.Run({"XGROUP", "CREATE", key + "-empty", "g", "0", "MKSTREAM"});
    for (const char* id : {"1-1", "2-1", "3-1", "4-1"}) client.Run({"XADD", key, id, "f", "v"});
    for (const char* id : {"0", "1-1", "2-1", "$", "9-9"}) client.Run({"XGROUP", "CREATE", key, id, id});
    client.Run({"XGROUP", "CREATE", key, "known", "2-1", "ENTRIESREAD", "2"});
    client.Run({"XGROUP", "SETID", key, "2-1", "3-1"});
  };
  make("before");
  follower.Follow(master);
  make("after");
  for (const std::string& key : keys) {
    CAPTURE(key);
    const std::string groups = client.Run({"XINFO", "GROUPS", key});
    CHECK(Eventually([&] { return follower.Run({"XINFO", "GROUPS", key}) == groups; }));
  }
  // A copy of the whole value.
  for (const std::string& key : keys) {
    CAPTURE(key);
    client.Run({"COPY", key, key + "-copy"});
    const std::string groups = client.Run({"XINFO", "GROUPS", key + "-copy"});
    CHECK(Eventually([&] { return follower.Run({"XINFO", "GROUPS", key + "-copy"}) == groups; }));
  }
}

TEST_CASE("redis-cli --rdb gets a snapshot, and --replica the stream") {
  Daemon daemon(kDebugAllowed);
  Client master(daemon);
  master.Run({"SET", "a", "1"});
  const std::string cli = "timeout 20 redis-cli -p " + std::to_string(daemon.port());
  const std::string file = daemon.directory() + "/copy.rdb";
  CHECK(Output(cli + " --rdb " + file).ReadUntil("success").find("success") != std::string::npos);
  CHECK(std::filesystem::file_size(file) > 50);
  Output stream(cli + " --replica");
  stream.ReadUntil("sending REPLCONF ACK");
  CHECK(Eventually([&] { return master.Info("slave0").find("state=online") != std::string::npos; }));
  master.Run({"SET", "b", "2", "EX", "1000"});
  master.Run({"INCR", "c"});
  const std::string text = stream.ReadUntil("\"SET\",\"c\",\"1\"");
  CHECK(text.find("\"SET\",\"b\",\"2\",\"PXAT\",") != std::string::npos);
  CHECK(text.find("\"SET\",\"c\",\"1\"") != std::string::npos);
  master.Run({"CLIENT", "KILL", "TYPE", "replica"});
}

}  // namespace mayfly
