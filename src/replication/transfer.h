// Receives all keys of a master as a snapshot file.
//
//   $<bytes>\r\n <a file of this size>                            the master has written the file to its disk before
//   $EOF:<mark>\r\n <a file> <mark>                               40 bytes; written straight to the link
//
// A thread writes the file next to the server's own. The file appears at path() when all bytes have arrived and the checksum
// is right. Empty lines before the header are the master's signs of life. The bytes not yet written by the thread are
// limited: at the limit Take takes nothing, and the master has to wait.
//
// Borrows the disk. Loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "snapshot/disk/disk.h"
#include "snapshot/disk/file_writer.h"

namespace mayfly {

class Transfer {
 public:
  static constexpr size_t kMarkBytes = 40;
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  static constexpr size_t kMostWaitingBytes = size_t{8} << 20;
  static constexpr size_t kMostHeaderBytes = 64;

  enum class State : uint8_t {
    kReceiving,
    kWriting,  // all bytes were received
    kDone,     // the file is at path()
    kFailed,
  };

  // `run_id`: of this process, for file names. `verifies`: checks the checksum. The thread calls `wake` after news.
  Transfer(Disk& disk, std::string folder, const std::string& run_id, bool verifies,
           std::function<void()> wake);
  // Removes the file.
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Returns the number of taken bytes: fewer than given if the thread is behind, or after the end of the file. Throws
  // std::bad_alloc and std::system_error.
  size_t Take(std::string_view bytes);
  State state();
  // The reason for kFailed, in one line.
  const std::string& problem() const noexcept { return problem_; }
  std::string path() const { return PathIn(folder_, name_); }
  uint64_t received_bytes() const noexcept { return received_; }
  // -1: the master has not sent the size.
  int64_t total_bytes() const noexcept { return total_; }
  uint64_t waiting_bytes() const noexcept {
    return chunk_.capacity() + (writer_ != nullptr ? writer_->waiting_bytes() : 0);
  }

 private:
  size_t TakeHeader(std::string_view bytes);
  bool ReadHeader(std::string_view line);
  size_t TakeBody(std::string_view bytes);
  void Give(std::string_view bytes);
  void Finish();
  void Fail(std::string_view problem);

  Disk& disk_;
  const std::string folder_;
  const std::string name_;
  const std::string part_;
  const bool verifies_;
  const std::function<void()> wake_;
  State state_ = State::kReceiving;
  std::string problem_;
  std::string header_;
  bool in_body_ = false;
  int64_t total_ = -1;
  std::string mark_;  // empty: the length is known
  std::string last_;  // bytes that may begin the mark
  uint64_t received_ = 0;
  std::string chunk_;
  std::unique_ptr<FileWriter> writer_;
};

}  // namespace mayfly
