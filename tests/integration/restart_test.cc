// A restart: what the next daemon has of the last one, and what clients see meanwhile.
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/folder.h"
#include "support/free_port.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace mayfly {
namespace {

namespace fs = std::filesystem;

using Options = std::vector<std::string>;

std::string ReadWhole(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A listening socket as a service manager has it.
class ManagersSocket {
 public:
  explicit ManagersSocket(int family = AF_INET, bool both_families = false)
      : file_(socket(family, SOCK_STREAM, 0)) {
    sockaddr_storage address{};
    socklen_t size = sizeof(sockaddr_in);
    address.ss_family = static_cast<sa_family_t>(family);
    if (family == AF_INET) {
      reinterpret_cast<sockaddr_in&>(address).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    } else {
      size = sizeof(sockaddr_in6);
      const int one_family = both_families ? 0 : 1;
      setsockopt(file_, IPPROTO_IPV6, IPV6_V6ONLY, &one_family, sizeof one_family);
    }
    const bool listens = bind(file_, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                         getsockname(file_, reinterpret_cast<sockaddr*>(&address), &size) == 0 &&
                         listen(file_, 1000) == 0;
    if (!listens) throw std::runtime_error("cannot listen");
    port_ = ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
  }
  // At a path.
  explicit ManagersSocket(const std::string& path) : file_(socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (bind(file_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 || listen(file_, 1000) != 0)
      throw std::runtime_error("cannot listen");
  }
  ManagersSocket(const ManagersSocket&) = delete;
  ManagersSocket& operator=(const ManagersSocket&) = delete;
  ~ManagersSocket() { close(file_); }

  int file() const { return file_; }
  std::string port() const { return std::to_string(port_); }
  uint16_t number() const { return port_; }

 private:
  int file_;
  uint16_t port_ = 0;
};

// Connects, asks and leaves, again and again, until it is told to stop.
class Visitor {
 public:
  explicit Visitor(uint16_t port) : port_(port), thread_([this] { Run(); }) {}
  ~Visitor() { Stop(); }
  void Stop() {
    stop_ = true;
    if (thread_.joinable()) thread_.join();
  }

  std::atomic<int> refused = 0;  // nobody listened
  std::atomic<int> answered = 0;
  std::atomic<int> wrong = 0;

 private:
  void Run() {
    while (!stop_) {
      try {
        const Wire wire = Wire::Tcp(port_);
        // The key, or none while the file is loaded; a connection of the old daemon's may end without a reply.
        const std::string head = wire.Ask("GET k\r\n", "$1\r\n");
        if (head == "$1\r\n" && wire.Read(3) == "v\r\n")
          ++answered;
        else
          wrong += head.empty() || head == "$-1\r" ? 0 : 1;
      } catch (const std::runtime_error&) {
        ++refused;
      }
    }
  }

  const uint16_t port_;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

// Ends the daemon, and returns its output.
std::string End(Daemon& daemon, int signal = SIGTERM) {
  daemon.Signal(signal);
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 0);
  return ended.output;
}

TEST_CASE("with save points a daemon saves when it is told to end, and the next one has the keys") {
  const Folder folder;
  const Options options = {"--dir", folder.path(), "--save", "3600 1000000"};
  Daemon first(options);
  CHECK(Client(first).Run({"SET", "k", "v"}) == "OK");
  const std::string log = End(first);
  CHECK(log.find("saved 1 keys, ") != std::string::npos);
  Daemon second(options);
  CHECK(Eventually([&] { return Client(second).Run({"GET", "k"}) == "v"; }));
  CHECK(Eventually([&] { return second.log().find("loaded 1 keys of ") != std::string::npos; }));
}

TEST_CASE("readers are served while a daemon saves before its end, and writers wait") {
  const Folder folder;
  const Options options = {"--dir", folder.path(),      "--save", "3600 1", "--enable-debug-command",
                           "yes",   "--rdbcompression", "no"};
  Daemon first(options);
  Client reader(first);
  Client writer(first);
  CHECK(reader.Run({"DEBUG", "POPULATE", "200000", "key", "1000"}) == "OK");
  first.Signal(SIGTERM);
  CHECK(Eventually([&] { return reader.InfoNumber("rdb_bgsave_in_progress") == 1; }));
  std::string written;
  std::thread writes([&] { written = writer.Run({"SET", "late", "v"}); });
  int answers = 0;
  while (reader.Run({"GET", "key:1"}).starts_with("value:1")) ++answers;
  writes.join();
  const Ended ended = first.Wait();
  CHECK(ended.exit_code == 0);
  CHECK(answers > 10);
  CHECK(written == "(gone)");
  CHECK(ended.output.find("saved 200000 keys, ") != std::string::npos);
  Daemon second(options);
  CHECK(Eventually([&] { return second.log().find("loaded 200000 keys of ") != std::string::npos; }));
}

TEST_CASE(
    "a script that never ends does not keep a daemon that saves before its end, and the old file stays") {
  const Folder folder;
  Daemon daemon({"--dir", folder.path(), "--save", "3600 1", "--enable-debug-command", "yes",
                 "--rdbcompression", "no", "--shutdown-timeout", "1", "--busy-reply-threshold", "0"});
  Client client(daemon);
  CHECK(client.Run({"DEBUG", "POPULATE", "300000", "key", "1000"}) == "OK");
  daemon.Signal(SIGTERM);
  CHECK(Eventually([&] { return client.InfoNumber("rdb_bgsave_in_progress") == 1; }));
  CHECK(client.Run({"EVAL_RO", "while true do end", "0"}) == "(gone)");
  const Ended ended = daemon.Wait();
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("has not stopped (shutdown-timeout)") != std::string::npos);
  CHECK_FALSE(fs::exists(folder.path() + "/dump.rdb"));
}

TEST_CASE("a daemon that saves nothing says how many keys go with it") {
  Daemon daemon;
  for (const char* key : {"a", "b", "c"}) CHECK(Client(daemon).Run({"SET", key, "v"}) == "OK");
  CHECK(End(daemon).find("dropping 3 keys: nothing was saved") != std::string::npos);
}

TEST_CASE("a daemon whose last save fails goes on, unless it is forced to end") {
  const Folder folder;
  const auto start = [&](const std::string& words) {
    return std::make_unique<Daemon>(
        Options{"--dir", folder.path(), "--save", "3600 1", "--shutdown-on-sigterm", words});
  };
  // A folder has the file's name.
  fs::create_directories(folder.path() + "/dump.rdb/in the way");
  const std::unique_ptr<Daemon> stays = start("default");
  Client early(*stays);
  CHECK(early.Run({"SET", "k", "v"}) == "OK");
  stays->Signal(SIGTERM);
  CHECK(Eventually(
      [&] { return stays->log().find("not stopping, because the save has failed") != std::string::npos; }));
  CHECK(early.Run({"GET", "k"}) == "v");
  CHECK(early.Run({"SET", "k", "w"}).starts_with("-MISCONF "));
  CHECK(Client(*stays).Run({"SHUTDOWN"}) == "-ERR Errors trying to SHUTDOWN. Check logs.");
  CHECK(Client(*stays).Run({"SHUTDOWN", "NOSAVE"}) == "(gone)");
  CHECK(stays->Wait().exit_code == 0);
  const std::unique_ptr<Daemon> hasty = start("now");
  Client gone(*hasty);
  CHECK(gone.Run({"SET", "k", "v"}) == "OK");
  hasty->Signal(SIGTERM);
  CHECK(Eventually(
      [&] { return hasty->log().find("not stopping, because the save has failed") != std::string::npos; }));
  CHECK(gone.Run({"GET", "k"}) == "(gone)");  // nobody is served during the save, so clients go before it
  CHECK(Client(*hasty).Run({"GET", "k"}) == "v");
  CHECK(Client(*hasty).Run({"SHUTDOWN", "NOSAVE"}) == "(gone)");
  const std::unique_ptr<Daemon> ends = start("force");
  CHECK(Client(*ends).Run({"SET", "k", "v"}) == "OK");
  CHECK(End(*ends).find("stopping without the save (force)") != std::string::npos);
}

TEST_CASE("SIGINT and SIGTERM stop a daemon each by its own option") {
  for (const int signal : {SIGINT, SIGTERM}) {
    const Folder folder;
    Daemon daemon({"--dir", folder.path(), "--save", "3600 1", "--shutdown-on-sigint", "nosave"});
    CHECK(Client(daemon).Run({"SET", "k", "v"}) == "OK");
    daemon.Signal(signal);
    CHECK(daemon.Wait().exit_code == 0);
    CHECK(fs::exists(folder.path() + "/dump.rdb") == (signal == SIGTERM));
  }
}

TEST_CASE("a daemon that will save nothing says so at the start") {
  const std::string line = "nothing will be saved: there are no save points";
  CHECK(Daemon().log().find(line) != std::string::npos);
  CHECK(Daemon({"--save", ""}).log().find(line) != std::string::npos);
  CHECK(Daemon({"--save", "3600", "1"}).log().find(line) == std::string::npos);
  CHECK(Daemon({"--shutdown-on-sigterm", "save"}).log().find(line) == std::string::npos);
}

TEST_CASE("save points whose folder cannot be written are told of at the start") {
  const Folder folder;
  // Root may write anywhere but there.
  const Daemon daemon({"--dir", "/proc/self", "--save", "3600 1"});
  CHECK(daemon.log().find("cannot write into /proc/") != std::string::npos);
}

TEST_CASE("with rdb-load-damaged no, a daemon with a damaged file ends with one line, and the file stays") {
  const Folder folder;
  const std::string file = folder.path() + "/dump.rdb";
  const std::string bytes = "REDIS0010\xFE\x01\x07";
  std::ofstream(file) << bytes;
  const Ended ended =
      Daemon::RunToEnd({"--dir", folder.path(), "--port", std::to_string(FreePort()), "--bind", "127.0.0.1",
                        "--rdb-load-damaged", "no", "--save", "3600 1"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output.find("mayfly: " + file + " is damaged at byte ") != std::string::npos);
  CHECK(ReadWhole(file) == bytes);
}

TEST_CASE(
    "a daemon with fewer databases than its file ends with one line, and the file stays, as with Redis") {
  const Folder folder;
  const std::string file = folder.path() + "/dump.rdb";
  {
    Daemon daemon({"--dir", folder.path(), "--databases", "32", "--save", "3600 1"});
    Client client(daemon);
    CHECK(client.Run({"SELECT", "20"}) == "OK");
    CHECK(client.Run({"SET", "k", "v"}) == "OK");
    CHECK(client.Run({"SAVE"}) == "OK");
  }
  const std::string bytes = ReadWhole(file);
  for (const char* damaged : {"yes", "no"}) {
    const Ended ended =
        Daemon::RunToEnd({"--dir", folder.path(), "--port", std::to_string(FreePort()), "--bind", "127.0.0.1",
                          "--rdb-load-damaged", damaged, "--save", "3600 1"});
    CHECK(ended.exit_code == 1);
    CHECK(ended.output.find("mayfly: " + file + " has keys of database 20, and the option databases is 16") !=
          std::string::npos);
    CHECK(ReadWhole(file) == bytes);
  }
  const Daemon daemon({"--dir", folder.path(), "--databases", "21"});
  Client client(daemon);
  CHECK(client.Run({"SELECT", "20"}) == "OK");
  CHECK(Eventually([&] { return client.Run({"GET", "k"}) == "v"; }));
}

TEST_CASE(
    "no client is refused while a daemon with an inherited socket is started anew, and the keys are there") {
  const Folder folder;
  const ManagersSocket socket;
  const Options options = {"--dir", folder.path(), "--port", socket.port(), "--save", "3600 1"};
  auto daemon = std::make_unique<Daemon>(options, Surroundings{.inherited = {socket.file()}});
  CHECK(daemon->log().find("listening on 127.0.0.1:" + socket.port()) != std::string::npos);
  CHECK(Client(*daemon).Run({"SET", "k", "v"}) == "OK");
  Visitor visitor(socket.number());
  for (int restart = 0; restart < 3; ++restart) {
    End(*daemon);
    const int before = visitor.answered;
    daemon = std::make_unique<Daemon>(options, Surroundings{.inherited = {socket.file()}});
    CHECK(Eventually([&] { return visitor.answered > before + 10; }));
  }
  visitor.Stop();
  CHECK(visitor.refused == 0);
  CHECK(visitor.wrong == 0);
}

TEST_CASE("clients that came when no daemon ran are served by the next one") {
  const ManagersSocket socket;
  const Wire early = Wire::Tcp(socket.number());
  CHECK(early.Send("PING\r\n"));
  const Daemon daemon({"--port", socket.port()}, {.inherited = {socket.file()}});
  CHECK(early.Read(kPong.size()) == kPong);
}

TEST_CASE("a socket for both families takes the place of two, and a unix socket keeps its file") {
  const Folder folder;
  const ManagersSocket tcp(AF_INET6, /*both_families=*/true);
  const ManagersSocket at_path(folder.path() + "/mayfly.sock");
  const Options options = {
      "--port",           tcp.port(), "--bind", "* -::*", "--unixsocket", folder.path() + "/mayfly.sock",
      "--protected-mode", "no"};
  Daemon daemon(options, {.inherited = {tcp.file(), at_path.file()}});
  CHECK(Wire::Tcp(tcp.number()).Ask("PING\r\n", kPong) == kPong);
  CHECK(Wire::Unix(folder.path() + "/mayfly.sock").Ask("PING\r\n", kPong) == kPong);
  // It would go on taking IPv4 clients.
  CHECK(Client(daemon).Run({"CONFIG", "SET", "bind", "::*"}).find("Failed to bind") != std::string::npos);
  End(daemon);
  CHECK(fs::is_socket(folder.path() + "/mayfly.sock"));
}

TEST_CASE("an inherited socket stays: CONFIG SET cannot leave it") {
  const ManagersSocket socket;
  const Daemon daemon({"--port", socket.port()}, {.inherited = {socket.file()}});
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "SET", "port", std::to_string(FreePort())}) ==
        "-ERR CONFIG SET failed (possibly related to argument 'port') - Unable to listen on this port. Check "
        "server logs.");
  CHECK(daemon.log().find("the socket 127.0.0.1:" + socket.port() +
                          " was inherited from the service manager") != std::string::npos);
  CHECK(client.Run({"CONFIG", "SET", "bind", "127.0.0.1 127.0.0.2"}) == "OK");
  CHECK(Wire::Tcp(socket.number()).Ask("PING\r\n", kPong) == kPong);
  CHECK(Wire::Tcp(socket.number(), "127.0.0.2").Ask("PING\r\n", kPong) == kPong);
}

TEST_CASE(
    "inherited descriptors that are no sockets of this daemon, and variables that make no sense, end the "
    "start") {
  const ManagersSocket socket;
  const Options options = {"--port", std::to_string(FreePort()), "--bind", "127.0.0.1"};
  const auto output = [&](const Options& words, const Surroundings& surroundings) {
    const Ended ended = Daemon::RunToEnd(words, surroundings);
    CHECK(ended.exit_code == 1);
    return ended.output;
  };
  CHECK(output(options, {.inherited = {socket.file()}})
            .find("mayfly: the inherited socket 127.0.0.1:" + socket.port() +
                  " (LISTEN_FDS) has none of the addresses of ") != std::string::npos);
  const ManagersSocket both(AF_INET6, /*both_families=*/true);
  CHECK(output({"--port", both.port(), "--bind", "::*"}, {.inherited = {both.file()}})
            .find(" takes clients of IPv6 and IPv4, but bind does not name both") != std::string::npos);
  int pipes[2];
  REQUIRE(pipe(pipes) == 0);
  const std::string no_socket = "mayfly: the inherited descriptor 3 (LISTEN_FDS) is no listening socket";
  CHECK(output(options, {.inherited = {pipes[0]}}).find(no_socket) != std::string::npos);
  const int silent = ::socket(AF_INET, SOCK_STREAM, 0);  // does not listen
  CHECK(output(options, {.inherited = {silent}}).find(no_socket) != std::string::npos);
  const int datagrams = ::socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(output(options, {.inherited = {datagrams}}).find(no_socket) != std::string::npos);
  for (const int file : {pipes[0], pipes[1], silent, datagrams}) close(file);
  Options sharded = options;
  sharded.insert(sharded.end(), {"--shards", "2"});
  CHECK(output(sharded, {.inherited = {socket.file()}})
            .find("mayfly: shards: the daemons open ports of their own") != std::string::npos);
}

TEST_CASE("variables of another process's sockets are passed over") {
  const Daemon daemon({}, {.environment = {"LISTEN_FDS=1", "LISTEN_PID=1", "LISTEN_FDNAMES=x"}});
  CHECK(Wire::Tcp(daemon.port()).Ask("PING\r\n", kPong) == kPong);
  const Daemon other({}, {.environment = {"LISTEN_FDS=nonsense", "LISTEN_PID=what"}});
  CHECK(Wire::Tcp(other.port()).Ask("PING\r\n", kPong) == kPong);
}

}  // namespace
}  // namespace mayfly
