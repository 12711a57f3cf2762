// How the daemon starts, frees keys while no client is active, and ends.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/folder.h"

namespace mayfly {
namespace {

namespace fs = std::filesystem;

TEST_CASE("SIGTERM ends the daemon with exit code 0, and removes its files") {
  for (const int number : {SIGTERM, SIGINT}) {
    Daemon daemon({"--pidfile", "mayfly.pid"});
    Client client(daemon);
    REQUIRE(client.Run({"SET", "k", "v"}) == "OK");
    REQUIRE(access((daemon.directory() + "/mayfly.pid").c_str(), F_OK) == 0);
    daemon.Signal(number);
    CHECK(daemon.Wait().exit_code == 0);
    CHECK(access((daemon.directory() + "/mayfly.pid").c_str(), F_OK) != 0);
    CHECK(access(daemon.unix_socket().c_str(), F_OK) != 0);
    CHECK(client.Run({"PING"}) == "(gone)");
  }
}

TEST_CASE("requests that were sent before SIGTERM are answered, and their replies are written") {
  Daemon daemon;
  const std::string value(1'000'000, 'v');
  REQUIRE(Client(daemon).Run({"SET", "big", value}) == "OK");
  const Wire wire = Wire::Tcp(daemon.port());
  REQUIRE(wire.Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
  constexpr size_t kGets = 20;
  std::string requests;
  for (size_t i = 0; i < kGets; ++i) requests += Request({"GET", "big"});
  REQUIRE(wire.Send(requests));
  daemon.Signal(SIGTERM);
  CHECK(wire.ReadToEnd().size() == kGets * (value.size() + 12));
  CHECK(daemon.Wait().exit_code == 0);
}

TEST_CASE("SIGTERM does not wait for ever for a client that does not read") {
  Daemon daemon;
  REQUIRE(Client(daemon).Run({"SET", "big", std::string(1'000'000, 'v')}) == "OK");
  const Wire wire = Wire::Tcp(daemon.port());
  REQUIRE(wire.Ask("PING\r\n", "+PONG\r\n") == "+PONG\r\n");
  for (int i = 0; i < 50; ++i) REQUIRE(wire.Send(Request({"GET", "big"})));
  daemon.Signal(SIGTERM);
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.output.find(" 1 clients did not read their replies in time: ") != std::string::npos);
}

TEST_CASE("SHUTDOWN ends the daemon with exit code 0") {
  Daemon daemon;
  Client client(daemon);
  CHECK(client.Run({"SHUTDOWN", "NOSAVE"}) == "(gone)");
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 0);
  CHECK(ended.output.find("shutdown") != std::string::npos);
}

TEST_CASE("neither SIGHUP nor writing to a client that is gone ends the daemon") {
  Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"SET", "big", std::string(1'000'000, 'v')}) == "OK");
  for (int i = 0; i < 20; ++i) {
    const Wire wire = Wire::Tcp(daemon.port());
    wire.Send(Request({"GET", "big"}) + Request({"GET", "big"}));
  }
  daemon.Signal(SIGHUP);
  CHECK(client.Run({"PING"}) == "PONG");
  CHECK(Eventually([&] { return client.InfoNumber("connected_clients") == 1; }));
}

TEST_CASE("a key is freed at its deadline even if nobody asks for it") {
  const Daemon daemon;
  Client client(daemon);
  REQUIRE(client.Run({"SET", "soon", "v", "PX", "50"}) == "OK");
  REQUIRE(client.Run({"SET", "late", "v", "EX", "1000"}) == "OK");
  CHECK(Eventually([&] { return client.Run({"DBSIZE"}) == ":1"; }));
  CHECK(client.InfoNumber("expired_keys") == 1);
  CHECK(client.InfoNumber("wheel_wakeups") < 20);
}

// What TIME answers: "[seconds microseconds]".
int64_t UnixMs(const std::string& time) {
  const size_t space = time.find(' ');
  return std::stoll(time.substr(1, space)) * 1000 + std::stoll(time.substr(space + 1)) / 1000;
}

TEST_CASE("a herd of keys with one deadline is freed as a whole") {
  const Daemon daemon;
  Client client(daemon);
  constexpr int kKeys = 20'000;
  const int64_t deadline_ms = std::stoll(client.Run({"TIME"}).substr(1)) * 1000 + 3000;
  for (int i = 0; i < kKeys; ++i)
    client.Queue({"SET", "key:" + std::to_string(i), "v", "PXAT", std::to_string(deadline_ms)});
  for (int i = 0; i < kKeys; ++i) REQUIRE(client.Next() == "OK");
  // One request sees all of them or none, however long it takes to free them, and none goes early.
  const std::vector<std::string> some{"EXISTS", "key:0", "key:9999", "key:19999"};
  CHECK(Eventually([&] {
    client.Queue(some);
    client.Queue({"DBSIZE"});
    client.Queue({"TIME"});
    const std::string found = client.Next();
    const std::string size = client.Next();
    const bool early = UnixMs(client.Next()) < deadline_ms;
    if (early) REQUIRE((found == ":3" && size == ":" + std::to_string(kKeys)));
    REQUIRE((found == ":3" || found == ":0"));
    return size == ":0";
  }));
  CHECK(client.InfoNumber("expired_keys") == kKeys);
  CHECK(client.InfoNumber("expire_backlog") == 0);
}

TEST_CASE("FLUSHALL and a smaller maxmemory take effect while no client sends anything") {
  const Daemon daemon({"--maxmemory", "0", "--maxmemory-policy", "allkeys-lru"});
  Client client(daemon);
  constexpr int kKeys = 20'000;
  for (int i = 0; i < kKeys; ++i) client.Queue({"SET", "key:" + std::to_string(i), std::string(200, 'v')});
  for (int i = 0; i < kKeys; ++i) REQUIRE(client.Next() == "OK");
  const int64_t full = client.InfoNumber("used_memory");
  REQUIRE(client.Run({"CONFIG", "SET", "maxmemory", std::to_string(full - 2'000'000)}) == "OK");
  CHECK(Eventually([&] { return client.InfoNumber("evicted_keys") > 4'000; }));
  CHECK(Eventually([&] { return client.InfoNumber("used_memory") <= full - 1'900'000; }));
  REQUIRE(client.Run({"FLUSHALL"}) == "OK");
  CHECK(client.Run({"DBSIZE"}) == ":0");
  CHECK(Eventually([&] { return client.InfoNumber("used_memory") < full - 4'000'000; }));
}

TEST_CASE("a mistake in the options gives one line and exit code 1") {
  const auto check = [](const std::vector<std::string>& options) {
    const Ended ended = Daemon::RunToEnd(options);
    INFO(ended.output);
    CHECK(ended.exit_code == 1);
    CHECK(ended.output.starts_with("mayfly: "));
    CHECK(std::count(ended.output.begin(), ended.output.end(), '\n') == 1);
  };
  check({"--no-such-option", "1"});
  check({"--port", "70000"});
  check({"--maxmemory-policy", "sometimes"});
  check({"/no/such/file.conf"});
  check({"--appendonly", "yes"});
  check({"--dir", "/no/such/directory"});
  check({"--logfile", "/no/such/directory/log"});
}

TEST_CASE("options come from the environment, and what Kubernetes puts there is ignored with one line") {
  const Daemon daemon(
      {}, {.environment = {"MAYFLY_MAXKEYS=123", "MAYFLY_PORT=tcp://10.0.0.1:6379",
                           "MAYFLY_SERVICE_HOST=10.0.0.1", "MAYFLY_PORT_6379_TCP_ADDR=10.0.0.1"}});
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "GET", "maxkeys"}) == "[maxkeys 123]");
  CHECK(client.Run({"CONFIG", "GET", "port"}) == "[port " + std::to_string(daemon.port()) + "]");
  CHECK(daemon.log().find("MAYFLY_PORT") != std::string::npos);
}

TEST_CASE("the log goes to the file that logfile names") {
  const Daemon daemon({"--logfile", "some.log"});
  REQUIRE(Client(daemon).Run({"PING"}) == "PONG");
  std::ifstream file(daemon.directory() + "/some.log");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  CHECK(text.find(" * Ready to accept connections\n") != std::string::npos);
  CHECK(text.find("listening on 127.0.0.1:" + std::to_string(daemon.port())) != std::string::npos);
}

TEST_CASE("a logfile that was renamed is followed by a new one, at once after SIGHUP") {
  const Daemon daemon({"--logfile", "some.log"});
  const fs::path path = fs::path(daemon.directory()) / "some.log";
  const auto text = [&] {
    std::ifstream file(path);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  };
  fs::rename(path, path.string() + ".1");
  daemon.Signal(SIGHUP);
  CHECK(Eventually([&] { return text().ends_with(" * received SIGHUP: the logfile is open\n"); }));
  fs::rename(path, path.string() + ".2");
  CHECK(Client(daemon).Run({"SHUTDOWN", "NOSAVE"}) == "(gone)");
  CHECK(Eventually([&] { return text().find(" * a client asked for shutdown\n") != std::string::npos; }));
}

TEST_CASE("the reason why a start failed is in the logfile, too") {
  const Folder folder;
  const Daemon other;
  const std::string port = std::to_string(other.port());
  for (const std::vector<std::string>& wrong : std::vector<std::vector<std::string>>{
           {"--port", port, "--bind", "127.0.0.1"}, {"--port", "0", "--rename-command", "NOPE", "x"}}) {
    const std::string path = folder / "failed.log";
    std::vector<std::string> words = {"--logfile", path};
    words.insert(words.end(), wrong.begin(), wrong.end());
    const Ended ended = Daemon::RunToEnd(words);
    CHECK(ended.exit_code == 1);
    REQUIRE(ended.output.starts_with("mayfly: "));
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    CHECK(text.ends_with(" # the daemon ends: " + ended.output.substr(8)));
  }
}

}  // namespace
}  // namespace mayfly
