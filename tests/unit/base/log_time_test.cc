#include "base/log/log_time.h"

#include <stdlib.h>
#include <time.h>

#include <array>
#include <string>

#include "support/catch.h"

namespace mayfly {
namespace {

// As long as it lives, the process is in this time zone.
class Zone {
 public:
  explicit Zone(const char* name) {
    if (const char* const before = getenv("TZ")) before_ = before;
    setenv("TZ", name, 1);
    tzset();
  }
  ~Zone() {
    before_.empty() ? unsetenv("TZ") : setenv("TZ", before_.c_str(), 1);
    tzset();
  }
  Zone(const Zone&) = delete;
  Zone& operator=(const Zone&) = delete;

 private:
  std::string before_;
};

std::string ByTheLibrary(int64_t unix_s) {
  const auto time = static_cast<time_t>(unix_s);
  tm local{};
  localtime_r(&time, &local);
  std::array<char, 64> text{};
  strftime(text.data(), text.size(), "%d %b %Y %H:%M:%S", &local);
  return text.data();
}

}  // namespace

TEST_CASE("the time is that of the time zone, also after the clocks have changed") {
  constexpr int64_t kStart = 1'763'688'225;
  constexpr int64_t kFourYears = 4 * 365 * 86'400;
  // The rules are written out, so that no data of zones is needed.
  for (const char* name : {"UTC0", "CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT,M3.2.0,M11.1.0", "IST-5:30",
                           "LHST-10:30LHDT-11,M10.1.0,M4.1.0", "XXX12"}) {
    INFO(name);
    const Zone zone(name);
    const LogTime times(kStart);
    LogTime::Text room;
    bool same = true;
    for (int64_t at = kStart; at < kStart + kFourYears; at += 1801)
      same = same && times.Write(at * 1000 + 7, room) == ByTheLibrary(at) + ".007";
    CHECK(same);
  }
}

}  // namespace mayfly
