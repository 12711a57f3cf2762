// Gives unused pages back to the kernel on a thread of its own. A gigabyte of pages takes a tenth of a second.
//
// Pages that stay unused for a second go by and by, in steps of 10 ms. jemalloc has a thread for the same work, but with
// steps of 100 ms, and on a machine with one processor the loop waits for a whole step: after a million frees, 4 ms.
//
// The thread starts with the first call: a process with one thread saves some 60 instructions in each turn of the loop, because
// the C library looks for cancelled threads around every call that may block. Without a thread the calls purge by themselves.
//
// Both calls return at once. Loop thread only, but for the thread itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace mayfly {

class Purger {
 public:
  Purger() = default;
  ~Purger();
  Purger(const Purger&) = delete;
  Purger& operator=(const Purger&) = delete;

  // Gives all unused pages back, now. A request during the thread's work makes the thread purge once more afterwards.
  void Ask() noexcept;
  // Tells the purger of newly unused pages: the pages go if they stay unused.
  void Tend() noexcept;

 private:
  // Returns false if there is no thread.
  bool Start() noexcept;
  void Work() noexcept;

  std::mutex mutex_;  // held for a few instructions only
  std::condition_variable wake_;
  bool end_ = false;
  bool all_ = false;
  int steps_ = 0;       // left to do
  std::thread thread_;  // none before the first call
};

}  // namespace mayfly
