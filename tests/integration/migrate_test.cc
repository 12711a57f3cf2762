// MIGRATE between real processes: Mayfly, redis-servers, and targets that behave badly.
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/free_port.h"
#include "support/oracle.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace mayfly {
namespace {

using Words = std::vector<std::string>;

// A redis-server that Mayfly can reach, and a client of it.
class Redis {
 public:
  explicit Redis(const std::string& program = testing::Oracle::kProgram, Words options = {})
      : server_(With(std::move(options), port_), program), client_(Client::ToPort(port_)) {}

  std::string port() const { return std::to_string(port_); }
  std::string Run(const Words& words) { return client_.Run(words); }

 private:
  static Words With(Words options, uint16_t port) {
    options.insert(options.end(),
                   {"--port", std::to_string(port), "--bind", "127.0.0.1", "--enable-debug-command", "yes"});
    return options;
  }

  const uint16_t port_ = FreePort();
  testing::Oracle server_;
  Client client_;
};

// Somebody who listens, and does nothing more.
class Listener {
 public:
  Listener() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(bind(socket_, reinterpret_cast<sockaddr*>(&address), size) == 0);
    REQUIRE(listen(socket_, 16) == 0);
    getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener() {
    close(socket_);
    if (peer_ >= 0) close(peer_);
  }
  std::string port() const { return std::to_string(port_); }
  // Takes the next connection and sends this.
  void Say(const std::string& bytes) {
    peer_ = accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    REQUIRE(peer_ >= 0);
    static_cast<void>(send(peer_, bytes.data(), bytes.size(), MSG_NOSIGNAL));
  }
  void HangUp() {
    close(peer_);
    peer_ = -1;
  }

 private:
  int socket_;
  int peer_ = -1;
  uint16_t port_ = 0;
};

std::string Long(char letter, size_t size) { return std::string(size, letter); }

// Every type, small and large.
std::vector<Words> Values() {
  std::vector<Words> values = {
      {"SET", "string", "v"},
      {"SET", "number", "1234567"},
      {"SET", "long", Long('x', 200'000)},
      {"SET", "passing", "v", "PX", "500000"},
      {"RPUSH", "list", "a", "", "17", Long('e', 100)},
      {"SADD", "integers", "1", "-2", "70000"},
      {"SADD", "set", "a", "1", ""},
      {"HSET", "hash", "f", "v", "1", "-5"},
      {"ZADD", "zset", "1.5", "a", "-inf", "b", "3", "c"},
      {"XADD", "stream", "5-1", "f", "v"},
      {"PFADD", "hll", "a", "b", "c"},
  };
  for (const char* command : {"RPUSH", "SADD", "HSET", "ZADD"}) {
    Words request = {command, std::string("large") + command};
    for (int i = 0; i < 3000; ++i) {
      const std::string number = std::to_string(i);
      if (std::string(command) == "HSET") request.push_back("field" + number);
      if (std::string(command) == "ZADD") request.push_back(number);
      request.push_back("member" + number);
    }
    values.push_back(request);
  }
  return values;
}

Words With(Words words, const std::vector<Words>& values) {
  for (const Words& value : values) words.push_back(value[1]);
  return words;
}

void MoveThereAndBack(const std::string& program) {
  if (!testing::Oracle::Exists(program)) {
    WARN(program << " is missing");
    return;
  }
  Daemon daemon({"--enable-debug-command", "yes"});
  Client here(daemon);
  Redis there(program);
  const std::vector<Words> values = Values();
  for (const Words& value : values) REQUIRE(here.Run(value)[0] != '-');
  const Words digests = With({"DEBUG", "DIGEST-VALUE"}, values);
  const std::string digest = here.Run(digests);

  CHECK(here.Run(With({"MIGRATE", "127.0.0.1", there.port(), "", "2", "5000", "KEYS"}, values)) == "OK");
  CHECK(here.Run({"DBSIZE"}) == ":0");
  CHECK(there.Run({"SELECT", "2"}) == "OK");
  CHECK(there.Run(digests) == digest);
  const int64_t ttl_ms = std::stoll(there.Run({"PTTL", "passing"}).substr(1));
  CHECK(ttl_ms <= 500'000);
  CHECK(ttl_ms > 490'000);

  CHECK(there.Run(With({"MIGRATE", "127.0.0.1", std::to_string(daemon.port()), "", "1", "5000", "KEYS"},
                       values)) == "OK");
  CHECK(there.Run({"DBSIZE"}) == ":0");
  CHECK(here.Run({"SELECT", "1"}) == "OK");
  CHECK(here.Run(digests) == digest);
  CHECK(std::stoll(here.Run({"PTTL", "passing"}).substr(1)) > 480'000);
}

TEST_CASE("keys of all types move to a redis-server and back") {
  MoveThereAndBack(testing::Oracle::kProgram);
}

TEST_CASE("keys of all types move to a newer redis-server and back") {
  MoveThereAndBack(testing::Oracle::kNewerProgram);
}

TEST_CASE("MIGRATE logs in, and tells the errors of the target in its words") {
  Daemon daemon;
  Client here(daemon);
  Redis there(testing::Oracle::kProgram, {"--requirepass", "secret"});
  CHECK(there.Run({"AUTH", "secret"}) == "OK");
  here.Run({"SET", "k", "v"});
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.port(), "k", "0", "5000"}) ==
        "-ERR Target instance replied with error: NOAUTH Authentication required.");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.port(), "k", "0", "5000", "AUTH", "wrong"}) ==
        "-ERR Target instance replied with error: WRONGPASS invalid username-password pair or user is "
        "disabled.");
  CHECK(here.Run({"MIGRATE", "localhost", there.port(), "k", "0", "5000", "COPY", "AUTH", "secret"}) == "OK");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.port(), "k", "0", "5000", "AUTH2", "default", "secret"}) ==
        "-ERR Target instance replied with error: BUSYKEY Target key name already exists.");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.port(), "k", "99", "5000", "AUTH", "secret"}) ==
        "-ERR Target instance replied with error: ERR DB index is out of range");
  CHECK(here.Run({"MIGRATE", "127.0.0.1", there.port(), "k", "0", "5000", "REPLACE", "AUTH", "secret"}) ==
        "OK");
  CHECK(there.Run({"GET", "k"}) == "v");
  CHECK(here.Run({"EXISTS", "k"}) == ":0");
}

TEST_CASE("ten thousand keys move by KEYS in batches, while they are written to") {
  constexpr int kKeys = 10'000;
  constexpr int kBatch = 1'000;
  Daemon from;
  Daemon to;
  Client here(from);
  Client writer(from);
  Client there(to);
  for (int i = 0; i < kKeys; ++i) here.Queue({"SET", "k" + std::to_string(i), "0"});
  for (int i = 0; i < kKeys; ++i) here.Next();
  for (int first = 0; first < kKeys; first += kBatch) {
    Words request = {"MIGRATE", "127.0.0.1", std::to_string(to.port()), "", "0", "5000", "KEYS"};
    for (int i = first; i < first + kBatch; ++i) request.push_back("k" + std::to_string(i));
    for (int i = first; i < first + kBatch; i += 7)
      writer.Queue({"SET", "k" + std::to_string(i), "new", "XX", "GET"});
    here.Queue(request);
    CHECK(here.Next() == "OK");
    for (int i = first; i < first + kBatch; i += 7) {
      // Whichever of both has seen the key, it is there, with the writer's value if the writer has found it here.
      const bool written = writer.Next() != "(nil)";
      CHECK(there.Run({"GET", "k" + std::to_string(i)}) == (written ? "new" : "0"));
    }
  }
  CHECK(here.Run({"DBSIZE"}) == ":0");
  CHECK(there.Run({"DBSIZE"}) == ":" + std::to_string(kKeys));
}

TEST_CASE("no counter loses a step while it moves") {
  constexpr int kSteps = 5'000;
  Daemon from;
  Daemon to;
  Client here(from);
  Client there(to);
  std::atomic<bool> writes = true;
  std::thread writer([&] {
    Client client(from);
    for (int i = 0; i < kSteps; ++i) client.Run({"INCR", "counter"});
    writes = false;
  });
  int moves = 0;
  int64_t sum = 0;
  bool last = false;
  while (!last) {
    last = !writes;  // once more after the last step
    if (here.Run({"MIGRATE", "127.0.0.1", std::to_string(to.port()), "counter", "0", "5000"}) != "OK")
      continue;
    ++moves;
    sum += std::stoll(there.Run({"GETDEL", "counter"}));
  }
  writer.join();
  CHECK(moves > 10);
  CHECK(sum == kSteps);
}

TEST_CASE("while a MIGRATE waits for a target that never answers, others are served at once") {
  Daemon daemon;
  Client mover(daemon);
  Client other(daemon);
  const Listener silent;
  mover.Run({"SET", "k", "v"});
  mover.Queue({"MIGRATE", "127.0.0.1", silent.port(), "k", "0", "700"});
  const int64_t began_ms = NowMs();
  std::string waited;
  std::thread reader([&] { waited = mover.Next(); });
  int64_t worst_ms = 0;
  int served = 0;
  for (; NowMs() - began_ms < 500; ++served) {
    const int64_t asked_ms = NowMs();
    CHECK(other.Run({"GET", "k"}) == "v");
    worst_ms = std::max(worst_ms, NowMs() - asked_ms);
  }
  reader.join();
  CHECK(waited == "-IOERR error or timeout reading to target instance");
  CHECK(NowMs() - began_ms >= 700);
  CHECK(served > 10);
  CHECK(worst_ms < 300);
}

TEST_CASE("a target that is not there, or talks nonsense, is an error of this request alone") {
  Daemon daemon;
  Client here(daemon);
  here.Run({"SET", "k", "v"});
  const std::string nobody = std::to_string(FreePort());
  CHECK(here.Run({"MIGRATE", "127.0.0.1", nobody, "k", "0", "5000"}) ==
        "-IOERR error or timeout writing to target instance");
  CHECK(here.Run({"MIGRATE", "no.such.host.invalid", "6379", "k", "0", "5000"}) ==
        "-IOERR error or timeout connecting to the client");
  CHECK(here.Run({"MIGRATE", "::1", nobody, "k", "0", "5000"}).starts_with("-IOERR"));
  for (const std::string& nonsense : {std::string("HTTP/1.1 200 OK\r\n\r\n"), Long('+', 3'000'000),
                                      "$100000000\r\n" + Long('x', 1'000'000), std::string("\0\r\n", 3)}) {
    Listener liar;
    here.Queue({"MIGRATE", "127.0.0.1", liar.port(), "k", "0", "5000"});
    std::thread target([&] { liar.Say(nonsense); });
    CHECK(here.Next() == "-IOERR error or timeout reading to target instance");
    target.join();
  }
  Listener brief;
  here.Queue({"MIGRATE", "127.0.0.1", brief.port(), "k", "0", "5000"});
  std::thread target([&] {
    brief.Say("+OK\r\n");
    brief.HangUp();
  });
  CHECK(here.Next() == "-IOERR error or timeout reading to target instance");
  target.join();
  CHECK(here.Run({"GET", "k"}) == "v");
}

TEST_CASE("a client that leaves ends its MIGRATE, and a daemon with a kept connection stops at once") {
  Daemon daemon;
  Daemon to;
  Client here(daemon);
  here.Run({"MSET", "a", "1", "b", "2"});
  const Listener silent;
  {
    Client leaver(daemon);
    leaver.Queue({"CLIENT", "SETNAME", "leaver"});
    leaver.Queue({"MIGRATE", "127.0.0.1", silent.port(), "a", "0", "60000"});
    CHECK(leaver.Next() == "OK");
    CHECK(Eventually([&] { return here.InfoNumber("blocked_clients") == 1; }));
  }
  CHECK(Eventually([&] { return here.InfoNumber("blocked_clients") == 0; }));
  CHECK(here.Run({"MIGRATE", "127.0.0.1", std::to_string(to.port()), "b", "0", "5000"}) == "OK");
  CHECK(here.InfoNumber("migrate_cached_sockets") == 1);
  const int64_t asked_ms = NowMs();
  daemon.Signal(SIGTERM);
  CHECK(daemon.Wait().exit_code == 0);
  CHECK(NowMs() - asked_ms < 5'000);
}

}  // namespace
}  // namespace mayfly
