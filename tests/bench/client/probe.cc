#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "modes.h"
#include "percentile.h"
#include "requests.h"
#include "socket.h"

#include <sys/timerfd.h>

namespace mayfly::bench {
namespace {

using std::chrono::steady_clock;

int64_t WallMs() {
  using namespace std::chrono;
  return duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
}

// Ticks every millisecond. Missed ticks are not made up for.
class Ticks {
 public:
  Ticks() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC)) {
    constexpr timespec kMillisecond{0, 1'000'000};
    const itimerspec every{kMillisecond, kMillisecond};
    if (fd_ < 0 || timerfd_settime(fd_, 0, &every, nullptr) != 0) DieOfErrno("timerfd");
  }
  ~Ticks() { close(fd_); }
  Ticks(const Ticks&) = delete;
  Ticks& operator=(const Ticks&) = delete;

  void Await() const {
    uint64_t missed = 0;
    if (read(fd_, &missed, sizeof missed) < 0) DieOfErrno("timerfd");
  }

 private:
  int fd_;
};

bool InputHasEnded() {
  pollfd input{STDIN_FILENO, POLLIN, 0};
  return poll(&input, 1, 0) > 0;
}

// Whether the server has freed everything: no key is left, and used_memory is small again.
class Emptiness {
 public:
  Emptiness(int port, uint64_t below_bytes) : socket_(port), below_bytes_(below_bytes) {}

  bool Reached() {
    socket_.Ask("*1\r\n$6\r\nDBSIZE\r\n");
    if (socket_.replies().integer() != 0) return false;
    return below_bytes_ == 0 || UsedMemory() <= below_bytes_;
  }

 private:
  uint64_t UsedMemory() {
    const uint64_t wanted = socket_.replies().count() + 1;
    std::string report;
    socket_.Write("*2\r\n$4\r\nINFO\r\n$6\r\nmemory\r\n");
    while (socket_.replies().count() < wanted) socket_.Read(&report);
    constexpr std::string_view kField = "\nused_memory:";
    const size_t at = report.find(kField);
    if (at == std::string::npos) Die("INFO memory has no used_memory");
    return std::stoull(report.substr(at + kField.size()));
  }

  Socket socket_;
  uint64_t below_bytes_;
};

void Print(std::vector<double> waits_us, int64_t gone_ms) {
  std::sort(waits_us.begin(), waits_us.end());
  std::printf(
      "{\"samples\": %zu, \"p50_us\": %.1f, \"p99_us\": %.1f, \"p999_us\": %.1f, \"max_us\": %.1f, "
      "\"gone_ms\": %lld}\n",
      waits_us.size(), Percentile(waits_us, 0.5), Percentile(waits_us, 0.99), Percentile(waits_us, 0.999),
      waits_us.back(), static_cast<long long>(gone_ms));
}

}  // namespace

void Probe(const ProbeOptions& options) {
  constexpr int kTicksPerLook = 5;
  Socket socket(options.port);
  Emptiness emptiness(options.port, options.below_bytes);
  std::string request;
  AppendRequest(request, {"GET", "absent"});
  const auto start = steady_clock::now();
  const Ticks ticks;
  std::vector<double> waits_us;
  int64_t gone_ms = -1;
  for (int tick = 1;; ++tick) {
    const auto asked = steady_clock::now();
    socket.Ask(request);
    const auto answered = steady_clock::now();
    waits_us.push_back(std::chrono::duration<double, std::micro>(answered - asked).count());
    if (options.seconds > 0 && answered - start > std::chrono::duration<double>(options.seconds)) break;
    if (options.until_eof && InputHasEnded()) break;
    if (options.until_gone > 0 && tick % kTicksPerLook == 0 && WallMs() >= options.until_gone) {
      const int64_t late_ms = WallMs() - options.until_gone;
      if (emptiness.Reached()) {
        gone_ms = late_ms;
        break;
      }
      if (late_ms > options.give_up_ms) {
        Die("keys or their memory were still there " + std::to_string(late_ms / 1000) +
            " s after their deadline");
      }
    }
    ticks.Await();
  }
  Print(std::move(waits_us), gone_ms);
}

}  // namespace mayfly::bench
