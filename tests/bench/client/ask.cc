#include <unistd.h>

#include <array>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "modes.h"
#include "requests.h"
#include "socket.h"

#include <sys/epoll.h>

namespace mayfly::bench {
namespace {

// A batch of requests. Draw gives them new random keys.
class Batch {
 public:
  // Of several request forms in turn, the batch of a connection begins where that of the connection before it ends: batches that
  // are shorter than the turn have all forms together.
  Batch(const AskOptions& options, int connection, std::mt19937_64& random)
      : random_(random), keys_(options.keys), members_(options.members) {
    if (!options.request.empty()) {
      MakeOf(ReadForms(options.request), connection * options.depth, options.depth);
      return;
    }
    const std::string key = KeyOf(0);
    const std::string value(options.value_bytes, 'v');
    for (int i = 0; i < options.depth; ++i) {
      const size_t begin = bytes_.size();
      if (options.command == "get") {
        AppendRequest(bytes_, {"GET", key});
      } else if (options.command == "set") {
        AppendRequest(bytes_, {"SET", key, value});
      } else {
        AppendRequest(bytes_, {"SET", key, value, "EX", "3600"});
      }
      digits_.push_back(bytes_.find(key, begin) + kKeyBytes - kKeyDigits);
    }
  }

  void Draw() {
    for (const size_t at : digits_) WriteDigits(random_() % keys_, bytes_.data() + at);
    for (const auto& [form, at] : formed_)
      form.Write(random_() % keys_, random_() % members_, bytes_.data() + at);
  }
  std::string_view bytes() const { return bytes_; }

 private:
  void MakeOf(const std::vector<RequestForm>& forms, int first, int depth) {
    for (int i = first; i < first + depth; ++i) {
      const RequestForm& form = forms[static_cast<size_t>(i) % forms.size()];
      formed_.emplace_back(form, bytes_.size());
      bytes_ += form.bytes();
    }
  }

  std::mt19937_64& random_;
  uint64_t keys_;
  uint64_t members_;
  std::vector<std::pair<RequestForm, size_t>> formed_;  // and where each begins
  std::string bytes_;
  std::vector<size_t> digits_;
};

// One connection and the batch that it sends.
struct Line {
  Socket socket;
  Batch batch;
  size_t written = 0;
  uint64_t expected = 0;  // replies received once the batch is answered
};

// All connections, driven as redis-benchmark drives them: a batch is not written at once, but when its socket
// is next reported writable. That delays the client by a turn, so that the server has to wait now and then,
// as it does in practice. A server that never waits would need hardly any wake-ups.
class Traffic {
 public:
  explicit Traffic(const AskOptions& options) : options_(options), poll_(epoll_create1(EPOLL_CLOEXEC)) {
    if (poll_ < 0) DieOfErrno("epoll");
    lines_.reserve(static_cast<size_t>(options.connections));
    for (int i = 0; i < options.connections; ++i) {
      lines_.push_back({Socket(options.port), Batch(options, i, random_)});
      lines_.back().socket.Ask("*1\r\n$4\r\nPING\r\n");
      lines_.back().expected = lines_.back().socket.replies().count();
    }
    hits_before_ = Sum(&Replies::hits);
    for (size_t i = 0; i < lines_.size(); ++i) {
      lines_[i].socket.SetNonBlocking();
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      if (epoll_ctl(poll_, EPOLL_CTL_ADD, lines_[i].socket.fd(), &event) != 0) DieOfErrno("epoll");
    }
  }
  ~Traffic() { close(poll_); }
  Traffic(const Traffic&) = delete;
  Traffic& operator=(const Traffic&) = delete;

  // Returns when at least the wanted number of requests has been answered, or all that were sent in the wanted time.
  void Run() {
    end_ = std::chrono::steady_clock::now() + std::chrono::duration<double>(options_.seconds);
    for (Line& line : lines_) Start(line);
    std::array<epoll_event, 256> events;
    while (under_way_ > 0) {
      const int count = epoll_wait(poll_, events.data(), events.size(), -1);
      for (int i = 0; i < count; ++i) {
        const epoll_event& event = events[static_cast<size_t>(i)];
        Line& line = lines_[event.data.u64];
        if ((event.events & EPOLLOUT) != 0) {
          Write(line);
        } else {
          Read(line);
        }
      }
    }
  }

  uint64_t sent() const { return sent_; }
  uint64_t hits() const { return Sum(&Replies::hits) - hits_before_; }
  uint64_t errors() const { return Sum(&Replies::errors); }
  std::string first_error() const {
    for (const Line& line : lines_) {
      if (line.socket.replies().errors() > 0) return line.socket.replies().first_error();
    }
    return {};
  }

 private:
  uint64_t Sum(uint64_t (Replies::*part)() const) const {
    uint64_t sum = 0;
    for (const Line& line : lines_) sum += (line.socket.replies().*part)();
    return sum;
  }

  bool HasSentAll() const {
    if (options_.seconds > 0) return std::chrono::steady_clock::now() >= end_;
    return sent_ >= options_.requests;
  }

  // Lets the line send its next batch as soon as its socket is writable.
  void Start(Line& line) {
    if (HasSentAll()) return;
    line.batch.Draw();
    line.written = 0;
    line.expected += static_cast<uint64_t>(options_.depth);
    sent_ += static_cast<uint64_t>(options_.depth);
    ++under_way_;
    Await(line, EPOLLOUT);
  }

  void Await(Line& line, uint32_t what) {
    epoll_event event{};
    event.events = what;
    event.data.u64 = static_cast<uint64_t>(&line - lines_.data());
    if (epoll_ctl(poll_, EPOLL_CTL_MOD, line.socket.fd(), &event) != 0) DieOfErrno("epoll");
  }

  void Write(Line& line) {
    const std::string_view bytes = line.batch.bytes();
    line.written += line.socket.Write(bytes.substr(line.written));
    if (line.written == bytes.size()) Await(line, EPOLLIN);
  }

  void Read(Line& line) {
    if (!line.socket.Read() || line.socket.replies().count() < line.expected) return;
    --under_way_;
    Start(line);
  }

  AskOptions options_;
  std::mt19937_64 random_{std::random_device()()};
  std::vector<Line> lines_;
  int poll_;
  std::chrono::time_point<std::chrono::steady_clock, std::chrono::duration<double>> end_;
  uint64_t sent_ = 0;
  uint64_t hits_before_ = 0;  // the bare server answers even PING with a value
  size_t under_way_ = 0;
};

}  // namespace

void Ask(const AskOptions& options) {
  Traffic traffic(options);
  std::puts("ready");
  std::fflush(stdout);
  std::array<char, 64> line;
  if (std::fgets(line.data(), line.size(), stdin) == nullptr) return;
  const auto start = std::chrono::steady_clock::now();
  traffic.Run();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (traffic.errors() > 0) {
    Die("error reply, " + std::to_string(traffic.errors()) + " of " + std::to_string(traffic.sent()) + ": " +
        traffic.first_error());
  }
  std::printf("{\"requests\": %" PRIu64 ", \"hits\": %" PRIu64 ", \"seconds\": %.6f}\n", traffic.sent(),
              traffic.hits(), took.count());
  std::fflush(stdout);
  while (std::fgets(line.data(), line.size(), stdin) != nullptr) continue;
}

}  // namespace mayfly::bench
