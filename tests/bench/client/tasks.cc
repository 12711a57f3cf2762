#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "modes.h"
#include "percentile.h"
#include "requests.h"
#include "socket.h"

namespace mayfly::bench {
namespace {

constexpr std::string_view kCount = "1000";
constexpr std::string_view kBlockMs = "1000";

double WallMs() {
  using namespace std::chrono;
  return duration<double, std::milli>(system_clock::now().time_since_epoch()).count();
}

// Reads the values of a complete RESP2 reply one after another.
class Cursor {
 public:
  explicit Cursor(std::string_view reply) : rest_(reply) {}

  // The number of a header or an integer.
  int64_t Number() {
    const std::string_view line = Line();
    return std::strtoll(line.data() + 1, nullptr, 10);
  }
  std::string_view Bulk() {
    const int64_t size = Number();
    if (size < 0) return {};
    const std::string_view text = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size) + 2);
    return text;
  }

 private:
  std::string_view Line() {
    const size_t end = rest_.find('\n');
    if (end == std::string_view::npos) Die("a reply ends too early");
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  std::string_view rest_;
};

class Tasks {
 public:
  explicit Tasks(const TasksOptions& options)
      : options_(options), reader_(options.port), seen_(options.tasks, false) {
    lags_ms_.reserve(options.tasks);
  }

  void Run() {
    AskReader({"XGROUP", "CREATE", "jobs", "workers", "0", "MKSTREAM"});
    Schedule();
    const double end_ms = WallMs() + options_.lead_ms + options_.spread_ms + options_.give_up_ms;
    if (options_.herd) Watch(end_ms);
    while (lags_ms_.size() < options_.tasks && WallMs() < end_ms) Work();
    Print();
  }

 private:
  std::string_view AskReader(const std::vector<std::string_view>& words) {
    std::string request;
    AppendRequest(request, words);
    reply_.clear();
    const uint64_t replies = reader_.replies().count() + 1;
    reader_.Write(request);
    while (reader_.replies().count() < replies) {
      reader_.Read(&reply_);
      if (reader_.replies().errors() != 0) Die(reader_.replies().first_error());
    }
    return reply_;
  }

  std::string ValueOf(uint64_t number) const {
    std::string value = KeyOf(number);
    value.resize(std::max<size_t>(options_.value_bytes, kKeyBytes), '.');
    return value;
  }

  void Schedule() {
    constexpr uint64_t kBatch = 200;
    const Range delays{static_cast<uint64_t>(options_.lead_ms),
                       static_cast<uint64_t>(options_.lead_ms + options_.spread_ms)};
    Socket socket(options_.port);
    const double began_ms = WallMs();
    std::string out;
    for (uint64_t done = 0; done < options_.tasks;) {
      out.clear();
      for (const uint64_t end = std::min(done + kBatch, options_.tasks); done < end; ++done)
        AppendRequest(out, {"SET", KeyOf(done), ValueOf(done), "PX", std::to_string(delays.Pick(done)),
                            "INTO", "jobs"});
      socket.Write(out);
      socket.ReadUntil(done);
    }
    if (WallMs() - began_ms > options_.lead_ms)
      Die("the tasks were not scheduled before the first was due: --lead-ms");
    first_due_ms_ = began_ms + options_.lead_ms;
  }

  // Asks for the length of the stream until all tasks are there.
  void Watch(double end_ms) {
    for (double now_ms = WallMs(); now_ms < end_ms; now_ms = WallMs()) {
      const auto length = static_cast<uint64_t>(Cursor(AskReader({"XLEN", "jobs"})).Number());
      const double answered_ms = WallMs();
      waits_ms_.push_back(answered_ms - now_ms);
      if (length == options_.tasks) break;
      const std::chrono::duration<double, std::milli> rest_ms(std::max(0.0, now_ms + 1 - answered_ms));
      std::this_thread::sleep_for(rest_ms);  // polls: a client that asks 1,000 times a second
    }
    std::sort(waits_ms_.begin(), waits_ms_.end());
    delivered_ms_ = WallMs() - first_due_ms_;
  }

  // One round of a worker: waits for tasks, takes them, and acknowledges them.
  void Work() {
    Cursor reply(AskReader({"XREADGROUP", "GROUP", "workers", "one", "COUNT", kCount, "BLOCK", kBlockMs,
                            "STREAMS", "jobs", ">"}));
    const double now_ms = WallMs();
    if (reply.Number() < 1) return;
    reply.Number();  // the stream and its entries
    reply.Bulk();
    const int64_t count = reply.Number();
    std::vector<std::string> ids;
    for (int64_t i = 0; i < count; ++i) {
      reply.Number();  // the id and its fields
      ids.emplace_back(reply.Bulk());
      reply.Number();
      reply.Bulk();  // "key"
      const std::string_view key = reply.Bulk();
      reply.Bulk();  // "value"
      const std::string_view value = reply.Bulk();
      reply.Bulk();  // "due"
      Take(std::strtoll(std::string(reply.Bulk()).c_str(), nullptr, 10), key, value, now_ms);
    }
    std::vector<std::string_view> words = {"XACK", "jobs", "workers"};
    words.insert(words.end(), ids.begin(), ids.end());
    AskReader(words);
  }

  void Take(int64_t due_ms, std::string_view key, std::string_view value, double now_ms) {
    const uint64_t number = std::strtoull(std::string(key.substr(2)).c_str(), nullptr, 10);
    if (number >= seen_.size() || key != KeyOf(number)) return;  // not a task
    if (seen_[number]) ++twice_;
    if (value != ValueOf(number)) ++wrong_;
    if (due_ms < last_due_ms_) ++disordered_;
    seen_[number] = true;
    last_due_ms_ = due_ms;
    lags_ms_.push_back(now_ms - static_cast<double>(due_ms));
  }

  void Print() {
    const size_t delivered = lags_ms_.size();
    const auto missing = static_cast<uint64_t>(std::count(seen_.begin(), seen_.end(), false));
    // A task that did not come in time is as late as the end.
    lags_ms_.insert(lags_ms_.end(), missing, static_cast<double>(options_.give_up_ms));
    std::sort(lags_ms_.begin(), lags_ms_.end());
    if (waits_ms_.empty()) waits_ms_.push_back(0);
    std::printf(
        "{\"tasks\": %zu, \"missing\": %" PRIu64 ", \"twice\": %" PRIu64 ", \"wrong\": %" PRIu64
        ", \"disordered\": %" PRIu64
        ", \"min_ms\": %.3f, \"p50_ms\": %.3f, \"p99_ms\": %.3f, \"max_ms\": %.3f, \"delivered_ms\": %.0f"
        ", \"wait_p999_ms\": %.3f, \"wait_max_ms\": %.3f}\n",
        delivered, missing, twice_, wrong_, disordered_, lags_ms_.front(), Percentile(lags_ms_, 0.5),
        Percentile(lags_ms_, 0.99), lags_ms_.back(), delivered_ms_, Percentile(waits_ms_, 0.999),
        waits_ms_.back());
  }

  const TasksOptions& options_;
  Socket reader_;
  std::string reply_;
  std::vector<bool> seen_;
  std::vector<double> lags_ms_;
  std::vector<double> waits_ms_;
  double first_due_ms_ = 0;
  double delivered_ms_ = 0;
  int64_t last_due_ms_ = 0;
  uint64_t twice_ = 0;
  uint64_t wrong_ = 0;
  uint64_t disordered_ = 0;
};

}  // namespace

void RunTasks(const TasksOptions& options) { Tasks(options).Run(); }

}  // namespace mayfly::bench
