#include <algorithm>
#include <array>
#include <chrono>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "full_syncs.h"
#include "modes.h"
#include "percentile.h"
#include "popular_keys.h"
#include "requests.h"
#include "socket.h"

#include <sys/epoll.h>

namespace mayfly::bench {
namespace {

using std::chrono::steady_clock;
using Time = steady_clock::time_point;

std::chrono::nanoseconds Seconds(double seconds) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(seconds));
}

// One connection, on which any number of requests may be under way.
class Lane {
 public:
  Lane(int port, int poll) : socket_(port) {
    socket_.SetNonBlocking();
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = this;
    if (epoll_ctl(poll, EPOLL_CTL_ADD, socket_.fd(), &event) != 0) DieOfErrno("epoll");
  }

  void Ask(Time due, std::string_view request) {
    due_.push_back(due);
    unsent_ += request;
    Send();
  }
  // What the socket did not take before.
  void Send() {
    if (!unsent_.empty()) unsent_.erase(0, socket_.Write(unsent_));
  }
  // Calls `answered` with the due time of each request that has its reply now.
  template <typename Answered>
  void Read(Answered&& answered) {
    const uint64_t before = socket_.replies().count();
    if (!socket_.Read()) return;
    for (uint64_t left = socket_.replies().count() - before; left != 0; --left) {
      answered(due_.front());
      due_.pop_front();
    }
  }
  size_t under_way() const { return due_.size(); }
  const Replies& replies() const { return socket_.replies(); }

 private:
  Socket socket_;
  std::deque<Time> due_;  // of the requests under way, in their order
  std::string unsent_;
};

// The requests, and when each is due.
class Schedule {
 public:
  explicit Schedule(const PaceOptions& options)
      : options_(options),
        keys_(options.keys, options.exponent, options.seed),
        random_(OtherSeed(options.seed)),
        value_(options.value_bytes, 'v') {}

  // The time between two requests that come at random: those of many users, who know nothing of each other.
  std::chrono::nanoseconds Gap() { return Seconds(-std::log1p(-Unit()) / options_.rate); }

  std::string_view Request() {
    request_.clear();
    if (Unit() >= options_.write_share) {
      AppendRequest(request_, {"GET", KeyOf(keys_.Next())});
      return request_;
    }
    const std::string key = KeyOf(options_.new_keys ? options_.keys + written_++ : keys_.Next());
    if (options_.ttl_ms == 0)
      AppendRequest(request_, {"SET", key, value_});
    else
      AppendRequest(request_, {"SET", key, value_, "PX", std::to_string(options_.ttl_ms)});
    return request_;
  }

 private:
  double Unit() { return static_cast<double>(random_() >> 11) * 0x1p-53; }

  const PaceOptions& options_;
  PopularKeys keys_;
  std::mt19937_64 random_;
  const std::string value_;
  std::string request_;
  uint64_t written_ = 0;
};

// A request now and then, such as BGSAVE, which is refused while a save is under way.
class Beside {
 public:
  explicit Beside(const PaceOptions& options)
      : socket_(options.port),
        form_(options.beside),
        every_(std::chrono::milliseconds(options.beside_ms)),
        next_(steady_clock::now()) {
    socket_.SetNonBlocking();
  }

  void Step(Time now) {
    if (now < next_) return;
    next_ = now + every_;
    socket_.Read();
    if (socket_.Write(form_.bytes()) != form_.bytes().size()) Die("the server reads no further request");
  }

 private:
  Socket socket_;
  const RequestForm form_;
  const std::chrono::nanoseconds every_;
  Time next_;
};

class Pace {
 public:
  explicit Pace(const PaceOptions& options)
      : options_(options), schedule_(options), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (poll_ < 0) DieOfErrno("epoll");
    for (int i = 0; i < options.connections; ++i)
      lanes_.push_back(std::make_unique<Lane>(options.port, poll_));
    if (!options.beside.empty()) beside_ = std::make_unique<Beside>(options);
    if (options.syncs) syncs_ = std::make_unique<FullSyncs>(options.port);
    waits_us_.reserve(static_cast<size_t>(options.rate * options.seconds * 1.1));
  }

  // Never sleeps, so that no wake-up of this program is part of a wait.
  void Run() {
    begin_ = steady_clock::now() + Seconds(options_.warm_up);
    const Time end = begin_ + Seconds(options_.seconds);
    Time due = steady_clock::now();
    size_t turn = 0;
    std::array<epoll_event, 256> events;
    for (;;) {
      const Time now = steady_clock::now();
      for (; due <= now && due < end; due += schedule_.Gap()) {
        if (due >= begin_) late_us_.push_back(Micros(now - due));
        lanes_[turn++ % lanes_.size()]->Ask(due, schedule_.Request());
      }
      const int count = epoll_wait(poll_, events.data(), events.size(), 0);
      for (int i = 0; i < count; ++i) {
        static_cast<Lane*>(events[static_cast<size_t>(i)].data.ptr)->Read([&](Time asked) {
          if (asked >= begin_) waits_us_.push_back(Micros(steady_clock::now() - asked));
        });
      }
      for (const auto& lane : lanes_) lane->Send();
      if (beside_ != nullptr) beside_->Step(now);
      if (syncs_ != nullptr) syncs_->Step();
      if (due < end) continue;
      if (std::ranges::all_of(lanes_, [](const auto& lane) { return lane->under_way() == 0; })) return;
      if (now > end + kPatience) Die("requests have no reply, seconds after the last one was due");
    }
  }

  void Print() {
    uint64_t hits = 0;
    for (const auto& lane : lanes_) {
      hits += lane->replies().hits();
      if (lane->replies().errors() != 0) Die("error reply: " + lane->replies().first_error());
    }
    if (waits_us_.empty()) Die("nothing was asked");
    std::ranges::sort(waits_us_);
    std::ranges::sort(late_us_);
    std::printf("{\"syncs\": %" PRIu64 ", ", syncs_ == nullptr ? 0 : syncs_->done());
    std::printf("\"samples\": %zu, \"hits\": %" PRIu64 ", \"late_p99_us\": %.1f, \"max_us\": %.1f",
                waits_us_.size(), hits, Percentile(late_us_, 0.99), static_cast<double>(waits_us_.back()));
    for (const auto& [name, part] : kParts)
      std::printf(", \"%s_us\": %.1f", name, Percentile(waits_us_, part));
    std::puts("}");
  }

 private:
  struct Part {
    const char* name;
    double part;
  };
  static constexpr std::array<Part, 5> kParts = {
      {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p999", 0.999}, {"p9999", 0.9999}}};
  static constexpr std::chrono::seconds kPatience{10};

  static float Micros(std::chrono::nanoseconds time) { return static_cast<float>(time.count()) / 1000; }

  const PaceOptions& options_;
  Schedule schedule_;
  const int poll_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::unique_ptr<Beside> beside_;    // null: nothing
  std::unique_ptr<FullSyncs> syncs_;  // null: no replica
  Time begin_;                        // of what counts
  std::vector<float> waits_us_;       // from the due time to the reply
  std::vector<float> late_us_;        // from the due time to the sending
};

}  // namespace

void RunPace(const PaceOptions& options) {
  Pace pace(options);
  pace.Run();
  pace.Print();
}

}  // namespace mayfly::bench
