// What the log says of writes that are refused, and of clients that are refused or closed.
#include "server/figures/incidents.h"

#include <csignal>
#include <string>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool IsRefused(SimulatedServer& server, const std::string& key) {
  return server.Run({"SET", key, std::string(10'000, 'v')}).text.starts_with("OOM");
}

TEST_CASE("the log says when writes begin to be refused, and when that is over, though nothing happens") {
  SimulatedServer server({.logs = true});
  // In their entries, whose memory counts under the sanitizers, too.
  for (const char* key : {"a", "b", "c", "d"}) server.Run({"SET", key, std::string(15'000, 'v')});
  server.Set("maxmemory-policy", "noeviction");
  server.Set("maxmemory", std::to_string(server.parts.memory.Data() + 1000));
  CHECK(Count(server.Log(), "# writes are") == 0);
  int refused = 0;
  for (int i = 0; i < 50; ++i) refused += IsRefused(server, "k" + std::to_string(i)) ? 1 : 0;
  CHECK(refused > 40);
  CHECK(Count(server.Log(), "# writes are refused (OOM): ") == 1);
  server.AdvanceTime(2 * Incidents::kCalmMs);
  CHECK(Count(server.Log(), "# writes are accepted again") == 0);  // there is no room
  server.Run({"DEL", "a", "b", "c", "d"});
  const std::string line = "# writes are accepted again: " + std::to_string(refused) + " were refused";
  CHECK(Count(server.Log(), line) == 1);
  CHECK_FALSE(IsRefused(server, "k"));
}

TEST_CASE("room for some writes does not end it before no write was refused for a while") {
  SimulatedServer server({.logs = true});
  server.Run({"SET", "big", std::string(100'000, 'v')});
  server.Set("maxmemory-policy", "noeviction");
  server.Set("maxmemory", std::to_string(server.parts.memory.Data() + 1000));
  for (int i = 0; i < 5; ++i) {
    while (!IsRefused(server, "k" + std::to_string(i))) {
    }
    server.Run({"DEL", "k" + std::to_string(i)});
    server.AdvanceTime(Incidents::kCalmMs / 2);
  }
  CHECK(Count(server.Log(), "# writes are") == 1);
  server.Run({"FLUSHALL"});
  server.AdvanceTime(Incidents::kCalmMs);  // with nobody there
  CHECK(Count(server.Log(), "# writes are accepted again") == 1);
}

TEST_CASE("clients that maxclients refuses are one line, and then sums") {
  SimulatedServer server({.logs = true});
  static_cast<void>(server.Connect());
  server.Set("maxclients", "1");
  for (int i = 0; i < 20; ++i) REQUIRE(server.TryConnect() != nullptr);
  server.Settle();
  CHECK(Count(server.Log(), "# refusing client ") == 1);
  CHECK(Count(server.Log(), ": maxclients, which is 1, is reached\n") == 1);
  server.AdvanceTime(Incidents::kLogMs);
  CHECK(Count(server.Log(), "# clients refused because of maxclients: 19 more\n") == 1);
  server.AdvanceTime(10 * Incidents::kLogMs);
  CHECK(Count(server.Log(), "because of maxclients") == 1);
}

TEST_CASE("a client from elsewhere that protected-mode refuses is logged") {
  SimulatedServer server({.logs = true});
  REQUIRE(server.TryConnect("10.1.2.3") != nullptr);
  server.Settle();
  CHECK(Count(server.Log(), "# refusing client 10.1.2.3:") == 1);
  CHECK(Count(server.Log(), "protected-mode is on") == 1);
}

TEST_CASE("the log says of a client with too long a request whether it was the request or the transaction") {
  SimulatedServer server({.logs = true});
  server.Set("client-query-buffer-limit", "1mb");
  Peer& queues = server.Connect();
  const std::string info = server.Ask(queues, {"CLIENT", "INFO"}).text;
  const size_t addr_at = info.find(" addr=") + 6;
  const std::string addr = info.substr(addr_at, info.find(' ', addr_at) - addr_at);
  queues.Request({"MULTI"});
  for (int i = 0; i < 4; ++i) queues.Request({"SET", "k", std::string(300'000, 'v')});
  server.Settle();
  CHECK(queues.closed());
  CHECK(Count(server.Log(), "# closing client " + addr +
                                ": its request and what it has queued since MULTI are longer than "
                                "client-query-buffer-limit\n") == 1);
  server.AdvanceTime(Incidents::kLogMs);
  for (int i = 0; i < 2; ++i) {
    server.Connect().Send("*2\r\n$4\r\nECHO\r\n$2000000\r\n");
    server.Settle();
  }
  CHECK(Count(server.Log(), ": its request is longer than client-query-buffer-limit\n") == 1);
  CHECK(server.stats().query_limit_disconnections == 3);
}

TEST_CASE("a web page that attacks is logged, and sums that are not due yet are logged at the end") {
  SimulatedServer server({.logs = true});
  for (int i = 0; i < 3; ++i) {
    server.Connect().Send("POST / HTTP/1.1\r\nHost: a\r\n\r\nSET k v\r\n");
    server.Settle();
  }
  CHECK(Count(server.Log(), ": it speaks HTTP") == 1);
  server.Raise(SIGTERM);
  server.AdvanceTime(5000);
  CHECK(server.ended());
  CHECK(Count(server.Log(), "# clients closed because they speak HTTP: 2 more\n") == 1);
}

TEST_CASE("a command that does not exist is logged once by its name") {
  SimulatedServer server({.logs = true});
  Peer& peer = server.Connect();
  for (int i = 0; i < 10; ++i) {
    peer.Request({"NoSuch", "x"});
    peer.Request({"EVAL", "return redis.pcall('nosuch')", "0"});
    server.Settle();
  }
  CHECK(Count(server.Log(), "# unknown command \"nosuch\" of client ") == 1);
  CHECK(server.Run({"INFO", "unknowncommands"}).text.find("unknowncmd_nosuch:count=") != std::string::npos);
}

}  // namespace
}  // namespace mayfly::sim
