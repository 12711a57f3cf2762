#include "base/memory/purger.h"

#include <chrono>

#include "base/memory/heap.h"

namespace mayfly {
namespace {

constexpr std::chrono::milliseconds kStep{10};
// Somewhat longer than Heap::kPagesStayMs.
constexpr int kSteps = static_cast<int>(Heap::kPagesStayMs + 200) / static_cast<int>(kStep.count());

}  // namespace

Purger::Purger() : thread_([this] { Work(); }) {}

Purger::~Purger() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void Purger::Ask() noexcept {
  {
    const std::scoped_lock lock(mutex_);
    all_ = true;
  }
  wake_.notify_one();
}

void Purger::Tend() noexcept {
  bool asleep = false;
  {
    const std::scoped_lock lock(mutex_);
    asleep = steps_ == 0;
    steps_ = kSteps;
  }
  if (asleep) wake_.notify_one();
}

void Purger::Work() noexcept {
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [this] { return end_ || all_ || steps_ != 0; });
    if (end_) return;
    const bool all = all_;
    all_ = false;
    if (!all) --steps_;
    lock.unlock();
    all ? Heap::PurgePages() : Heap::PurgeOldPages();
    lock.lock();
    if (!all) wake_.wait_for(lock, kStep, [this] { return end_ || all_; });
  }
}

}  // namespace mayfly
