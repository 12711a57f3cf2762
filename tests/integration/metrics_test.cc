// The metrics port of a real daemon, over bare sockets.
#include <csignal>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/free_port.h"

namespace mayfly {
namespace {

// An answer as it came, after which the daemon closes.
std::string Fetch(uint16_t port, const std::string& path, const std::string& method = "GET") {
  const Wire wire = Wire::Tcp(port);
  REQUIRE(wire.Send(method + " " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"));
  return wire.ReadToEnd();
}

std::string BodyOf(const std::string& answer) { return answer.substr(answer.find("\r\n\r\n") + 4); }

size_t LengthOf(const std::string& answer) {
  constexpr std::string_view kName = "\r\nContent-Length: ";
  return std::stoull(answer.substr(answer.find(kName) + kName.size()));
}

TEST_CASE("the metrics port answers what it has, and says how long each answer is") {
  const uint16_t port = FreePort();
  const Daemon daemon({"--metrics-port", std::to_string(port)});
  Client client(daemon);
  REQUIRE(client.Run({"SET", "k", "v", "EX", "100"}) == "OK");
  REQUIRE(client.Run({"GET", "k"}) == "v");
  for (const char* path : {"/", "/metrics", "/status.json", "/livez", "/readyz"}) {
    INFO(path);
    const std::string answer = Fetch(port, path);
    CHECK(answer.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(LengthOf(answer) == BodyOf(answer).size());
    const std::string head = Fetch(port, path, "HEAD");
    CHECK(head.starts_with("HTTP/1.1 200 OK\r\n"));
    CHECK(BodyOf(head).empty());
  }
  const std::string metrics = BodyOf(Fetch(port, "/metrics"));
  CHECK(metrics.find("\nmayfly_keyspace_hits_total 1\n") != std::string::npos);
  CHECK(metrics.find("\nmayfly_db_expiring_keys{db=\"0\"} 1\n") != std::string::npos);
  CHECK(BodyOf(Fetch(port, "/status.json")).find("\"keys\":1,") != std::string::npos);
  CHECK(Fetch(port, "/metrics", "POST").starts_with("HTTP/1.1 405 Method Not Allowed\r\n"));
  CHECK(Fetch(port, "/no").starts_with("HTTP/1.1 404 Not Found\r\n"));
}

TEST_CASE("the status page allows its own script and style, and nothing else") {
  const uint16_t port = FreePort();
  const Daemon daemon({"--metrics-port", std::to_string(port)});
  const std::string page = Fetch(port, "/");
  CHECK(page.find("\r\nContent-Security-Policy: default-src 'none'; script-src 'sha256-") !=
        std::string::npos);
  CHECK(page.find("unsafe") == std::string::npos);
  CHECK(page.find("{{") == std::string::npos);  // every mark was filled in
  CHECK(page.find("\nuptime            ") != std::string::npos);
  for (const char* outside : {"src=", "@import", "url("}) CHECK(page.find(outside) == std::string::npos);
}

TEST_CASE("the metrics port is an option like others: a flag, a variable, a line of the conf file") {
  const uint16_t port = FreePort();
  const Daemon daemon({}, {.environment = {"MAYFLY_METRICS_PORT=" + std::to_string(port)}});
  CHECK(BodyOf(Fetch(port, "/livez")) == "alive\n");
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "SET", "metrics-port", "0"}).find("can't set immutable config") !=
        std::string::npos);
}

TEST_CASE("a scraper whose connection is kept does not delay the daemon's end") {
  const uint16_t port = FreePort();
  Daemon daemon({"--metrics-port", std::to_string(port)});
  const Wire wire = Wire::Tcp(port);
  REQUIRE(wire.Send("GET /livez HTTP/1.1\r\n\r\n"));
  REQUIRE(wire.Read(12) == "HTTP/1.1 200");
  daemon.Signal(SIGTERM);
  CHECK(wire.ReadToEnd().ends_with("alive\n"));
  CHECK(daemon.Wait().exit_code == 0);
}

TEST_CASE("a metrics port that is taken is a problem at the start") {
  const uint16_t port = FreePort();
  const Daemon other({"--metrics-port", std::to_string(port)});
  const Ended ended =
      Daemon::RunToEnd({"--port", std::to_string(FreePort()), "--metrics-port", std::to_string(port)});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("cannot listen on 127.0.0.1:" + std::to_string(port)) != std::string::npos);
}

}  // namespace
}  // namespace mayfly
