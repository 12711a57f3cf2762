#include "net/process/service_manager.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "net/socket/descriptor.h"
#include "support/catch.h"
#include "support/datagram_socket.h"

#include <sys/wait.h>

namespace mayfly::net {
namespace {

using config::Supervised;
using testing::DatagramSocket;

// A manager's socket, and what a daemon logs about it.
struct Manager {
  ~Manager() { std::filesystem::remove(logfile); }
  ServiceManager Meet(Supervised wanted, const std::vector<std::string>& environment) {
    return ServiceManager(wanted, environment, kPid, log);
  }
  std::string Logged() const {
    std::ifstream file(logfile);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  static constexpr pid_t kPid = 77;
  std::string path =
      (std::filesystem::temp_directory_path() / ("mayfly-notify-test-" + std::to_string(getpid()))).string();
  std::string logfile = path + ".log";
  DatagramSocket socket{path};
  SteppedClock clock;
  Log log{clock, Log::Level::kNotice, logfile};
};

TEST_CASE(
    "while a daemon saves before the end, the watchdog waits, and has its time again if the save fails") {
  Manager manager;
  ServiceManager service =
      manager.Meet(Supervised::kSystemd, {"NOTIFY_SOCKET=" + manager.path, "WATCHDOG_USEC=30000000"});
  service.SavingAtEnd();
  CHECK(manager.socket.Take() ==
        "STATUS=Saving before the end\nEXTEND_TIMEOUT_USEC=3600000000\nWATCHDOG_USEC=3600000000");
  service.ServingAgain();
  CHECK(manager.socket.Take() == "STATUS=Ready to accept connections\nWATCHDOG_USEC=30000000");
}

TEST_CASE("systemd is told of readiness, reloads, life and the end, one datagram each") {
  Manager manager;
  ServiceManager service = manager.Meet(Supervised::kSystemd, {"NOTIFY_SOCKET=" + manager.path});
  service.Ready();
  CHECK(manager.socket.Take() == "READY=1\nSTATUS=Ready to accept connections");
  service.Reloaded(123'456);
  CHECK(manager.socket.Take() == "RELOADING=1\nMONOTONIC_USEC=123456");
  CHECK(manager.socket.Take() == "READY=1");
  service.StillAlive();
  CHECK(manager.socket.Take() == "WATCHDOG=1");
  service.SavingAtEnd();
  CHECK(manager.socket.Take() == "STATUS=Saving before the end\nEXTEND_TIMEOUT_USEC=3600000000");
  service.ServingAgain();
  CHECK(manager.socket.Take() == "STATUS=Ready to accept connections");
  service.Stopping();
  CHECK(manager.socket.Take() == "STOPPING=1\nSTATUS=Stopping");
  CHECK(manager.socket.Take() == "");
  CHECK(manager.Logged() == "");
}

TEST_CASE("a socket in the kernel's own space begins with an at sign") {
  Manager manager;
  const std::string name = "@mayfly-test-" + std::to_string(getpid());
  const DatagramSocket socket(name);
  manager.Meet(Supervised::kSystemd, {"NOTIFY_SOCKET=" + name}).Ready();
  CHECK(socket.Take().starts_with("READY=1\n"));
}

TEST_CASE("auto finds systemd by its variable, and no ignores it") {
  Manager manager;
  manager.Meet(Supervised::kAuto, {"HOME=/", "NOTIFY_SOCKET=" + manager.path}).Ready();
  CHECK(manager.socket.Take().starts_with("READY=1\n"));
  manager.Meet(Supervised::kNo, {"NOTIFY_SOCKET=" + manager.path}).Ready();
  manager.Meet(Supervised::kAuto, {"NOTIFY_SOCKET="}).Ready();
  manager.Meet(Supervised::kAuto, {}).Ready();
  CHECK(manager.socket.Take() == "");
  CHECK(manager.Logged() == "");
}

TEST_CASE("a manager that is asked for and absent is warned of, in Redis's words") {
  Manager manager;
  manager.Meet(Supervised::kSystemd, {"NOTIFY_SOCKETS=x"}).Ready();
  CHECK(manager.Logged().ends_with(" # systemd supervision error: NOTIFY_SOCKET not found!\n"));
  manager.Meet(Supervised::kUpstart, {"NOTIFY_SOCKET=" + manager.path}).Ready();
  CHECK(manager.Logged().ends_with(" # upstart supervision requested, but UPSTART_JOB not found!\n"));
  CHECK(manager.socket.Take() == "");
}

TEST_CASE("a variable without a value is none, and one whose name only begins alike is another") {
  for (const char* const variable :
       {"NOTIFY_SOCKET=", "NOTIFY_SOCKET", "NOTIFY_SOCKETS=/x", "NOTIFY_SOCKE=/x"}) {
    CAPTURE(variable);
    Manager manager;
    manager.Meet(Supervised::kSystemd, {variable, "WATCHDOG_USEC=1000000"}).Ready();
    CHECK(manager.Logged().ends_with(" # systemd supervision error: NOTIFY_SOCKET not found!\n"));
    CHECK(manager.Meet(Supervised::kSystemd, {variable, "WATCHDOG_USEC=1000000"}).watchdog_ms() == 0);
  }
  Manager manager;
  manager.Meet(Supervised::kUpstart, {"UPSTART_JOB="}).Ready();
  CHECK(manager.Logged().ends_with(" # upstart supervision requested, but UPSTART_JOB not found!\n"));
}

TEST_CASE("a socket that nobody listens on is warned of, and the daemon goes on") {
  Manager manager;
  manager.Meet(Supervised::kSystemd, {"NOTIFY_SOCKET=/no/such/socket"}).Ready();
  CHECK(manager.Logged().ends_with(
      " # systemd supervision error: /no/such/socket: No such file or directory\n"));
  CHECK(SendDatagram("", "x", 1) == EINVAL);
  CHECK(SendDatagram("/" + std::string(200, 'x'), "x", 1) == EINVAL);
}

TEST_CASE("the watchdog is told twice as often as systemd asks for, if it asks this process") {
  Manager manager;
  const std::string socket = "NOTIFY_SOCKET=" + manager.path;
  const auto interval = [&](const std::vector<std::string>& more) {
    std::vector<std::string> environment{socket};
    environment.insert(environment.end(), more.begin(), more.end());
    return manager.Meet(Supervised::kSystemd, environment).watchdog_ms();
  };
  CHECK(interval({}) == 0);
  CHECK(interval({"WATCHDOG_USEC=30000000"}) == 15'000);
  CHECK(interval({"WATCHDOG_USEC=30000000", "WATCHDOG_PID=77"}) == 15'000);
  CHECK(interval({"WATCHDOG_USEC=30000000", "WATCHDOG_PID=78"}) == 0);
  CHECK(interval({"WATCHDOG_USEC=1"}) == 1);
  for (const char* wrong : {"WATCHDOG_USEC=0", "WATCHDOG_USEC=", "WATCHDOG_USEC=x", "WATCHDOG_USEC=-1"})
    CHECK(interval({wrong}) == 0);
  CHECK(manager.Meet(Supervised::kAuto, {"WATCHDOG_USEC=30000000"}).watchdog_ms() == 0);
}

TEST_CASE("under Upstart the daemon stops itself when it is ready, and goes on when it is let") {
  Manager manager;
  for (const Supervised wanted : {Supervised::kUpstart, Supervised::kAuto}) {
    const pid_t child = fork();
    if (child == 0) {
      manager.Meet(wanted, {"UPSTART_JOB=mayfly", "NOTIFY_SOCKET=" + manager.path}).Ready();
      _exit(7);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, WUNTRACED) == child);
    CHECK((WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP));
    kill(child, SIGCONT);
    REQUIRE(waitpid(child, &status, 0) == child);
    CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 7));
  }
  CHECK(manager.Logged().ends_with(" * supervised by upstart, will stop to signal readiness.\n"));
  CHECK(manager.socket.Take() == "");
}

}  // namespace
}  // namespace mayfly::net
