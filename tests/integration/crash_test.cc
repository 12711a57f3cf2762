// What the daemon leaves behind when it crashes.
#include <signal.h>

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "integration/client.h"
#include "integration/daemon.h"
#include "integration/wire.h"
#include "support/catch.h"

#include <sys/resource.h>

namespace mayfly {
namespace {

const Surroundings kNoCore = {.limits = {{RLIMIT_CORE, 0}}};

std::vector<std::string> WithDebug(std::vector<std::string> options = {}) {
  options.insert(options.end(), {"--enable-debug-command", "yes"});
  return options;
}

bool EndedBy(const Ended& ended, [[maybe_unused]] int number) {
#if defined(MAYFLY_SANITIZE)
  return ended.exit_code != 0;  // the address sanitizer, whose turn is next, exits
#else
  return ended.signal == number;
#endif
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE(
    "DEBUG SEGFAULT ends the daemon by SIGSEGV, and the log has the command, its client and a backtrace") {
  Daemon daemon(WithDebug(), kNoCore);
  Client client(daemon);
  const std::string id = client.Run({"CLIENT", "ID"}).substr(1);
  CHECK(client.Run({"DEBUG", "SEGFAULT"}) == "(gone)");
  const Ended ended = daemon.Wait();
  INFO(ended.output);
  CHECK(EndedBy(ended, SIGSEGV));
  CHECK(Has(ended.output, " Mayfly " MAYFLY_VERSION " crashed by SIGSEGV (11), code "));
  CHECK(Has(ended.output, "\naddress 0x"));
  CHECK(Has(ended.output, "\n1 clients\n"));
  CHECK(Has(ended.output, "\nrequest: debug, 2 arguments of 5 8 bytes; client 127.0.0.1:"));
  CHECK(Has(ended.output, ", id " + id + ", database 0\n"));
  CHECK(Has(ended.output, "\nbacktrace"));
  CHECK(Has(ended.output, " # end of the crash report\n"));
}

TEST_CASE("DEBUG PANIC ends the daemon by SIGABRT, and a logfile has the same report as standard error") {
  Daemon daemon(WithDebug({"--logfile", "some.log"}), kNoCore);
  const std::string path = daemon.directory() + "/some.log";
  CHECK(Client(daemon).Run({"DEBUG", "PANIC"}) == "(gone)");
  // Before the daemon's folder goes.
  const auto report = [](const std::string& text) {
    const size_t begin = text.find(" # Mayfly " MAYFLY_VERSION " crashed by ");
    return begin == std::string::npos
               ? ""
               : text.substr(begin, text.rfind(" # end of the crash report\n") - begin);
  };
  const Ended ended = daemon.Wait();
  std::ifstream file(path);
  const std::string log{std::istreambuf_iterator<char>(file), {}};
  CHECK(EndedBy(ended, SIGABRT));
  CHECK(Has(log, " # a client asked for a panic: DEBUG PANIC\n"));
  CHECK(Has(log, " crashed by SIGABRT (6), code "));
  CHECK_FALSE(report(log).empty());
  CHECK(report(log) == report(ended.output));
}

TEST_CASE(
    "of a transaction the report has the inner and the outer call, and nothing that was written in them") {
  Daemon daemon(WithDebug(), kNoCore);
  Client client(daemon);
  CHECK(client.Run({"SELECT", "3"}) == "OK");
  CHECK(client.Run({"MULTI"}) == "OK");
  CHECK(client.Run({"SET", "geheim", "sesame"}) == "QUEUED");
  CHECK(client.Run({"DEBUG", "SEGFAULT"}) == "QUEUED");
  CHECK(client.Run({"EXEC"}) == "(gone)");
  const Ended ended = daemon.Wait();
  INFO(ended.output);
  CHECK(EndedBy(ended, SIGSEGV));
  CHECK(Has(ended.output, "\ninner call: debug, 2 arguments of 5 8 bytes; client "));
  CHECK(Has(ended.output, ", database 3\ncall: exec, 1 arguments of 4 bytes; client "));
  CHECK_FALSE(Has(ended.output, "request: "));
  CHECK_FALSE(Has(ended.output, "geheim"));
  CHECK_FALSE(Has(ended.output, "sesame"));
}

TEST_CASE("of a pipeline the report has the request that ran, and between requests it says that none did") {
  Daemon daemon(WithDebug(), kNoCore);
  const Wire wire = Wire::Tcp(daemon.port());
  REQUIRE(wire.Send(Request({"SET", "k", "value"}) + Request({"GET", "k"}) + Request({"DEBUG", "SEGFAULT"}) +
                    Request({"SET", "k", "later"})));
  wire.ReadToEnd();
  const Ended ended = daemon.Wait();
  INFO(ended.output);
  CHECK(Has(ended.output, "\nrequest: debug, 2 arguments of 5 8 bytes; client "));
  Daemon idle(WithDebug(), kNoCore);
  REQUIRE(Client(idle).Run({"PING"}) == "PONG");
  idle.Signal(SIGSEGV);
  const Ended ended_idle = idle.Wait();
  CHECK(EndedBy(ended_idle, SIGSEGV));
  CHECK(Has(ended_idle.output, "\nsent by process "));
  CHECK(Has(ended_idle.output, "\nno command was running\n"));
}

TEST_CASE("crash-log-enabled no leaves the log as it is, and CONFIG SET changes it") {
  Daemon daemon(WithDebug({"--crash-log-enabled", "no"}), kNoCore);
  CHECK(Client(daemon).Run({"DEBUG", "PANIC"}) == "(gone)");
  const Ended ended = daemon.Wait();
  CHECK(EndedBy(ended, SIGABRT));
  CHECK_FALSE(Has(ended.output, "crash report"));
  Daemon other(WithDebug({"--crash-log-enabled", "no"}), kNoCore);
  CHECK(Client(other).Run({"CONFIG", "SET", "crash-log-enabled", "yes"}) == "OK");
  CHECK(Client(other).Run({"DEBUG", "PANIC"}) == "(gone)");
  CHECK(Has(other.Wait().output, " # end of the crash report\n"));
}

}  // namespace
}  // namespace mayfly
