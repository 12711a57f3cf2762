#include "base/purger.h"

#include "base/heap.h"

namespace mayfly {

Purger::Purger() : thread_([this] { Work(); }) {}

Purger::~Purger() {
  wish_.store(Wish::kEnd);
  wish_.notify_one();
  thread_.join();
}

void Purger::Ask() noexcept {
  Wish none = Wish::kNone;
  if (wish_.compare_exchange_strong(none, Wish::kPurge)) wish_.notify_one();
}

void Purger::Work() noexcept {
  for (;;) {
    wish_.wait(Wish::kNone);
    Wish purge = Wish::kPurge;
    if (!wish_.compare_exchange_strong(purge, Wish::kNone)) return;  // it is kEnd
    Heap::PurgePages();
  }
}

}  // namespace mayfly
