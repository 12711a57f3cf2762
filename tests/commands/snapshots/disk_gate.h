// Lets the thread of a save wait before a call of the disk.
//
//   DiskGate gate(disk, "sync");
//   Run({"BGSAVE"});
//   while (!gate.reached()) Slice();
//   ...
//   gate.Open();
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "support/memory_disk.h"

namespace mayfly::testing {

class DiskGate {
 public:
  DiskGate(MemoryDisk& disk, std::string_view call) : disk_(disk), call_(call) {
    disk_.before = [this](std::string_view made) {
      if (made != call_) return;
      std::unique_lock lock(mutex_);
      reached_ = true;
      told_.notify_all();
      told_.wait(lock, [this] { return open_; });
    };
  }
  ~DiskGate() { disk_.before = nullptr; }
  bool reached() {
    const std::lock_guard lock(mutex_);
    return reached_;
  }
  void Open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    told_.notify_all();
  }

 private:
  MemoryDisk& disk_;
  const std::string call_;
  std::mutex mutex_;
  std::condition_variable told_;
  bool reached_ = false;
  bool open_ = false;
};

}  // namespace mayfly::testing
