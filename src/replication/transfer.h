// Receives all keys of a master as a snapshot file.
//
//   $<bytes>\r\n <a file of so many bytes>                        written by the master to its disk before
//   $EOF:<mark>\r\n <a file> <mark>                               40 bytes; written straight to the link
//
// The file is written beside the server's own, by a thread, and is there when it is whole and its checksum is right. Empty lines
// before the header only say that the master is alive. Bytes that the thread has not written yet are limited: Take takes nothing
// then, and the master has to wait.
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
    kDone,     // the file is there
    kFailed,
  };

  // `run_id`: of this process, for the names of its files. `wake` is called by the thread when there is news. `verifies`: the checksum.
  Transfer(Disk& disk, std::string folder, const std::string& run_id, bool verifies,
           std::function<void()> wake);
  // Removes the file.
  ~Transfer();
  Transfer(const Transfer&) = delete;
  Transfer& operator=(const Transfer&) = delete;

  // Returns how many bytes it has taken: fewer than there are if the thread is behind, or after the end. Throws std::bad_alloc
  // and std::system_error.
  size_t Take(std::string_view bytes);
  State state();
  // Why the state is kFailed: one line.
  const std::string& problem() const noexcept { return problem_; }
  std::string path() const { return PathIn(folder_, name_); }
  uint64_t received_bytes() const noexcept { return received_; }
  // -1: the master has not said it.
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
  std::string last_;  // bytes that may be the beginning of the mark
  uint64_t received_ = 0;
  std::string chunk_;
  std::unique_ptr<FileWriter> writer_;
};

}  // namespace mayfly
