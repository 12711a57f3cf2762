// CONFIG SET port and bind of a running daemon: what it serves afterwards, and, beside a redis-server, in which
// words it refuses.
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/folder.h"
#include "support/free_port.h"
#include "support/oracle.h"
#include "support/reply.h"

#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly {
namespace {

bool Serves(uint16_t port, const std::string& host = "127.0.0.1") {
  try {
    return Wire::Tcp(port, host).Ask("PING\r\n", kPong) == kPong;
  } catch (const std::runtime_error&) {
    return false;
  }
}

// A port of 127.0.0.1 that somebody else listens on.
class TakenPort {
 public:
  TakenPort() : socket_(socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const where = reinterpret_cast<sockaddr*>(&address);
    REQUIRE(bind(socket_, where, size) == 0);
    REQUIRE(listen(socket_, 1) == 0);
    REQUIRE(getsockname(socket_, where, &size) == 0);
    number_ = ntohs(address.sin_port);
  }
  TakenPort(const TakenPort&) = delete;
  TakenPort& operator=(const TakenPort&) = delete;
  ~TakenPort() { close(socket_); }
  std::string number() const { return std::to_string(number_); }

 private:
  int socket_;
  uint16_t number_ = 0;
};

void Replace(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// One of the two servers that are compared. In requests and answers {home} and {other} stand for two ports of its
// own, and {taken} for one that it cannot have.
struct Contestant {
  std::vector<std::string> Words(std::vector<std::string> words) const {
    for (std::string& word : words) {
      Replace(word, "{home}", std::to_string(home));
      Replace(word, "{other}", std::to_string(other));
      Replace(word, "{taken}", taken);
    }
    return words;
  }
  std::string Named(std::string answer) const {
    Replace(answer, std::to_string(home), "{home}");
    Replace(answer, std::to_string(other), "{other}");
    return answer;
  }
  std::string Listening() const {
    std::string text;
    for (const char* host : {"127.0.0.1", "127.0.0.2", "::1"}) {
      if (Serves(home, host)) text.append(host).append(":{home} ");
      if (Serves(other, host)) text.append(host).append(":{other} ");
    }
    return text;
  }

  std::string taken;
  uint16_t home = FreePort();
  uint16_t other = FreePort();
};

// One after the other: where a server listens is what those before it have made of it.
std::vector<std::vector<std::string>> ComparedChanges() {
  std::string sixteen;
  for (int i = 1; i <= 16; ++i) sixteen += (i == 1 ? "127.0.0." : " 127.0.0.") + std::to_string(i);
  return {
      {"bind", "\"\""},
      {"bind", ""},
      {"bind", "127.0.0.1"},
      {"bind", "127.0.0.1 127.0.0.2"},
      {"bind", "127.0.0.1  127.0.0.2"},
      {"bind", " 127.0.0.1"},
      {"bind", "127.0.0.1 "},
      {"bind", " "},
      {"bind", "127.0.0.1 127.0.0.1"},
      {"bind", "* -::*"},
      {"bind", "*"},
      {"bind", "-::*"},
      {"bind", "::*"},
      {"bind", "0.0.0.0"},
      {"bind", "127.0.0.1 *"},
      {"bind", "192.0.2.77"},
      {"bind", "-192.0.2.77"},
      {"bind", "127.0.0.1 -192.0.2.77"},
      {"bind", "no.such.invalid"},
      {"bind", "-no.such.invalid"},
      {"bind", "-"},
      {"bind", "--127.0.0.1"},
      {"bind", "::1"},
      {"bind", "127.1"},
      {"bind", "[::1]"},
      {"bind", sixteen},
      {"bind", sixteen + " 127.0.0.17"},
      {"bind", "127.0.0.1"},
      {"port", "0"},
      {"bind", "192.0.2.77"},
      {"bind", "a  b"},
      {"bind", "127.0.0.1"},
      {"port", "{home}"},
      {"port", "{home}"},
      {"port", "{taken}"},
      {"PORT", "{taken}"},
      {"BIND", "192.0.2.77"},
      {"port", "{taken}", "bind", "127.0.0.1"},
      {"bind", "127.0.0.1", "port", "{taken}"},
      {"timeout", "7", "port", "{taken}"},
      {"port", "{taken}", "timeout", "7"},
      {"port", "{taken}", "timeout", "x"},
      {"port", "{other}", "timeout", "x"},
      {"bind", "a  b", "timeout", "x"},
      {"port", "{other}", "no-such-option", "1"},
      {"port", "{other}", "databases", "1"},
      {"port", "{home}", "port", "{other}"},
      {"port", "{home}", "bind", "192.0.2.77"},
      {"port", "{other}", "bind", "192.0.2.77"},
      {"bind", "192.0.2.77", "port", "{other}"},
      {"port", "{other}", "bind", "127.0.0.1 127.0.0.2", "timeout", "5"},
      {"port", "{home}"},
      {"port", "-1"},
      {"port", "65536"},
      {"port", "x"},
      {"port", ""},
      {"port", "0", "bind", "192.0.2.77"},
      {"bind", "*", "port", "{home}"},
      {"bind", "127.0.0.1", "port", "{other}"},
  };
}

}  // namespace

TEST_CASE("CONFIG SET port moves a daemon, and its clients stay") {
  const Daemon daemon;
  Client there(daemon);
  const uint16_t next = FreePort();
  CHECK(there.Run({"SET", "k", "v"}) == "OK");
  CHECK(there.Run({"CONFIG", "SET", "port", std::to_string(next)}) == "OK");
  CHECK_FALSE(Serves(daemon.port()));
  CHECK(Serves(next));
  CHECK(there.Run({"GET", "k"}) == "v");
  CHECK(there.Info("tcp_port") == std::to_string(next));
  const std::string home = "laddr=127.0.0.1:" + std::to_string(daemon.port());
  CHECK(there.Run({"CLIENT", "INFO"}).find(home) != std::string::npos);

  CHECK(there.Run({"CONFIG", "SET", "port", "0"}) == "OK");
  CHECK_FALSE(Serves(next));
  CHECK(there.Run({"PING"}) == "PONG");
  CHECK(Client::OverUnixSocket(daemon).Run({"CONFIG", "SET", "port", std::to_string(daemon.port())}) == "OK");
  CHECK(Serves(daemon.port()));
}

TEST_CASE("a daemon on all addresses moves to one of them and back, on the same port") {
  const Daemon daemon({"--bind", "*", "-::*"});
  Client there(daemon);
  CHECK(there.Run({"CONFIG", "SET", "bind", "127.0.0.1"}) == "OK");
  CHECK(Serves(daemon.port()));
  CHECK_FALSE(Serves(daemon.port(), "127.0.0.2"));
  CHECK_FALSE(Serves(daemon.port(), "::1"));
  CHECK(there.Run({"CONFIG", "SET", "bind", "* -::* -192.0.2.77"}).starts_with("OK"));
  CHECK(Serves(daemon.port(), "127.0.0.2"));
  CHECK(Serves(daemon.port(), "::1"));
  CHECK(there.Run({"CONFIG", "SET", "bind", "127.0.0.2 192.0.2.77"}).starts_with("-ERR"));
  CHECK(Serves(daemon.port()));
  CHECK(there.Run({"CONFIG", "GET", "bind"}) == "[bind * -::* -192.0.2.77]");
  CHECK(there.Run({"PING"}) == "PONG");
}

TEST_CASE("clients that connect while the addresses change are all served") {
  const TakenPort taken;
  const std::vector<std::vector<std::string>> changes = {{"bind", "*"},
                                                         {"bind", "127.0.0.1"},
                                                         {"bind", "127.0.0.1 127.0.0.2"},
                                                         {"port", taken.number()},
                                                         {"bind", "127.0.0.1 192.0.2.77"},
                                                         {"port", "0"}};
  const Daemon daemon;
  Client there = Client::OverUnixSocket(daemon);
  for (const std::vector<std::string>& change : changes) {
    CAPTURE(change);
    daemon.Signal(SIGSTOP);
    std::vector<Wire> crowd;
    for (size_t i = 0; i < 300; ++i) {
      crowd.push_back(Wire::Tcp(daemon.port()));
      crowd.back().Send("PING\r\n");
    }
    there.Queue({"CONFIG", "SET", change[0], change[1]});
    daemon.Signal(SIGCONT);
    there.Next();
    size_t served = 0;
    for (const Wire& wire : crowd) served += wire.Read(kPong.size()) == kPong ? 1 : 0;
    CHECK(served == crowd.size());
  }
}

TEST_CASE("CONFIG REWRITE keeps the port and the addresses that CONFIG SET gave") {
  const Folder folder;
  const std::string file = folder / "my.conf";
  const uint16_t first = FreePort();
  const uint16_t second = FreePort();
  const std::string socket = folder / "socket";
  std::ofstream(file) << "port " << first << "\nbind 127.0.0.1\nunixsocket " << socket << "\n";
  {
    const Daemon daemon({file, "--unixsocket", socket});
    Client client = Client::OverUnixSocket(daemon);
    CHECK(client.Run({"CONFIG", "SET", "port", std::to_string(second), "bind", "127.0.0.2 -192.0.2.77"}) ==
          "OK");
    CHECK(client.Run({"CONFIG", "REWRITE"}) == "OK");
  }
  std::ifstream written(file);
  const std::string text{std::istreambuf_iterator<char>(written), {}};
  CHECK(text ==
        "port " + std::to_string(second) + "\nbind 127.0.0.2 -192.0.2.77\nunixsocket " + socket + "\n");
}

TEST_CASE("CONFIG SET of port and bind takes and refuses what redis-server does, in its words") {
  const TakenPort taken;
  const Contestant here{.taken = taken.number()};
  const Contestant there{.taken = taken.number()};
  const Daemon daemon({"--port", std::to_string(here.home)});
  const Wire ours = Wire::Unix(daemon.unix_socket());
  testing::Oracle oracle({"--port", std::to_string(there.home), "--bind", "127.0.0.1"});

  for (std::vector<std::string> change : ComparedChanges()) {
    CAPTURE(change);
    change.insert(change.begin(), {"CONFIG", "SET"});
    const std::vector<std::vector<std::string>> requests = {
        change, {"CONFIG", "GET", "port"}, {"CONFIG", "GET", "bind"}, {"CONFIG", "GET", "timeout"}};
    for (const std::vector<std::string>& words : requests) {
      const std::string theirs = oracle.Ask(testing::EncodeRequest(there.Words(words)), 1)[0];
      // Both have ports of five digits, so the answers are equally long.
      CHECK(here.Named(ours.Ask(testing::EncodeRequest(here.Words(words)), theirs)) == there.Named(theirs));
    }
    CHECK(here.Listening() == there.Listening());
  }
}

}  // namespace mayfly
