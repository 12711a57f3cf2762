// A disk of files in memory, which can fail at a chosen call.
#pragma once

#include <cerrno>
#include <map>
#include <mutex>
#include <new>
#include <string>

#include "snapshot/disk/disk.h"

namespace mayfly::testing {

class MemoryDisk final : public Disk {
 public:
  static constexpr int kWhole = 7;  // the only open file

  // The call number `call` from now on, counted from 1, answers `error` and does nothing; 0: none.
  void FailAt(size_t call, int error) {
    const std::lock_guard lock(mutex_);
    calls_ = 0;
    fail_at_ = call;
    error_ = error;
  }
  // Every later write fails, too, as on a full disk.
  void FailFrom(size_t call, int error) {
    FailAt(call, error);
    stays_ = true;
  }
  size_t calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  std::map<std::string, std::string> files() {
    const std::lock_guard lock(mutex_);
    return files_;
  }
  void Put(const std::string& path, std::string bytes) {
    const std::lock_guard lock(mutex_);
    files_[path] = std::move(bytes);
  }

  int Create(const std::string& path, int& file) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    if (files_.contains(path)) return EEXIST;
    files_[path];
    written_ = path;
    file = kWhole;
    return 0;
  }
  bool Exists(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.contains(path);
  }
  int MayWriteInto(const std::string&) override {
    const std::lock_guard lock(mutex_);
    return Fails() ? error_ : 0;
  }
  int OpenToRead(const std::string& path, int& file, uint64_t& bytes) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    if (!files_.contains(path)) return ENOENT;
    read_ = files_[path];
    bytes = read_.size();
    file = kWhole;
    return 0;
  }
  // Half of the bytes at a time.
  int Write(int, std::string_view bytes, size_t& count) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    count = (bytes.size() + 1) / 2;
    files_[written_].append(bytes.substr(0, count));
    return 0;
  }
  int Read(int, char* bytes, size_t most, size_t& count) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    count = read_.copy(bytes, std::min(most, piece));
    read_.erase(0, count);
    return 0;
  }
  int Sync(int) override { return Call(); }
  int Close(int) override { return Call(); }
  int SyncFolder(const std::string&) override { return Call(); }
  int Rename(const std::string& from, const std::string& to) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    files_[to] = std::move(files_[from]);
    files_.erase(from);
    return 0;
  }
  int Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.erase(path) == 0 ? ENOENT : 0;
  }

  void RemoveLeftovers(const std::string& folder, std::string_view own) noexcept override {
    try {
      static_cast<void>(Remove(PathIn(folder, own)));
    } catch (const std::bad_alloc&) {  // as on a real disk, they stay
    }
  }

  size_t piece = SIZE_MAX;  // bytes of a read

 private:
  bool Fails() noexcept {
    ++calls_;
    return fail_at_ != 0 && (calls_ == fail_at_ || (stays_ && calls_ > fail_at_));
  }
  int Call() {
    const std::lock_guard lock(mutex_);
    return Fails() ? error_ : 0;
  }

  std::mutex mutex_;
  std::map<std::string, std::string> files_;
  std::string written_;
  std::string read_;
  size_t calls_ = 0;
  size_t fail_at_ = 0;
  int error_ = 0;
  bool stays_ = false;
};

}  // namespace mayfly::testing
