#include "snapshot/disk/file_reader.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "snapshot/format/crc64.h"

namespace mayfly {

FileReader::FileReader(Disk& disk, std::string path, std::function<void()> wake, std::string& problem)
    : disk_(disk), path_(std::move(path)), wake_(std::move(wake)) {
  last_.reserve(2 * kChecksumBytes);
  if (const int error = disk_.OpenToRead(path_, file_, file_bytes_)) {
    problem = "cannot open " + path_ + ": " + (error == EINVAL ? "Not a regular file" : std::strerror(error));
    end_ = true;
    return;
  }
  try {
    for (std::string& chunk : chunks_) chunk.resize(kChunkBytes);
    thread_ = std::thread([this] { Work(); });
  } catch (...) {
    static_cast<void>(disk_.Close(file_));
    throw;
  }
}

FileReader::~FileReader() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  told_.notify_all();
  thread_.join();
}

bool FileReader::Take(std::string& chunk) {
  chunk.resize(kChunkBytes);
  {
    const std::lock_guard lock(mutex_);
    wanted_ = full_ == 0;
    if (wanted_) return chunk.clear(), false;
    chunk.swap(chunks_[first_]);
    first_ = (first_ + 1) % kAhead;
    --full_;
  }
  told_.notify_all();
  return true;
}

bool FileReader::AtEnd(std::string& problem) noexcept {
  const std::lock_guard lock(mutex_);
  if (!end_ || full_ != 0) return false;
  problem.swap(problem_);
  return true;
}

void FileReader::Wait() {
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return end_ || full_ != 0; });
}

uint64_t FileReader::crc() noexcept {
  const std::lock_guard lock(mutex_);
  return crc_;
}

// ---- the thread

void FileReader::Work() {
  std::string problem;
  try {
    problem = ReadFile();
  } catch (const std::bad_alloc&) {
    problem = "out of memory";  // short enough to need none
  }
  static_cast<void>(disk_.Close(file_));
  {
    const std::lock_guard lock(mutex_);
    problem_.swap(problem);
    end_ = true;
  }
  told_.notify_all();
  wake_();
}

std::string FileReader::ReadFile() {
  for (;;) {
    size_t free = 0;
    {
      std::unique_lock lock(mutex_);
      told_.wait(lock, [this] { return abandoned_ || full_ != kAhead; });
      if (abandoned_) return {};
      free = (first_ + full_) % kAhead;
    }
    std::string& chunk = chunks_[free];
    size_t count = 0;
    const int error = disk_.Read(file_, chunk.data(), kChunkBytes, count);
    if (error == EINTR) continue;
    if (error != 0) return "cannot read " + path_ + ": " + std::strerror(error);
    if (count == 0) return {};
    Sum({chunk.data(), count});
    bool wanted = false;
    {
      const std::lock_guard lock(mutex_);
      chunk.resize(count);
      ++full_;
      wanted = std::exchange(wanted_, false);
    }
    told_.notify_all();
    if (wanted) wake_();
  }
}

// Keeps the last bytes out of the checksum until others follow.
void FileReader::Sum(std::string_view bytes) noexcept {
  const size_t spare = std::min(kChecksumBytes, bytes.size());
  const size_t old = last_.size() + spare > kChecksumBytes ? last_.size() + spare - kChecksumBytes : 0;
  crc_ = rdb::Crc64(crc_, std::string_view(last_).substr(0, old));
  crc_ = rdb::Crc64(crc_, bytes.substr(0, bytes.size() - spare));
  last_.erase(0, old);
  last_.append(bytes.substr(bytes.size() - spare));
}

}  // namespace mayfly
