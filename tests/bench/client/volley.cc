#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "modes.h"
#include "requests.h"
#include "socket.h"

#include <sys/epoll.h>
#include <sys/resource.h>

namespace mayfly::bench {
namespace {

using std::chrono::steady_clock;

constexpr int kSilenceMs = 10'000;  // a server that says nothing for so long has lost a request

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// A connection with keys of its own.
struct Gun {
  Socket socket;
  uint64_t next_key = 0;    // counted from its first
  uint64_t sent = 0;        // requests
  uint64_t answered = 0;    // requests
  uint64_t seen = 0;        // replies, as the socket counts them
  std::string unwritten{};  // what the socket did not take yet
  bool blocked = false;     // it is asked when the socket takes more
  std::deque<steady_clock::time_point> under_way{};
};

class Volley {
 public:
  explicit Volley(const VolleyOptions& options)
      : options_(options),
        size_(Range::Parse(options.value_bytes)),
        value_(size_.most, 'v'),
        poll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (poll_ < 0) DieOfErrno("epoll");
    guns_.reserve(static_cast<size_t>(options.connections));
    for (int i = 0; i < options.connections; ++i) {
      guns_.push_back({Socket(options.path)});
      Gun& gun = guns_.back();
      gun.socket.Ask(options.memcached ? "version\r\n" : "*1\r\n$4\r\nPING\r\n");
      gun.seen = gun.socket.replies().count();
      gun.socket.SetNonBlocking();
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = static_cast<uint64_t>(i);
      if (epoll_ctl(poll_, EPOLL_CTL_ADD, gun.socket.fd(), &event) != 0) DieOfErrno("epoll");
    }
    waits_us_.reserve(Total());
  }
  ~Volley() { close(poll_); }
  Volley(const Volley&) = delete;
  Volley& operator=(const Volley&) = delete;

  // Returns when all requests are answered.
  void Run() {
    for (Gun& gun : guns_) Fire(gun);
    std::array<epoll_event, 256> events;
    while (waits_us_.size() < Total()) {
      const int count = epoll_wait(poll_, events.data(), events.size(), kSilenceMs);
      if (count == 0) Die("a request is not answered, or a GET missed");
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        Gun& gun = guns_[event.data.u64];
        if ((event.events & EPOLLOUT) != 0) Write(gun);
        if ((event.events & EPOLLIN) != 0) Read(gun);
      }
    }
  }

  void Print(double seconds, double cpu_s) {
    std::sort(waits_us_.begin(), waits_us_.end());
    double sum = 0;
    for (const float wait : waits_us_) sum += wait;
    uint64_t hits = 0;
    for (const Gun& gun : guns_) hits += gun.socket.replies().hits();
    const auto part = [this](double share) {
      const auto at = static_cast<size_t>(share * static_cast<double>(waits_us_.size()));
      return waits_us_[std::min(at, waits_us_.size() - 1)];
    };
    std::printf(
        "{\"requests\": %zu, \"hits\": %" PRIu64
        ", \"seconds\": %.6f, \"client_cpu_s\": %.6f, \"mean_us\": %.2f, \"p50_us\": %.2f, "
        "\"p90_us\": %.2f, \"p99_us\": %.2f, \"p999_us\": %.2f, \"p9999_us\": %.2f, \"max_us\": %.2f}\n",
        waits_us_.size(), hits, seconds, cpu_s, sum / static_cast<double>(waits_us_.size()), part(0.5),
        part(0.9), part(0.99), part(0.999), part(0.9999), waits_us_.back());
    std::fflush(stdout);
  }

 private:
  size_t Total() const { return guns_.size() * options_.requests; }
  // How many replies the socket counts for a request: memcached answers a hit with three lines.
  uint64_t RepliesEach() const { return options_.memcached && options_.command == "get" ? 3 : 1; }

  // Sends requests until `depth` are under way.
  void Fire(Gun& gun) {
    const auto now = steady_clock::now();
    while (gun.sent < options_.requests && gun.sent - gun.answered < static_cast<uint64_t>(options_.depth)) {
      Append(gun);
      gun.under_way.push_back(now);
      ++gun.sent;
    }
    Write(gun);
  }

  void Append(Gun& gun) {
    const auto index = static_cast<uint64_t>(&gun - guns_.data());
    const std::string key = std::to_string(1 + index * options_.keys + gun.next_key);
    gun.next_key = (gun.next_key + 1) % options_.keys;
    if (options_.command == "get") {
      if (options_.memcached) {
        gun.unwritten.append("get ").append(key).append("\r\n");
      } else {
        AppendRequest(gun.unwritten, {"GET", key});
      }
      return;
    }
    const std::string_view value =
        std::string_view(value_).substr(0, size_.least + random_() % (size_.most - size_.least + 1));
    if (options_.memcached) {
      gun.unwritten.append("set ").append(key).append(" 0 0 ").append(std::to_string(value.size()));
      gun.unwritten.append("\r\n").append(value).append("\r\n");
    } else {
      AppendRequest(gun.unwritten, {"SET", key, value});
    }
  }

  void Write(Gun& gun) {
    const bool waited = gun.blocked;
    gun.unwritten.erase(0, gun.socket.Write(gun.unwritten));
    gun.blocked = !gun.unwritten.empty();
    if (gun.blocked == waited) return;
    epoll_event event{};
    event.events = gun.blocked ? EPOLLIN | EPOLLOUT : EPOLLIN;
    event.data.u64 = static_cast<uint64_t>(&gun - guns_.data());
    if (epoll_ctl(poll_, EPOLL_CTL_MOD, gun.socket.fd(), &event) != 0) DieOfErrno("epoll");
  }

  void Read(Gun& gun) {
    if (!gun.socket.Read()) return;
    const Replies& replies = gun.socket.replies();
    if (replies.errors() > 0) Die("error reply: " + replies.first_error());
    const auto now = steady_clock::now();
    for (; replies.count() - gun.seen >= RepliesEach(); gun.seen += RepliesEach()) {
      const std::chrono::duration<float, std::micro> wait = now - gun.under_way.front();
      waits_us_.push_back(wait.count());
      gun.under_way.pop_front();
      ++gun.answered;
    }
    Fire(gun);
  }

  const VolleyOptions& options_;
  const Range size_;
  const std::string value_;
  std::minstd_rand random_{std::random_device()()};
  std::vector<Gun> guns_;
  std::vector<float> waits_us_;
  int poll_;
};

}  // namespace

void RunVolley(const VolleyOptions& options) {
  Volley volley(options);
  std::puts("ready");
  std::fflush(stdout);
  std::array<char, 64> line;
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return;
  const double cpu_before_s = CpuSeconds();
  const auto start = steady_clock::now();
  volley.Run();
  const std::chrono::duration<double> took = steady_clock::now() - start;
  volley.Print(took.count(), CpuSeconds() - cpu_before_s);
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) continue;
}

}  // namespace mayfly::bench
