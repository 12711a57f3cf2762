// A daemon under a service manager, and beside the system's log.
#include <signal.h>

#include <string>

#include "integration/client.h"
#include "integration/daemon.h"
#include "support/catch.h"
#include "support/datagram_socket.h"
#include "support/folder.h"

namespace mayfly {
namespace {

using testing::DatagramSocket;

// The next datagram, which may still be on its way.
std::string Next(const DatagramSocket& socket) {
  std::string datagram;
  static_cast<void>(Eventually([&] { return (datagram = socket.Take()) != ""; }));
  return datagram;
}

TEST_CASE("systemd is told when the daemon serves, when it has reloaded, that it lives, and when it stops") {
  const Folder folder;
  const DatagramSocket manager(folder / "notify");
  Daemon daemon({"--supervised", "auto"},
                {.environment = {"NOTIFY_SOCKET=" + (folder / "notify"), "WATCHDOG_USEC=3600000000"}});
  CHECK(Next(manager) == "WATCHDOG=1");
  CHECK(Next(manager) == "READY=1\nSTATUS=Ready to accept connections");
  CHECK(Client(daemon).Run({"CONFIG", "GET", "supervised"}) == "[supervised auto]");
  CHECK(Client(daemon).Run({"CONFIG", "SET", "supervised", "no"}).starts_with("-ERR CONFIG SET failed"));
  daemon.Signal(SIGHUP);
  CHECK(Next(manager).starts_with("RELOADING=1\nMONOTONIC_USEC="));
  CHECK(Next(manager) == "READY=1");
  daemon.Signal(SIGTERM);
  CHECK(Next(manager) == "STOPPING=1\nSTATUS=Stopping");
  CHECK(daemon.Wait().exit_code == 0);
  CHECK(manager.Take() == "");
}

TEST_CASE("without supervised nobody is told of anything, and a daemon whose manager is absent serves") {
  const Folder folder;
  const DatagramSocket manager(folder / "notify");
  Daemon silent({}, {.environment = {"NOTIFY_SOCKET=" + (folder / "notify")}});
  silent.Signal(SIGTERM);
  CHECK(silent.Wait().exit_code == 0);
  CHECK(manager.Take() == "");
  const Daemon alone({"--supervised", "systemd"});
  CHECK(Client(alone).Run({"PING"}) == "PONG");
  CHECK(alone.log().find("# systemd supervision error: NOTIFY_SOCKET not found!") != std::string::npos);
}

TEST_CASE("with syslog-enabled a daemon serves, whether or not there is a system's log") {
  const Daemon daemon(
      {"--syslog-enabled", "yes", "--syslog-ident", "sessions", "--syslog-facility", "LOCAL7"});
  Client client(daemon);
  CHECK(client.Run({"PING"}) == "PONG");
  CHECK(client.Run({"CONFIG", "GET", "syslog*"}) ==
        "[syslog-enabled yes syslog-ident sessions syslog-facility local7]");
  CHECK(daemon.log().find(" * Ready to accept connections\n") != std::string::npos);
  const Ended ended = Daemon::RunToEnd({"--syslog-facility", "mail"});
  CHECK(ended.exit_code == 1);
  CHECK(ended.output ==
        "mayfly: --syslog-facility: argument(s) must be one of the following: user, local0, local1, local2, "
        "local3, "
        "local4, local5, local6, local7\n");
}

}  // namespace
}  // namespace mayfly
