#include "base/memory/purger.h"

#include <chrono>
#include <new>
#include <system_error>

#include "base/memory/heap.h"

namespace mayfly {
namespace {

constexpr std::chrono::milliseconds kStep{10};
// Somewhat longer than Heap::kPagesStayMs.
constexpr int kSteps = static_cast<int>(Heap::kPagesStayMs + 200) / static_cast<int>(kStep.count());

}  // namespace

Purger::~Purger() {
  if (!thread_.joinable()) return;
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

bool Purger::Start() noexcept {
  if (thread_.joinable()) return true;
  try {
    thread_ = std::thread([this] { Work(); });
  } catch (const std::system_error&) {  // the system allows no more threads now
  } catch (const std::bad_alloc&) {
  }
  return thread_.joinable();
}

void Purger::Ask() noexcept {
  if (!Start()) return Heap::PurgePages();
  {
    const std::scoped_lock lock(mutex_);
    all_ = true;
  }
  wake_.notify_one();
}

void Purger::Tend() noexcept {
  if (!Start()) return Heap::PurgeOldPages();
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
