// A disk that takes no byte until it is let go, and keeps none: what waits for it, waits.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <string_view>

#include "snapshot/disk/disk.h"

namespace mayfly::testing {

class StuckDisk final : public Disk {
 public:
  // REQUIRES: before the end of a writer, which waits for its thread.
  void LetGo() {
    {
      const std::lock_guard lock(mutex_);
      stuck_ = false;
    }
    told_.notify_all();
  }

  int Create(const std::string&, int& file) override {
    file = 0;
    return 0;
  }
  bool Exists(const std::string&) override { return false; }
  int Write(int, std::string_view bytes, size_t& count) override {
    std::unique_lock lock(mutex_);
    told_.wait(lock, [this] { return !stuck_; });
    count = bytes.size();
    return 0;
  }
  int Sync(int) override { return 0; }
  void BeginSync(int) noexcept override {}
  int Close(int) override { return 0; }
  int Rename(const std::string&, const std::string&) override { return 0; }
  int SyncFolder(const std::string&) override { return 0; }
  int Remove(const std::string&) override { return 0; }
  size_t RemoveLeftovers(const std::string&, std::string_view) noexcept override { return 0; }

 private:
  std::mutex mutex_;
  std::condition_variable told_;
  bool stuck_ = true;
};

}  // namespace mayfly::testing
