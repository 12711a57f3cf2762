// Gives unused pages back to the kernel on a thread of its own: a gigabyte of them takes a tenth of a second.
//
// Ask returns at once. What is asked for while the thread works is done once more when it is through. Loop
// thread only, but for the thread itself.
#pragma once

#include <atomic>
#include <thread>

namespace mayfly {

class Purger {
 public:
  // Starts the thread. Throws std::system_error.
  Purger();
  ~Purger();
  Purger(const Purger&) = delete;
  Purger& operator=(const Purger&) = delete;

  void Ask() noexcept;

 private:
  enum class Wish : int { kNone, kPurge, kEnd };
  void Work() noexcept;

  std::atomic<Wish> wish_{Wish::kNone};
  std::thread thread_;
};

}  // namespace mayfly
