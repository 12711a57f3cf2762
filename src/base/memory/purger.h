// Gives unused pages back to the kernel on a thread of its own. A gigabyte of them takes a tenth of a second.
//
// Pages that stay unused for a second go by and by, in steps of 10 ms. jemalloc could do that on a thread of its own,
// but in steps of 100 ms, and where there is one processor the loop waits for all of a step: after a million frees, 4 ms.
//
// Both calls return at once. Loop thread only, but for the thread itself.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace mayfly {

class Purger {
 public:
  // Starts the thread. Throws std::system_error.
  Purger();
  ~Purger();
  Purger(const Purger&) = delete;
  Purger& operator=(const Purger&) = delete;

  // All unused pages go, now. What is asked for while the thread works on it is done once more when it is through.
  void Ask() noexcept;
  // Pages have become unused: they go if they stay so.
  void Tend() noexcept;

 private:
  void Work() noexcept;

  std::mutex mutex_;  // held for a few instructions only
  std::condition_variable wake_;
  bool end_ = false;
  bool all_ = false;
  int steps_ = 0;  // left to do
  std::thread thread_;
};

}  // namespace mayfly
