#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <string>
#include <vector>

#include "modes.h"
#include "percentile.h"
#include "requests.h"
#include "socket.h"

namespace mayfly::bench {
namespace {

double WallMs() {
  using namespace std::chrono;
  return duration<double, std::milli>(system_clock::now().time_since_epoch()).count();
}

}  // namespace

void Listen(const ListenOptions& options) {
  Socket socket(options.port);
  std::string request;
  AppendRequest(request, {"SUBSCRIBE", options.channel});
  socket.Ask(request);
  std::puts("ready");
  std::fflush(stdout);
  const auto deadline_ms = static_cast<double>(options.at_ms);
  const double end_ms = deadline_ms + static_cast<double>(options.give_up_ms);
  std::vector<double> lags_ms;
  size_t early = 0;
  for (uint64_t seen = socket.replies().count(); lags_ms.size() < options.expect;) {
    pollfd input{socket.fd(), POLLIN, 0};
    const int left_ms = static_cast<int>(end_ms - WallMs());
    if (left_ms <= 0 || poll(&input, 1, left_ms) <= 0) break;
    socket.Read();
    const double lag_ms = WallMs() - deadline_ms;
    for (; seen < socket.replies().count(); ++seen) {
      if (lag_ms < 0) ++early;
      lags_ms.push_back(lag_ms);
    }
  }
  std::sort(lags_ms.begin(), lags_ms.end());
  // An event that did not come in time is as late as the end.
  const size_t missing = options.expect - std::min<uint64_t>(options.expect, lags_ms.size());
  lags_ms.insert(lags_ms.end(), missing, static_cast<double>(options.give_up_ms));
  std::printf(
      "{\"events\": %zu, \"missing\": %zu, \"early\": %zu, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": "
      "%.3f}\n",
      lags_ms.size() - missing, missing, early, Percentile(lags_ms, 0.5), Percentile(lags_ms, 0.99),
      lags_ms.back());
}

}  // namespace mayfly::bench
