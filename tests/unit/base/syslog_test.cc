#include "base/log/syslog.h"

#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/log/log.h"
#include "support/catch.h"
#include "support/datagram_socket.h"

namespace mayfly {
namespace {

using testing::DatagramSocket;

constexpr unsigned kLocal0 = 16;

std::string SocketPath() {
  return (std::filesystem::temp_directory_path() / ("mayfly-syslog-test-" + std::to_string(getpid())))
      .string();
}

// "name[pid]: " of this process.
std::string Tag(const std::string& name) { return " " + name + "[" + std::to_string(getpid()) + "]: "; }

TEST_CASE("a line for the system's log has facility and severity, date, name and pid") {
  const DatagramSocket socket(SocketPath());
  Syslog syslog("cache", kLocal0, SocketPath());
  syslog.Send(Syslog::Severity::kWarning, 1'700'000'000'123, "memory is full");
  const std::string line = socket.Take();
  CHECK(line.starts_with("<132>Nov "));
  CHECK(line.ends_with(Tag("cache") + "memory is full"));
  CHECK(line.size() == std::string("<132>Nov 14 22:13:20").size() + Tag("cache").size() + 14);
}

TEST_CASE("a log writes each line to its file and to the system's log, with Redis's severities") {
  const DatagramSocket socket(SocketPath());
  SteppedClock clock;
  const std::string path = SocketPath() + ".log";
  Log log(clock, Log::Level::kDebug, path);
  Syslog syslog("mayfly", 1, SocketPath());
  log.AlsoTo(syslog);
  log.Debug("a");
  log.Verbose("b ", 2);
  log.Notice("two\r\nlines");
  log.Warning("d");
  for (const char* expected : {"<15>", "<14>", "<13>", "<12>"}) {
    const std::string line = socket.Take();
    INFO(line);
    CHECK(line.starts_with(expected));
    if (line.starts_with("<14>")) CHECK(line.ends_with(Tag("mayfly") + "b 2"));
    if (line.starts_with("<13>")) CHECK(line.ends_with(Tag("mayfly") + "two  lines"));
  }
  log.set_least(Log::Level::kWarning);
  log.Notice("not this");
  CHECK(socket.Take() == "");
  CHECK(std::filesystem::file_size(path) > 4 * std::string("1:M * a\n").size());
  std::filesystem::remove(path);
}

TEST_CASE("a line that is too long for the system's log is cut") {
  const DatagramSocket socket(SocketPath());
  SteppedClock clock;
  Log log(clock, Log::Level::kNotice, "/dev/null");
  Syslog syslog("mayfly", kLocal0, SocketPath());
  log.AlsoTo(syslog);
  log.Notice(std::string(3 * Syslog::kLineBytes, 'x'), "y");
  const std::string line = socket.Take();
  CHECK(line.size() == Syslog::kLineBytes - 1);
  CHECK(line.ends_with("xxx"));
}

TEST_CASE("without a system's log lines are lost, and when it has started anew the next line is there") {
  Syslog syslog("mayfly", kLocal0, SocketPath());
  const auto send = [&](const char* text) { syslog.Send(Syslog::Severity::kNotice, 0, text); };
  send("lost");
  for (int i = 0; i < 2; ++i) {
    const DatagramSocket socket(SocketPath());
    send("first");
    CHECK(socket.Take().ends_with(": first"));
    send("second");
    CHECK(socket.Take().ends_with(": second"));
    CHECK(socket.Take() == "");
  }
  send("lost");
}

TEST_CASE("a system's log that takes no lines holds nobody up") {
  const DatagramSocket socket(SocketPath());
  socket.Narrow();
  Syslog syslog("mayfly", kLocal0, SocketPath());
  constexpr int kLines = 10'000;
  for (int i = 0; i < kLines; ++i) syslog.Send(Syslog::Severity::kNotice, 0, std::string(1000, 'x'));
  int arrived = 0;
  while (socket.Take() != "") ++arrived;
  CHECK(arrived > 0);
  CHECK(arrived < kLines);
}

TEST_CASE("whether somebody listens is known before the first line") {
  Syslog syslog("mayfly", 1, SocketPath());
  CHECK_FALSE(syslog.Reaches());
  const DatagramSocket socket(SocketPath());
  CHECK(syslog.Reaches());
}

TEST_CASE("a path that is too long for a socket is no system's log") {
  Syslog syslog("mayfly", kLocal0, "/" + std::string(200, 'x'));
  syslog.Send(Syslog::Severity::kNotice, 0, "lost");
}

}  // namespace
}  // namespace mayfly
