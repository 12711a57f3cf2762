// A disk of files in memory, which can fail at a chosen call. The files' bytes are whole pages of the kernel's: threads write them,
// and the server counts what its own thread gets from the allocator.
#pragma once

#include <cerrno>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <string_view>

#include "snapshot/disk/disk.h"

#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

namespace mayfly::testing {

template <typename T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <typename U>
  PageAllocator(const PageAllocator<U>&) noexcept {}  // NOLINT(google-explicit-constructor): an allocator's

  T* allocate(size_t count) {
    void* const pages =
        mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) throw std::bad_alloc();
    // The pages may have been a thread's stack before, of which the sanitizer still remembers dead variables.
    ASAN_UNPOISON_MEMORY_REGION(pages, count * sizeof(T));
    return static_cast<T*>(pages);
  }
  void deallocate(T* pages, size_t count) noexcept { munmap(pages, count * sizeof(T)); }
  bool operator==(const PageAllocator&) const noexcept { return true; }
};

class MemoryDisk final : public Disk {
 public:
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
    std::map<std::string, std::string> copies;
    for (const auto& [path, bytes] : files_) copies.emplace(path, std::string_view(bytes));
    return copies;
  }
  void Put(const std::string& path, std::string_view bytes) {
    const std::lock_guard lock(mutex_);
    files_[path] = bytes;
  }

  int Create(const std::string& path, int& file) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    if (files_.contains(path)) return EEXIST;
    files_[path];
    file = ++last_file_;
    written_[file] = path;
    return 0;
  }
  bool Exists(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.contains(path);
  }
  bool IsFile(const std::string& path) override { return Exists(path); }
  int MayWriteInto(const std::string&) override {
    const std::lock_guard lock(mutex_);
    return Fails() ? error_ : 0;
  }
  int OpenToRead(const std::string& path, int& file, uint64_t& bytes) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    if (!files_.contains(path)) return ENOENT;
    file = ++last_file_;
    read_[file] = files_[path];
    bytes = read_[file].size();
    return 0;
  }
  // Half of the bytes at a time.
  int Write(int file, std::string_view bytes, size_t& count) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    count = (bytes.size() + 1) / 2;
    files_[written_.at(file)].append(bytes.substr(0, count));
    return 0;
  }
  int Read(int file, char* bytes, size_t most, size_t& count) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    Bytes& rest = read_.at(file);
    count = rest.copy(bytes, std::min(most, piece));
    rest.erase(0, count);
    return 0;
  }
  int Sync(int) override {
    if (before) before("sync");
    return Call();
  }
  void BeginSync(int) noexcept override {}
  int Close(int file) override {
    const std::lock_guard lock(mutex_);
    written_.erase(file);
    read_.erase(file);
    return Fails() ? error_ : 0;
  }
  int SyncFolder(const std::string&) override { return Call(); }
  int Rename(const std::string& from, const std::string& to) override {
    if (before) before("rename");
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    files_[to] = std::move(files_[from]);
    files_.erase(from);
    return 0;
  }
  // A copy: no file changes after it has its name.
  int Link(const std::string& path, const std::string& second) override {
    const std::lock_guard lock(mutex_);
    if (Fails()) return error_;
    if (files_.contains(second)) return EEXIST;
    files_[second] = files_[path];
    return 0;
  }
  bool AreSame(const std::string& path, const std::string& other) override {
    const std::lock_guard lock(mutex_);
    return files_.contains(path) && files_.contains(other) && files_[path] == files_[other];
  }
  int Remove(const std::string& path) override {
    const std::lock_guard lock(mutex_);
    return files_.erase(path) == 0 ? ENOENT : 0;
  }

  size_t RemoveLeftovers(const std::string& folder, std::string_view own) noexcept override {
    try {
      return Remove(PathIn(folder, own)) == 0 ? 1 : 0;
    } catch (const std::bad_alloc&) {  // as on a real disk, they stay
      return 0;
    }
  }

  size_t piece = SIZE_MAX;  // bytes of a read
  // Called before a sync and before a rename, by the thread that makes the call.
  std::function<void(std::string_view)> before;

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
  using Bytes = std::basic_string<char, std::char_traits<char>, PageAllocator<char>>;

  std::map<std::string, Bytes> files_;
  // The open files.
  int last_file_ = 0;
  std::map<int, std::string> written_;  // their paths
  std::map<int, Bytes> read_;           // what is not read yet
  size_t calls_ = 0;
  size_t fail_at_ = 0;
  int error_ = 0;
  bool stays_ = false;
};

}  // namespace mayfly::testing
