#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "modes.h"
#include "popular_keys.h"
#include "replies.h"
#include "requests.h"
#include "socket.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>

namespace mayfly::bench {
namespace {

using std::chrono::steady_clock;

// What happened in one slice of time. A request belongs to the slice of its reply.
struct Slice {
  uint64_t gets = 0;  // answered, with a value or without
  uint64_t hits = 0;
  uint64_t writes = 0;
  uint64_t errors = 0;
  uint64_t refused = 0;  // connections
  uint64_t lost = 0;     // requests
  double longest_us = 0;
};

// Requests for keys by their popularity.
class Requests {
 public:
  explicit Requests(const TrafficOptions& options)
      : options_(options),
        keys_(options.keys, options.exponent, options.seed),
        forms_(options.write.empty() ? std::vector<RequestForm>() : ReadForms(options.write)),
        value_(options.value_bytes, 'v'),
        random_(OtherSeed(options.seed)) {}  // whether a request writes has nothing to do with its key

  // Appends a request, and returns whether it writes.
  bool Append(std::string& out) {
    const uint64_t number = keys_.Next();
    const bool writes = static_cast<double>(random_() >> 11) * 0x1p-53 < options_.write_share;
    if (!writes) {
      AppendRequest(out, {"GET", KeyOf(number)});
    } else if (forms_.empty()) {
      AppendRequest(out, {"SET", KeyOf(number), value_});
    } else {
      const RequestForm& form = forms_[written_++ % forms_.size()];
      out += form.bytes();
      form.Write(number, random_() % options_.members, out.data() + out.size() - form.bytes().size());
    }
    return writes;
  }

 private:
  const TrafficOptions& options_;
  PopularKeys keys_;
  std::vector<RequestForm> forms_;
  std::string value_;
  std::mt19937_64 random_;
  uint64_t written_ = 0;
};

// One connection. It is opened again when it breaks.
class Link {
 public:
  enum class State { kDown, kConnecting, kUp };

  Link(int port, int poll) : port_(port), poll_(poll) {}
  ~Link() {
    if (fd_ >= 0) close(fd_);
  }
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  State state() const { return state_; }
  bool idle() const { return state_ == State::kUp && asked_ == 0; }

  void Connect(Slice& slice) {
    fd_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd_ < 0) DieOfErrno("no socket");
    const int on = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    state_ = State::kConnecting;
    if (connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 && errno != EINPROGRESS)
      return Break(slice);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT;
    event.data.ptr = this;
    if (epoll_ctl(poll_, EPOLL_CTL_ADD, fd_, &event) != 0) DieOfErrno("epoll");
  }

  // Sends `count` requests. REQUIRES: idle().
  void Send(Requests& requests, uint64_t count, Slice& slice) {
    out_.clear();
    for (; asked_ < count; ++asked_) writes_ += requests.Append(out_) ? 1 : 0;
    sent_at_ = steady_clock::now();
    Write(slice);
  }

  void OnEvent(uint32_t events, Slice& slice) {
    if (state_ == State::kConnecting) {
      int error = 0;
      socklen_t size = sizeof error;
      getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size);
      if (error != 0) return Break(slice);
      state_ = State::kUp;
      return Await(EPOLLIN);
    }
    if ((events & EPOLLOUT) != 0) Write(slice);
    if (state_ == State::kUp && (events & ~uint32_t{EPOLLOUT}) != 0) Read(slice);
  }

 private:
  void Await(uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.ptr = this;
    if (epoll_ctl(poll_, EPOLL_CTL_MOD, fd_, &event) != 0) DieOfErrno("epoll");
  }

  void Write(Slice& slice) {
    while (!out_.empty()) {
      const ssize_t size = send(fd_, out_.data(), out_.size(), MSG_NOSIGNAL);
      if (size < 0 && errno == EINTR) continue;
      if (size < 0 && errno == EAGAIN) return Await(EPOLLIN | EPOLLOUT);
      if (size < 0) return Break(slice);
      out_.erase(0, static_cast<size_t>(size));
    }
    Await(EPOLLIN);
  }

  void Read(Slice& slice) {
    std::array<char, 64 * 1024> buffer;
    const ssize_t size = recv(fd_, buffer.data(), buffer.size(), 0);
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (size <= 0) return Break(slice);
    replies_.Feed({buffer.data(), static_cast<size_t>(size)});
    if (replies_.count() < asked_) return;
    const std::chrono::duration<double, std::micro> waited = steady_clock::now() - sent_at_;
    slice.longest_us = std::max(slice.longest_us, waited.count());
    slice.hits += replies_.hits();
    slice.errors += replies_.errors();
    slice.writes += writes_;
    slice.gets += asked_ - writes_;
    Reset();
  }

  // The batch is over.
  void Reset() {
    replies_ = {};
    asked_ = writes_ = 0;
  }

  void Break(Slice& slice) {
    if (state_ == State::kConnecting) ++slice.refused;
    slice.lost += asked_;
    close(fd_);
    fd_ = -1;
    state_ = State::kDown;
    Reset();
  }

  const int port_;
  const int poll_;
  int fd_ = -1;
  State state_ = State::kDown;
  Replies replies_;      // of the batch under way
  std::string out_;      // what is still to be written
  uint64_t asked_ = 0;   // requests of the batch under way
  uint64_t writes_ = 0;  // of them
  steady_clock::time_point sent_at_;
};

class SteadyTraffic {
 public:
  explicit SteadyTraffic(const TrafficOptions& options)
      : options_(options),
        requests_(options),
        poll_(epoll_create1(EPOLL_CLOEXEC)),
        ticks_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
    if (poll_ < 0) DieOfErrno("epoll");
    constexpr timespec kMillisecond{0, 1'000'000};
    const itimerspec every{kMillisecond, kMillisecond};
    if (ticks_ < 0 || timerfd_settime(ticks_, 0, &every, nullptr) != 0) DieOfErrno("timerfd");
    Watch(ticks_, this);
    Watch(STDIN_FILENO, nullptr);
    for (int i = 0; i < options.connections; ++i)
      links_.push_back(std::make_unique<Link>(options.port, poll_));
  }
  ~SteadyTraffic() {
    close(ticks_);
    close(poll_);
  }
  SteadyTraffic(const SteadyTraffic&) = delete;
  SteadyTraffic& operator=(const SteadyTraffic&) = delete;

  void Run() {
    using namespace std::chrono;
    started_wall_ms_ = duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count();
    started_ = steady_clock::now();
    for (const auto& link : links_) link->Connect(Now());
    std::puts("ready");
    std::fflush(stdout);
    std::array<epoll_event, 256> events;
    for (;;) {
      const int count = epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        if (event.data.ptr == nullptr) return;  // nobody wants more
        if (event.data.ptr == this)
          Tick();
        else
          static_cast<Link*>(event.data.ptr)->OnEvent(event.events, Now());
      }
    }
  }

  void Print() const {
    std::printf("{\"started_wall_ms\": %" PRId64 ", \"slice_ms\": %d, \"slices\": [", started_wall_ms_,
                options_.slice_ms);
    for (size_t i = 0; i < slices_.size(); ++i) {
      const Slice& s = slices_[i];
      std::printf("%s{\"gets\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"writes\": %" PRIu64
                  ", \"errors\": %" PRIu64 ", \"refused\": %" PRIu64 ", \"lost\": %" PRIu64
                  ", \"longest_us\": %.0f}",
                  i == 0 ? "" : ", ", s.gets, s.hits, s.writes, s.errors, s.refused, s.lost, s.longest_us);
    }
    std::puts("]}");
  }

 private:
  static constexpr int kRetryTicks = 10;
  // What a stall may leave to be made up for.
  static constexpr double kMostDueS = 0.005;

  void Watch(int fd, void* mark) const {
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = mark;
    if (epoll_ctl(poll_, EPOLL_CTL_ADD, fd, &event) != 0) DieOfErrno("epoll");
  }

  // The slice of now.
  Slice& Now() {
    const auto passed = steady_clock::now() - started_;
    const auto index = static_cast<size_t>(passed / std::chrono::milliseconds(options_.slice_ms));
    if (index >= slices_.size()) slices_.resize(index + 1);
    return slices_[index];
  }

  void Tick() {
    uint64_t passed = 0;
    if (read(ticks_, &passed, sizeof passed) < 0) return;
    const bool retries = (tick_ += 1) % kRetryTicks == 0;
    const auto now = steady_clock::now();
    due_ += std::chrono::duration<double>(now - last_tick_.value_or(now)).count() * options_.rate;
    last_tick_ = now;
    due_ = std::min(due_, kMostDueS * options_.rate);
    const double share = due_ / static_cast<double>(links_.size());
    double owed = 0;
    for (const auto& link : links_) {
      owed += share;
      if (link->state() == Link::State::kDown && retries) link->Connect(Now());
      if (!link->idle()) {
        owed = 0;
        continue;
      }
      const auto count = static_cast<uint64_t>(owed);
      if (count == 0) continue;
      owed -= static_cast<double>(count);
      due_ -= static_cast<double>(count);
      link->Send(requests_, count, Now());
    }
  }

  const TrafficOptions& options_;
  Requests requests_;
  const int poll_;
  const int ticks_;
  std::vector<std::unique_ptr<Link>> links_;
  steady_clock::time_point started_;
  std::optional<steady_clock::time_point> last_tick_;
  int64_t started_wall_ms_ = 0;
  uint64_t tick_ = 0;
  double due_ = 0;  // requests that may be sent
  std::vector<Slice> slices_;
};

}  // namespace

void RunTraffic(const TrafficOptions& options) {
  SteadyTraffic traffic(options);
  traffic.Run();
  traffic.Print();
}

}  // namespace mayfly::bench
