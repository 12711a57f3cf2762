#include <unistd.h>

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "modes.h"
#include "requests.h"
#include "socket.h"

#include <sys/epoll.h>

namespace mayfly::bench {
namespace {

// One publisher and its subscribers. The next batch is published when the last one has arrived everywhere.
class Delivery {
 public:
  explicit Delivery(const DeliverOptions& options)
      : options_(options), publisher_(options.port), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (poll_ < 0) DieOfErrno("epoll");
    const auto count = static_cast<size_t>(options.subscribers);
    subscribers_.reserve(count);
    for (size_t i = 0; i < count; ++i) {
      Socket& socket = subscribers_.emplace_back(options.port);
      Subscribe(socket, i);
      socket.SetNonBlocking();
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      if (epoll_ctl(poll_, EPOLL_CTL_ADD, socket.fd(), &event) != 0) DieOfErrno("epoll");
    }
  }
  ~Delivery() { close(poll_); }
  Delivery(const Delivery&) = delete;
  Delivery& operator=(const Delivery&) = delete;

  // Publishes at least the wanted number of messages, and waits for all of them to arrive.
  void Run() {
    const std::string message(options_.value_bytes, 'm');
    const auto depth = static_cast<uint64_t>(options_.depth);
    while (published_ < options_.messages) {
      std::string batch;
      for (uint64_t i = 0; i < depth; ++i) AppendRequest(batch, {"PUBLISH", NextChannel(), message});
      published_ += depth;
      publisher_.Write(batch);
      publisher_.ReadUntil(published_);
      expected_ += depth * Receivers();
      ReadAll();
    }
  }

  uint64_t published() const { return published_; }
  uint64_t delivered() const { return received_; }

 private:
  // Without patterns everybody has subscribed to one channel. With them each client has its share of the patterns, and
  // every message matches one.
  void Subscribe(Socket& socket, size_t client) {
    if (options_.patterns == 0) return socket.Ask("*2\r\n$9\r\nSUBSCRIBE\r\n$4\r\nnews\r\n");
    for (uint64_t i = client; i < options_.patterns; i += static_cast<uint64_t>(options_.subscribers)) {
      const std::string pattern = options_.suffixes ? "*:" + KeyOf(i) : KeyOf(i) + ":*";
      std::string request;
      AppendRequest(request, {"PSUBSCRIBE", pattern});
      socket.Ask(request);
    }
  }

  std::string NextChannel() {
    if (options_.patterns == 0) return "news";
    const std::string key = KeyOf(random_() % options_.patterns);
    return options_.suffixes ? "news:" + key : key + ":news";
  }

  uint64_t Receivers() const {
    return options_.patterns == 0 ? static_cast<uint64_t>(options_.subscribers) : 1;
  }

  void ReadAll() {
    std::array<epoll_event, 256> events;
    while (received_ < expected_) {
      const int count = epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        Socket& socket = subscribers_[events[static_cast<size_t>(i)].data.u64];
        const uint64_t before = socket.replies().count();
        socket.Read();
        received_ += socket.replies().count() - before;
      }
    }
  }

  DeliverOptions options_;
  Socket publisher_;
  std::vector<Socket> subscribers_;
  int poll_;
  std::mt19937_64 random_{1};
  uint64_t published_ = 0;
  uint64_t expected_ = 0;
  uint64_t received_ = 0;
};

}  // namespace

void Deliver(const DeliverOptions& options) {
  Delivery delivery(options);
  std::puts("ready");
  std::fflush(stdout);
  std::array<char, 64> line;
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return;
  const auto start = std::chrono::steady_clock::now();
  delivery.Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("{\"requests\": %" PRIu64 ", \"messages\": %" PRIu64 ", \"seconds\": %.6f}\n",
              delivery.delivered(), delivery.published(), took.count());
  std::fflush(stdout);
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) continue;
}

}  // namespace mayfly::bench
