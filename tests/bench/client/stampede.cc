#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <functional>
#include <queue>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "modes.h"
#include "percentile.h"
#include "requests.h"
#include "socket.h"

#include <sys/epoll.h>

namespace mayfly::bench {
namespace {

constexpr std::string_view kKey = "page";
constexpr std::string_view kLock = "page:lock";
constexpr std::string_view kLimitMs = "5000";  // of a lock, a lease, a wait
constexpr double kPollMs = 50;                 // between two looks of one that waits for a lock
constexpr std::string_view kNil = "$-1";

double NowMs() {
  using namespace std::chrono;
  return duration<double, std::milli>(steady_clock::now().time_since_epoch()).count();
}

// The bulk string that begins behind the `nth` line of a reply.
std::string LineOf(std::string_view reply, size_t nth) {
  for (; nth != 0; --nth) reply.remove_prefix(reply.find('\n') + 1);
  return std::string(reply.substr(0, reply.find('\r')));
}

// One caller: asks for the value, computes it if need be, and asks again after a pause.
struct Caller {
  enum class State : uint8_t { kPauses, kAsks, kLocks, kComputes, kStores, kUnlocks };

  Socket socket;
  State state = State::kPauses;
  double began_ms = 0;
  std::string token = {};
  std::string reply = {};
  uint64_t replies = 0;  // when the one that is awaited is there
};

class Stampede {
 public:
  explicit Stampede(const StampedeOptions& options)
      : options_(options), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) DieOfErrno("epoll_create1");
    value_.assign(options.value_bytes, 'x');
    callers_.reserve(static_cast<size_t>(options.connections));
    for (int i = 0; i < options.connections; ++i) {
      callers_.push_back({.socket = Socket(options.port)});
      epoll_event event{.events = EPOLLIN, .data = {.u64 = static_cast<uint64_t>(i)}};
      if (epoll_ctl(epoll_, EPOLL_CTL_ADD, callers_.back().socket.fd(), &event) != 0) DieOfErrno("epoll_ctl");
      callers_.back().socket.SetNonBlocking();
    }
  }

  void Run() {
    const double start_ms = NowMs();
    const double end_ms = start_ms + options_.seconds * 1000;
    for (size_t i = 0; i < callers_.size(); ++i) At(start_ms + Pause(), i);
    std::array<epoll_event, 256> events;
    for (double now = start_ms; now < end_ms; now = NowMs()) {
      const double wait_ms = timers_.empty() ? 1 : std::clamp(timers_.top().first - now, 0.0, 1.0);
      const int ready = epoll_wait(epoll_, events.data(), events.size(), wait_ms > 0 ? 1 : 0);
      for (int i = 0; i < ready; ++i) OnReadable(callers_[events[static_cast<size_t>(i)].data.u64]);
      while (!timers_.empty() && timers_.top().first <= NowMs()) {
        Caller& caller = callers_[timers_.top().second];
        timers_.pop();
        OnTimer(caller);
      }
    }
    Print((NowMs() - start_ms) / 1000);
  }

 private:
  using State = Caller::State;
  using Timer = std::pair<double, size_t>;

  double Pause() { return std::uniform_real_distribution<double>(0, 2.0 * options_.pause_ms)(random_); }
  void At(double ms, size_t caller) { timers_.emplace(ms, caller); }
  size_t IndexOf(const Caller& caller) const { return static_cast<size_t>(&caller - callers_.data()); }

  void Send(Caller& caller, State state, std::initializer_list<std::string_view> words) {
    std::string request;
    AppendRequest(request, words);
    caller.state = state;
    caller.reply.clear();
    caller.replies = caller.socket.replies().count() + 1;
    if (caller.socket.Write(request) != request.size()) Die("a request did not fit the socket's buffer");
  }

  void Ask(Caller& caller) {
    if (options_.way == "take" || options_.way == "stale")
      return Send(caller, State::kAsks, {"TAKE", kKey, "LEASE", kLimitMs, "WAIT", kLimitMs});
    if (options_.way == "early")
      return Send(caller, State::kAsks,
                  {"TAKE", kKey, "LEASE", kLimitMs, "WAIT", kLimitMs, "EARLY", early_ms_});
    Send(caller, State::kAsks, {"GET", kKey});
  }

  void OnTimer(Caller& caller) {
    if (caller.state == State::kComputes) return Store(caller);
    if (caller.state == State::kPauses) caller.began_ms = NowMs();
    Ask(caller);
  }

  void OnReadable(Caller& caller) {
    while (caller.socket.Read(&caller.reply)) {
    }
    if (caller.socket.replies().errors() != 0) Die(caller.socket.replies().first_error());
    if (caller.socket.replies().count() < caller.replies) return;
    switch (caller.state) {
      case State::kAsks:
        return OnAnswer(caller);
      case State::kLocks:
        if (!caller.reply.starts_with(kNil)) return Compute(caller);
        caller.state = State::kAsks;
        return At(NowMs() + kPollMs, IndexOf(caller));
      case State::kStores:
        if (options_.way == "lock") return Send(caller, State::kUnlocks, {"DEL", kLock});
        return Rest(caller);
      default:
        return Rest(caller);
    }
  }

  bool takes() const { return options_.way == "take" || options_.way == "early" || options_.way == "stale"; }

  void OnAnswer(Caller& caller) {
    if (takes()) {
      const std::string status = LineOf(caller.reply, 2);
      if (status == "BUSY") return Ask(caller);
      if (status != "LEASE") return Done(caller);
      // Behind the status comes the value, of one line if it is null.
      caller.token = LineOf(caller.reply, LineOf(caller.reply, 3) == kNil ? 5 : 6);
      return Compute(caller);
    }
    if (!caller.reply.starts_with(kNil)) return Done(caller);
    if (options_.way == "lock") return Send(caller, State::kLocks, {"SET", kLock, "1", "NX", "PX", kLimitMs});
    Compute(caller);
  }

  void Compute(Caller& caller) {
    ++computed_;
    caller.state = State::kComputes;
    At(NowMs() + options_.compute_ms, IndexOf(caller));
  }

  // The caller has its value when it is computed.
  void Store(Caller& caller) {
    waits_ms_.push_back(NowMs() - caller.began_ms);
    if (options_.way == "stale")
      return Send(caller, State::kStores,
                  {"SET", kKey, value_, "PX", ttl_ms_, "STALE", ttl_ms_, "IFLEASE", caller.token});
    if (takes())
      return Send(caller, State::kStores, {"SET", kKey, value_, "PX", ttl_ms_, "IFLEASE", caller.token});
    Send(caller, State::kStores, {"SET", kKey, value_, "PX", ttl_ms_});
  }

  void Done(Caller& caller) {
    waits_ms_.push_back(NowMs() - caller.began_ms);
    Rest(caller);
  }

  void Rest(Caller& caller) {
    caller.state = State::kPauses;
    At(NowMs() + Pause(), IndexOf(caller));
  }

  void Print(double seconds) {
    if (waits_ms_.empty()) Die("nobody was answered");
    std::sort(waits_ms_.begin(), waits_ms_.end());
    std::printf(
        "{\"calls\": %zu, \"computed\": %llu, \"computed_per_s\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, "
        "\"max_ms\": %.3f}\n",
        waits_ms_.size(), static_cast<unsigned long long>(computed_),
        static_cast<double>(computed_) / seconds, Percentile(waits_ms_, 0.5), Percentile(waits_ms_, 0.99),
        waits_ms_.back());
  }

  const StampedeOptions& options_;
  const int epoll_;
  const std::string ttl_ms_ = std::to_string(options_.ttl_ms);
  const std::string early_ms_ = std::to_string(2 * options_.compute_ms);
  std::string value_;
  std::vector<Caller> callers_;
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::mt19937 random_{20261123};
  std::vector<double> waits_ms_;
  uint64_t computed_ = 0;
};

}  // namespace

void RunStampede(const StampedeOptions& options) { Stampede(options).Run(); }

}  // namespace mayfly::bench
