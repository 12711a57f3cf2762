// Where the daemon listens, and which clients it accepts.
#include <unistd.h>

#include <fstream>
#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"
#include "support/free_port.h"

#include <sys/stat.h>

namespace mayfly {
namespace {

TEST_CASE("the unix socket serves, with the permissions of unixsocketperm") {
  const Daemon daemon({"--unixsocketperm", "700"});
  CHECK(Client::OverUnixSocket(daemon).Run({"PING"}) == "PONG");
  struct stat found{};
  REQUIRE(stat(daemon.unix_socket().c_str(), &found) == 0);
  CHECK((found.st_mode & 0777) == 0700);
}

TEST_CASE("without a port only the unix socket serves") {
  const Daemon daemon({"--port", "0"});
  CHECK(Client::OverUnixSocket(daemon).Run({"PING"}) == "PONG");
  CHECK(daemon.log().find("127.0.0.1") == std::string::npos);
}

TEST_CASE("the socket of a killed daemon is replaced, but not one in use") {
  Daemon first;
  const std::string path = first.unix_socket();
  const Ended refused = Daemon::RunToEnd({"--port", "0", "--unixsocket", path});
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.find("mayfly: cannot listen on " + path + ": address already in use\n") !=
        std::string::npos);
  first.Signal(9);
  first.Wait();
  REQUIRE(access(path.c_str(), F_OK) == 0);
  const Daemon second({"--unixsocket", path, "--port", std::to_string(FreePort())});
  CHECK(Wire::Unix(path).Ask("PING\r\n", kPong) == kPong);
}

TEST_CASE("several addresses serve at once, also IPv6, and a missing optional one is skipped") {
  const Daemon daemon({"--bind", "127.0.0.1", "127.0.0.2", "::1", "-192.0.2.77"});
  CHECK(Wire::Tcp(daemon.port(), "127.0.0.1").Ask("PING\r\n", kPong) == kPong);
  CHECK(Wire::Tcp(daemon.port(), "127.0.0.2").Ask("PING\r\n", kPong) == kPong);
  CHECK(Wire::Tcp(daemon.port(), "::1").Ask("PING\r\n", kPong) == kPong);
}

TEST_CASE("a star and an optional pair of colons listen on everything") {
  const Daemon daemon({"--bind", "*", "-::*"});
  CHECK(Wire::Tcp(daemon.port(), "127.0.0.1").Ask("PING\r\n", kPong) == kPong);
  CHECK(Wire::Tcp(daemon.port(), "::1").Ask("PING\r\n", kPong) == kPong);
}

TEST_CASE("a file that is no socket is not removed for the unix socket") {
  const Daemon daemon;
  const std::string path = daemon.unix_socket() + ".txt";
  std::ofstream(path) << "mine";
  const Ended refused = Daemon::RunToEnd({"--port", "0", "--unixsocket", path});
  CHECK(refused.exit_code == 1);
  CHECK(refused.output.find("mayfly: cannot listen on " + path + ": the file exists and is no socket\n") !=
        std::string::npos);
  std::string text;
  std::ifstream(path) >> text;
  CHECK(text == "mine");
}

TEST_CASE("an address that is in use or missing gives one line and exit code 1") {
  const Daemon daemon;
  const std::string port = std::to_string(daemon.port());
  const Ended taken = Daemon::RunToEnd({"--bind", "127.0.0.1", "--port", port});
  CHECK(taken.exit_code == 1);
  CHECK(taken.output.find("mayfly: cannot listen on 127.0.0.1:" + port + ": address already in use\n") !=
        std::string::npos);
  const Ended missing = Daemon::RunToEnd({"--bind", "192.0.2.77", "--port", port});
  CHECK(missing.exit_code == 1);
  CHECK(missing.output.find("mayfly: cannot listen on 192.0.2.77:" + port + ": address not available\n") !=
        std::string::npos);
  const Ended folderless = Daemon::RunToEnd({"--port", "0", "--unixsocket", "/no/such/folder/socket"});
  CHECK(folderless.exit_code == 1);
  CHECK(folderless.output.find(
            "mayfly: cannot listen on /no/such/folder/socket: no such file or directory\n") !=
        std::string::npos);
  const Ended nowhere = Daemon::RunToEnd({"--port", "0"});
  CHECK(nowhere.exit_code == 1);
  CHECK(nowhere.output.find("mayfly: nothing to listen on") != std::string::npos);
}

TEST_CASE("a client above maxclients is told so and closed, and the others go on") {
  const Daemon daemon({"--maxclients", "2"});
  Client first(daemon);
  REQUIRE(Eventually([&] { return first.InfoNumber("connected_clients") == 1; }));
  const int64_t rejected = first.InfoNumber("rejected_connections");
  Client second(daemon);
  REQUIRE(second.Run({"PING"}) == "PONG");
  const Wire third = Wire::Tcp(daemon.port());
  CHECK(third.ReadToEnd() == "-ERR max number of clients reached\r\n");
  CHECK(first.InfoNumber("rejected_connections") == rejected + 1);
  CHECK(second.Run({"PING"}) == "PONG");
  CHECK(first.Run({"CONFIG", "SET", "maxclients", "3"}) == "OK");
  CHECK(Wire::Tcp(daemon.port()).Ask("PING\r\n", kPong) == kPong);
}

TEST_CASE("maxclients is not set higher than the limit of open files allows") {
  const Daemon daemon({"--maxclients", "100"});
  Client client(daemon);
  CHECK(client.Run({"CONFIG", "SET", "timeout", "5", "maxclients", "4294967295"})
            .starts_with("-ERR CONFIG SET failed (possibly related to argument 'maxclients') - The operating "
                         "system is not able to handle the specified number of clients, try with "));
  CHECK(client.Run({"CONFIG", "GET", "maxclients"}) == "[maxclients 100]");
  CHECK(client.Run({"CONFIG", "GET", "timeout"}) == "[timeout 0]");
}

TEST_CASE("with requirepass a client has to log in first, and until then its requests must be small") {
  const Daemon daemon({"--requirepass", "secret"});
  Client client(daemon);
  CHECK(client.Run({"GET", "k"}) == "-NOAUTH Authentication required.");
  CHECK(client.Run({"AUTH", "wrong"}).starts_with("-WRONGPASS"));
  CHECK(client.Run({"AUTH", "secret"}) == "OK");
  CHECK(client.Run({"SET", "k", std::string(100'000, 'v')}) == "OK");

  const Wire many = Wire::Tcp(daemon.port());
  many.Send("*11\r\n");
  CHECK(many.ReadToEnd() == "-ERR Protocol error: unauthenticated multibulk length\r\n");
  const Wire big = Wire::Tcp(daemon.port());
  big.Send("*2\r\n$4\r\nAUTH\r\n$16385\r\n");
  CHECK(big.ReadToEnd() == "-ERR Protocol error: unauthenticated bulk length\r\n");
  const Wire pipelined = Wire::Tcp(daemon.port());
  const std::string replies = "+OK\r\n+OK\r\n";
  CHECK(pipelined.Ask(Request({"AUTH", "secret"}) + Request({"SET", "k", std::string(100'000, 'w')}),
                      replies) == replies);
}

TEST_CASE("an idle client is closed after the time of the option timeout, a busy one is not") {
  const Daemon daemon;
  Client client(daemon);
  const Wire idle = Wire::Tcp(daemon.port());
  REQUIRE(idle.Ask("PING\r\n", kPong) == kPong);
  REQUIRE(client.Run({"CONFIG", "SET", "timeout", "2"}) == "OK");
  CHECK(Eventually([&] { return client.InfoNumber("connected_clients") == 1; }));
  CHECK(idle.ReadToEnd().empty());
  CHECK(client.Run({"PING"}) == "PONG");
}

}  // namespace
}  // namespace mayfly
