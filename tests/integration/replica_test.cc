// REPLICAOF of real servers: redis-server, a newer one, and valkey-server, under writes.
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/writers.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/made_values.h"
#include "support/oracle.h"

namespace mayfly {
namespace {

using Words = std::vector<std::string>;
using testing::Oracle;

// A server that Mayfly follows, and a client of it.
class Master {
 public:
  explicit Master(const std::string& program = Oracle::kProgram, Words options = {})
      : server_(With(std::move(options), port_), program), client_(Client::ToPort(port_)) {}

  std::string port() const { return std::to_string(port_); }
  uint16_t port_number() const { return port_; }
  std::string Run(const Words& words) { return client_.Run(words); }
  // A value of every kind, each at a key of its own, every other one with a deadline.
  void Fill() {
    size_t number = 0;
    for (const testing::Made& made : testing::Values()) {
      if (testing::HasOwnDigest(made.requests)) continue;
      for (const Words& request : made.requests) REQUIRE(Run(request).front() != '-');
      const std::string key = "made:" + std::to_string(number);
      if (Run({"RENAME", "k", key}) != "OK") continue;
      if (++number % 2 == 0) Run({"PEXPIRE", key, "3600000"});
    }
  }

 private:
  static Words With(Words options, uint16_t port) {
    options.insert(options.end(), {"--port", std::to_string(port), "--bind", "127.0.0.1",
                                   "--enable-debug-command", "yes", "--repl-diskless-sync-delay", "0"});
    return options;
  }

  const uint16_t port_ = FreePort();
  Oracle server_;
  Client client_;
};

void WaitForLink(Client& replica) {
  REQUIRE(Eventually([&] { return replica.Info("master_link_status") == "up"; }));
}

// What the master has done is done here, too. REQUIRES: nobody writes.
void WaitForOffset(Master& master, Client& replica) {
  const auto offset_of = [&] {
    const std::string info = master.Run({"INFO", "replication"});
    const size_t at = info.find("master_repl_offset:") + 19;
    return info.substr(at, info.find('\r', at) - at);
  };
  REQUIRE(Eventually([&] { return offset_of() == replica.Info("slave_repl_offset"); }));
}

// No key differs. Keys whose deadlines are over are gone on both sides: looking at them makes the master say so.
void CompareAll(Master& master, Client& replica) {
  CHECK(Eventually([&] { return master.Run({"DEBUG", "DIGEST"}) == replica.Run({"DEBUG", "DIGEST"}); }));
}

const Words kOptions = {"--enable-debug-command", "yes"};

}  // namespace

TEST_CASE("a replica has every key of its master, and what clients write meanwhile") {
  for (const char* program : {Oracle::kProgram, Oracle::kNewerProgram, Oracle::kValkey}) {
    for (const char* diskless : {"yes", "no"}) {
      CAPTURE(program, diskless);
      Master master(program, {"--repl-diskless-sync", diskless});
      master.Fill();
      Daemon daemon(kOptions);
      Client replica(daemon);
      replica.Run({"SET", "before", "x"});
      Writers writers(master.port_number());
      CHECK(replica.Run({"REPLICAOF", "127.0.0.1", master.port()}) == "OK");
      WaitForLink(replica);
      const size_t before = writers.requests();
      CHECK(Eventually([&] { return writers.requests() > before + 5000; }));
      writers.Stop();
      WaitForOffset(master, replica);
      CompareAll(master, replica);
      CHECK(replica.Info("master_failed_commands") == "0");
      CHECK(replica.Run({"EXISTS", "before"}) == ":0");
      // The cut: the replica is a master with the same keys.
      CHECK(replica.Run({"REPLICAOF", "NO", "ONE"}) == "OK");
      CompareAll(master, replica);
      CHECK(replica.Run({"SET", "own", "1"}) == "OK");
    }
  }
}

TEST_CASE("after a broken link the replica gets only what it has missed") {
  Master master;
  master.Fill();
  Daemon daemon(kOptions);
  Client replica(daemon);
  replica.Run({"REPLICAOF", "127.0.0.1", master.port()});
  WaitForLink(replica);
  for (int i = 1; i <= 3; ++i) {
    master.Run({"SET", "k", std::to_string(i)});
    CHECK(master.Run({"CLIENT", "KILL", "TYPE", "replica"}) == ":1");
    master.Run({"SET", "missed", std::to_string(i)});
    CHECK(Eventually([&] { return replica.InfoNumber("master_partial_syncs") == i; }));
    WaitForOffset(master, replica);
    CompareAll(master, replica);
  }
  CHECK(replica.InfoNumber("master_full_syncs") == 1);
}

TEST_CASE("a replica logs in to its master, and follows it from the conf file on") {
  Master master(Oracle::kProgram, {"--requirepass", "secret"});
  master.Run({"AUTH", "secret"});
  master.Run({"SET", "a", "1"});
  Words options = kOptions;
  options.insert(options.end(), {"--replicaof", "127.0.0.1", master.port(), "--masterauth", "secret"});
  Daemon daemon(options);
  Client replica(daemon);
  WaitForLink(replica);
  CHECK(replica.Run({"GET", "a"}) == "1");
  CHECK(master.Run({"WAIT", "1", "10000"}) == ":1");
}

TEST_CASE("a replica's keys expire when the master says so, and no sooner for the master's commands") {
  Master master;
  Daemon daemon(kOptions);
  Client replica(daemon);
  replica.Run({"REPLICAOF", "127.0.0.1", master.port()});
  WaitForLink(replica);
  master.Run({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});
  master.Run({"SET", "a", "1", "PX", "1"});
  CHECK(Eventually([&] { return replica.Run({"DBSIZE"}) == ":1" && replica.Run({"GET", "a"}) == "(nil)"; }));
  // Deletes it. For redis-server the deadline itself is still the key's time.
  CHECK(Eventually([&] { return master.Run({"GET", "a"}) == "(nil)"; }));
  CHECK(Eventually([&] { return replica.Run({"DBSIZE"}) == ":0"; }));
}

}  // namespace mayfly
