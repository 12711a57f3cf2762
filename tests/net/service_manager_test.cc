// What a service manager is told by the loop: while it turns, of a reload, and of its end.
#include "net/process/service_manager.h"

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include "sim/server.h"
#include "support/catch.h"

namespace mayfly::sim {
namespace {

class SupervisedServer {
 public:
  explicit SupervisedServer(const std::vector<std::string>& more = {}) : manager_(Meet(more)) {}
  // What was told since the last call.
  std::vector<std::string> Told() { return std::exchange(server.world.datagrams(), {}); }

 private:
  net::ServiceManager Meet(std::vector<std::string> environment) {
    environment.emplace_back("NOTIFY_SOCKET=/run/notify");
    return net::ServiceManager(config::Supervised::kSystemd, environment, /*pid=*/1, log_);
  }

  SteppedClock clock_;
  Log log_{clock_, Log::Level::kNothing, ""};
  net::ServiceManager manager_;

 public:
  SimulatedServer server{{.manager = &manager_}};
};

TEST_CASE("the watchdog hears of the loop twice in each interval, also while nobody sends anything") {
  SupervisedServer supervised({"WATCHDOG_USEC=2000000"});
  const std::vector<std::string> once{"/run/notify: WATCHDOG=1"};
  CHECK(supervised.Told() == once);
  supervised.server.AdvanceTime(999);
  CHECK(supervised.Told().empty());
  supervised.server.AdvanceTime(1);
  CHECK(supervised.Told() == once);
  supervised.server.AdvanceTime(10'000);
  CHECK(supervised.Told().size() == 10);
}

TEST_CASE("without a watchdog the loop of an idle server sleeps, and nothing is told") {
  SupervisedServer supervised;
  const uint64_t turns = supervised.server.world.turns();
  supervised.server.AdvanceTime(3'600'000);
  CHECK(supervised.server.world.turns() - turns < 5);
  CHECK(supervised.Told().empty());
}

TEST_CASE("SIGHUP is a reload that has ended at once, and SIGTERM tells of the end before anything closes") {
  SupervisedServer supervised({"WATCHDOG_USEC=2000000"});
  supervised.server.AdvanceTime(5);
  static_cast<void>(supervised.Told());
  const uint64_t now_us = supervised.server.world.now_ns() / 1000;
  supervised.server.Raise(SIGHUP);
  CHECK(supervised.Told() ==
        std::vector<std::string>{"/run/notify: RELOADING=1\nMONOTONIC_USEC=" + std::to_string(now_us),
                                 "/run/notify: READY=1"});
  supervised.server.Raise(SIGTERM);
  CHECK(supervised.Told() == std::vector<std::string>{"/run/notify: STOPPING=1\nSTATUS=Stopping"});
  CHECK(supervised.server.ended());
}

TEST_CASE("SHUTDOWN of a client tells of the end, too") {
  SupervisedServer supervised;
  supervised.server.Connect().Request({"SHUTDOWN"});
  supervised.server.AdvanceTime(3'000);
  CHECK(supervised.server.ended());
  CHECK(supervised.Told() == std::vector<std::string>{"/run/notify: STOPPING=1\nSTATUS=Stopping"});
}

}  // namespace
}  // namespace mayfly::sim
