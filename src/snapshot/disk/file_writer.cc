#include "snapshot/disk/file_writer.h"

#include <array>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

#include "snapshot/format/crc64.h"

namespace mayfly {
namespace {

constexpr size_t kChecksumBytes = 8;

std::string Failure(const std::string& what, const std::string& path, int error) {
  return what + ' ' + path + ": " + std::strerror(error);
}

}  // namespace

FileWriter::FileWriter(Disk& disk, Target target, std::function<void()> wake)
    : disk_(disk),
      target_(std::move(target)),
      folder_(target_.folder.empty() ? "." : target_.folder),
      temporary_(PathIn(folder_, target_.temporary)),
      path_(PathIn(folder_, target_.name)),
      wake_(std::move(wake)),
      thread_([this] { Work(); }) {}

FileWriter::~FileWriter() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = abandoned_ || !finished_;
  }
  told_.notify_all();
  thread_.join();
}

bool FileWriter::Abandon() noexcept {
  bool in_time = false;
  {
    const std::lock_guard lock(mutex_);
    in_time = abandoned_ = !placed_;
  }
  told_.notify_all();
  return in_time;
}

bool FileWriter::Place() noexcept {
  const std::lock_guard lock(mutex_);
  placed_ = !abandoned_;
  return placed_;
}

void FileWriter::Give(std::string&& chunk) {
  const size_t bytes = chunk.size();
  {
    const std::lock_guard lock(mutex_);
    assert(!finished_);
    chunks_.push_back(std::move(chunk));
  }
  waiting_bytes_ += bytes;
  told_.notify_all();
}

std::string FileWriter::Collect() noexcept {
  std::string room;
  for (;;) {
    std::string chunk;
    {
      const std::lock_guard lock(mutex_);
      if (written_ == 0) break;
      --written_;
      chunk.swap(chunks_.front());
      chunks_.pop_front();
    }
    waiting_bytes_ -= chunk.size();
    chunk.clear();
    room.swap(chunk);
  }
  return room;
}

void FileWriter::Finish() {
  {
    const std::lock_guard lock(mutex_);
    assert(!finished_);
    finished_ = true;
  }
  told_.notify_all();
}

FileWriter::State FileWriter::state() noexcept {
  const std::lock_guard lock(mutex_);
  return state_;
}

uint64_t FileWriter::written_bytes() noexcept {
  const std::lock_guard lock(mutex_);
  return written_bytes_;
}

void FileWriter::WaitForChunks() {
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return state_ != State::kWriting || written_ == chunks_.size(); });
}

void FileWriter::Wait() {
  std::unique_lock lock(mutex_);
  assert(finished_ || abandoned_);
  told_.wait(lock, [this] { return state_ != State::kWriting; });
}

// ---- the thread

void FileWriter::Work() {
  std::string problem;
  try {
    problem = WriteFile();
  } catch (const std::bad_alloc&) {
    problem = "out of memory";  // short enough to need none
  }
  if (file_ >= 0) static_cast<void>(disk_.Close(file_));
  if (!problem.empty()) static_cast<void>(disk_.Remove(temporary_));
  {
    const std::lock_guard lock(mutex_);
    problem_.swap(problem);
    state_ = problem_.empty() ? State::kDone : State::kFailed;
  }
  told_.notify_all();
  wake_();
}

const std::string* FileWriter::Next(bool& abandoned) {
  std::unique_lock lock(mutex_);
  told_.wait(lock, [this] { return abandoned_ || finished_ || written_ < chunks_.size(); });
  abandoned = abandoned_;
  return abandoned_ || written_ == chunks_.size() ? nullptr : &chunks_[written_];
}

std::string FileWriter::WriteAll(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    size_t count = 0;
    if (const int error = disk_.Write(file, bytes.substr(0, kPieceBytes), count);
        error != 0 && error != EINTR)
      return Failure("cannot write", temporary_, error);
    bytes.remove_prefix(count);
    if (const int error = SyncSome(file, count)) return Failure("cannot sync", temporary_, error);
    std::this_thread::yield();
  }
  return {};
}

int FileWriter::SyncSome(int file, size_t bytes) {
  unsynced_ += bytes;
  unbegun_ += bytes;
  if (unsynced_ >= kSyncBytes) {
    unsynced_ = unbegun_ = 0;
    return disk_.Sync(file);
  }
  if (unbegun_ >= kBeginBytes) {
    unbegun_ = 0;
    disk_.BeginSync(file);
  }
  return 0;
}

std::string FileWriter::WriteChunks() {
  bool abandoned = false;
  while (const std::string* const chunk = Next(abandoned)) {
    if (target_.checksum) crc_ = rdb::Crc64(crc_, *chunk);
    if (target_.whole) KeepLast(*chunk);
    std::string problem = WriteAll(file_, *chunk);
    if (!problem.empty()) return problem;
    {
      const std::lock_guard lock(mutex_);
      written_bytes_ += chunk->size();
      ++written_;
    }
    told_.notify_all();
    wake_();
  }
  return abandoned ? "abandoned" : "";
}

void FileWriter::KeepLast(std::string_view chunk) {
  last_.append(chunk.substr(chunk.size() - std::min(chunk.size(), kChecksumBytes)));
  last_.erase(0, last_.size() - std::min(last_.size(), kChecksumBytes));
}

// The checksum of bytes and of their checksum after them is 0. A file may have 0 in the place of its checksum.
std::string FileWriter::EndFile() {
  if (target_.whole) {
    const bool none = last_.find_first_not_of('\0') == std::string::npos;
    if (last_.size() != kChecksumBytes) return "it is too short for a snapshot";
    return !target_.checksum || none || crc_ == 0 ? "" : "its checksum is wrong";
  }
  std::array<char, kChecksumBytes> checksum;
  for (size_t i = 0; i < checksum.size(); ++i) checksum[i] = static_cast<char>(crc_ >> (8 * i));
  std::string problem = WriteAll(file_, {checksum.data(), checksum.size()});
  const std::lock_guard lock(mutex_);
  written_bytes_ += checksum.size();
  return problem;
}

std::string FileWriter::WriteFile() {
  static_cast<void>(disk_.RemoveLeftovers(folder_, target_.temporary));
  if (const int error = disk_.Create(temporary_, file_)) return Failure("cannot make", temporary_, error);
  std::string problem = WriteChunks();
  if (!problem.empty()) return problem;
  problem = EndFile();
  if (!problem.empty()) return problem;
  if (const int error = disk_.Sync(file_)) return Failure("cannot sync", temporary_, error);
  if (const int error = disk_.Close(std::exchange(file_, -1)))
    return Failure("cannot close", temporary_, error);
  if (!Place()) return "abandoned";
  if (const int error = disk_.Rename(temporary_, path_))
    return Failure("cannot rename " + temporary_ + " to", path_, error);
  if (const int error = disk_.SyncFolder(folder_)) return Failure("cannot sync the folder", folder_, error);
  return {};
}

}  // namespace mayfly
