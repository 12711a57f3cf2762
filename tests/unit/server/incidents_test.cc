#include "server/figures/incidents.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

using Kind = Incidents::Kind;

// Incidents with a log in a file that nobody else has.
struct Logged {
  Logged() { std::filesystem::remove(path); }
  ~Logged() { std::filesystem::remove(path); }

  // What was logged since the last call, without the head of each line.
  std::string Take() {
    std::ifstream file(path);
    std::string texts;
    for (std::string line; std::getline(file, line);) texts += line.substr(line.find(" # ") + 3) + '\n';
    std::filesystem::remove(path);
    return texts;
  }
  void Pass(uint64_t ms) {
    now += ms;
    incidents.OnWake({.mono_ms = now}, &log);
  }

  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("mayfly-incidents-test-" + std::to_string(getpid()));
  SteppedClock clock;
  Log log{clock, Log::Level::kNotice, path.string()};
  Alarms alarms;
  Incidents incidents{alarms};
  uint64_t now = 1'000'000;
};

TEST_CASE("an incident is logged at once, and those after it as a sum when the time is over") {
  Logged logged;
  for (int i = 0; i < 1000; ++i) logged.incidents.Tell(Kind::kHttp, logged.now, &logged.log, "client ", i);
  CHECK(logged.Take() == "client 0\n");
  CHECK(logged.incidents.NextWake() == logged.now + Incidents::kLogMs);
  logged.Pass(Incidents::kLogMs - 1);
  CHECK(logged.Take().empty());
  logged.Pass(1);
  CHECK(logged.Take() == "clients closed because they speak HTTP: 999 more\n");
  CHECK(logged.incidents.NextWake() == Incidents::kNever);
  logged.Pass(Incidents::kLogMs);
  CHECK(logged.Take().empty());
}

TEST_CASE("kinds of incidents do not hide each other, and one that is late reports those before it") {
  Logged logged;
  logged.incidents.Tell(Kind::kTooManyClients, logged.now, &logged.log, "a");
  logged.incidents.Tell(Kind::kProtected, logged.now, &logged.log, "b");
  logged.incidents.Tell(Kind::kProtected, logged.now, &logged.log, "c");
  CHECK(logged.Take() == "a\nb\n");
  logged.now += Incidents::kLogMs;  // the loop is late
  logged.incidents.Tell(Kind::kProtected, logged.now, &logged.log, "d");
  CHECK(logged.Take() == "d (and 1 more before)\n");
  CHECK(logged.incidents.NextWake() == Incidents::kNever);
}

TEST_CASE("refused writes are one line at their begin and one at their end") {
  Logged logged;
  CHECK_FALSE(logged.incidents.refuses_writes());
  for (int i = 0; i < 5; ++i) {
    logged.incidents.TellRefusedWrite(logged.now, &logged.log, 110, 100);
    logged.now += 1000;
    logged.incidents.LookForRoom(logged.now, &logged.log, i % 2 == 0);  // some writes find room
  }
  CHECK(logged.incidents.refuses_writes());
  CHECK(logged.Take() ==
        "writes are refused (OOM): keys and values take 110 bytes of 100, and maxmemory-policy finds nothing "
        "to "
        "evict\n");
  const uint64_t calm = logged.now - 1000 + Incidents::kCalmMs;
  CHECK(logged.incidents.NextWake() == calm);
  logged.incidents.LookForRoom(calm, &logged.log, false);
  CHECK(logged.incidents.NextWake() == Incidents::kNever);  // a turn that makes room will tell
  logged.incidents.LookForRoom(calm + 5, &logged.log, true);
  CHECK(logged.Take() == "writes are accepted again: 5 were refused within 4 seconds\n");
  CHECK_FALSE(logged.incidents.refuses_writes());
  logged.incidents.TellRefusedWrite(logged.now, &logged.log, 120, 100);
  CHECK(logged.Take().starts_with("writes are refused (OOM): keys and values take 120 bytes of 100"));
}

TEST_CASE("without a log incidents are forgotten in the same way") {
  Alarms alarms;
  Incidents incidents{alarms};
  incidents.Tell(Kind::kNoMemory, 5, nullptr, "x");
  incidents.Tell(Kind::kNoMemory, 5, nullptr, "x");
  incidents.TellRefusedWrite(5, nullptr, 2, 1);
  incidents.OnWake({.mono_ms = 5 + Incidents::kLogMs}, nullptr);
  incidents.LookForRoom(5 + Incidents::kCalmMs, nullptr, true);
  CHECK(incidents.NextWake() == Incidents::kNever);
}

}  // namespace
}  // namespace mayfly
