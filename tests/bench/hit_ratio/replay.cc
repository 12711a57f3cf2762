#include "hit_ratio/replay.h"

#include <algorithm>

namespace mayfly::bench {
namespace {

class Replayer {
 public:
  Replayer(const Trace& trace, const ReplayOptions& options, Cache& cache)
      : options_(options), cache_(cache), missed_in_(trace.keys, 0) {}

  // The batch's requests; `first` is the number of the first one.
  void RunBatch(std::span<const uint32_t> keys, uint64_t first) {
    ++batch_;
    steps_.clear();
    for (const uint32_t key : keys) steps_.push_back({key, false});
    cache_.Run(steps_, hits_);
    again_.clear();
    for (size_t i = 0; i < keys.size(); ++i) {
      if (hits_[i]) {
        Add(first + i, true);
        continue;
      }
      const bool store = missed_in_[keys[i]] != batch_;
      missed_in_[keys[i]] = batch_;
      again_.push_back({first + i, {keys[i], store}});
    }
    steps_.clear();
    for (const Again& again : again_) steps_.push_back(again.step);
    if (steps_.empty()) return;
    cache_.Run(steps_, hits_);
    for (size_t i = 0; i < again_.size(); ++i) Add(again_[i].request, !again_[i].step.store && hits_[i]);
  }

  Count count() const { return count_; }

 private:
  struct Again {
    uint64_t request;
    Step step;
  };
  void Add(uint64_t request, bool hit) {
    if (request >= options_.warm_up) ++(hit ? count_.hits : count_.misses);
  }

  ReplayOptions options_;
  Cache& cache_;
  std::vector<uint64_t> missed_in_;  // key -> the last batch that missed it
  uint64_t batch_ = 0;
  std::vector<Step> steps_;
  std::vector<bool> hits_;
  std::vector<Again> again_;
  Count count_;
};

}  // namespace

Count Replay(const Trace& trace, const ReplayOptions& options, Cache& cache,
             const std::function<void(uint64_t done)>& after_batch) {
  Replayer replayer(trace, options, cache);
  const std::span<const uint32_t> requests(trace.requests);
  for (size_t at = 0; at < requests.size(); at += options.batch) {
    const size_t size = std::min(options.batch, requests.size() - at);
    replayer.RunBatch(requests.subspan(at, size), at);
    after_batch(at + size);
  }
  return replayer.count();
}

}  // namespace mayfly::bench
