// The variables of inherited sockets (LISTEN_FDS): whose they are, and numbers that make no sense. With real sockets:
// integration/inherited_socket_test.cc and integration/restart_test.cc.
#include "net/process/inherited_sockets.h"

#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly::net::inherited_sockets {
namespace {

using Words = std::vector<std::string>;

// The problem, with what is left of the environment.
std::string Take(Words environment, Words* left = nullptr) {
  std::vector<InheritedSocket> sockets;
  const std::string problem = TakeInheritedSockets(environment, /*pid=*/77, sockets).value_or("");
  CHECK(sockets.empty());
  if (left != nullptr) *left = environment;
  return problem;
}

}  // namespace

TEST_CASE("the variables of inherited sockets are taken away, and only those, whoever they are for") {
  for (const char* const pid : {"LISTEN_PID=77", "LISTEN_PID=78"}) {
    Words left;
    CHECK(Take({"A=1", "LISTEN_FDS=0", pid, "LISTEN_FDNAMES=x:y", "LISTEN_FDSX=1", "LISTEN_FD=1", "LISTEN_PI",
                "XLISTEN_PID=77"},
               &left)
              .empty());
    CHECK(left == Words{"A=1", "LISTEN_FDSX=1", "LISTEN_FD=1", "LISTEN_PI", "XLISTEN_PID=77"});
  }
}

TEST_CASE("without the number of this process the sockets are another one's") {
  CHECK(Take({"LISTEN_FDS=3"}).empty());
  CHECK(Take({"LISTEN_FDS=3", "LISTEN_PID=7"}).empty());
  CHECK(Take({"LISTEN_FDS=3", "LISTEN_PID="}).empty());
  CHECK(Take({"LISTEN_FDS=3", "LISTEN_PID=x"}).empty());
  CHECK(Take({"LISTEN_PID=77"}).empty());
}

TEST_CASE("a number of inherited sockets that is none, or too large, is named") {
  for (const char* const count : {"x", "-1", "", "1025", "99999999999999999999"}) {
    CAPTURE(count);
    const std::string problem = Take({std::string("LISTEN_FDS=") + count, "LISTEN_PID=77"});
    CHECK(problem.starts_with("LISTEN_FDS is "));
    CHECK(problem.ends_with(", but has to be the number of inherited sockets, at most 1024"));
    CHECK(problem.find(count) != std::string::npos);
  }
  CHECK(Take({"LISTEN_FDS=0", "LISTEN_PID=77"}).empty());
}

TEST_CASE("of a variable that is there twice the last one counts") {
  CHECK(Take({"LISTEN_FDS=x", "LISTEN_PID=1", "LISTEN_FDS=0", "LISTEN_PID=77"}).empty());
  CHECK_FALSE(Take({"LISTEN_FDS=0", "LISTEN_PID=1", "LISTEN_FDS=x", "LISTEN_PID=77"}).empty());
}

}  // namespace mayfly::net::inherited_sockets
