// Reads a snapshot file ahead, on a thread of its own.
//
//   the thread --chunks, at most kAhead--> Take --> the loop parses, and gives the chunk's room back with the next Take
//
// The thread also computes the checksum of everything but the file's last 8 bytes, where a file has its own.
//
// Memory. The loop allocates and frees every chunk, since the memory of the loop thread is counted (base/memory/heap.h).
//
// Borrows the disk. Loop thread only, but for the thread itself and `wake`.
#pragma once

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "snapshot/disk/disk.h"

namespace mayfly {

class FileReader {
 public:
  static constexpr size_t kChunkBytes = size_t{256} << 10;
  static constexpr size_t kAhead = 8;
  static constexpr size_t kChecksumBytes = 8;

  // Opens the file. `problem` is "", or one line; then the file is at its end. The thread calls `wake` when there is a chunk
  // for somebody who found none, and at the end. Throws std::bad_alloc and std::system_error.
  FileReader(Disk& disk, std::string path, std::function<void()> wake, std::string& problem);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  uint64_t file_bytes() const noexcept { return file_bytes_; }
  // Puts the next bytes of the file into `chunk`. False: there are none yet, or the file is at its end. The former room of
  // `chunk` is used again. Throws std::bad_alloc.
  bool Take(std::string& chunk);
  // No more bytes come. `problem` is "", or why they cannot be read: one line.
  bool AtEnd(std::string& problem) noexcept;
  // Waits until Take or AtEnd is true.
  void Wait();
  // The checksum of all bytes but the last kChecksumBytes. REQUIRES: AtEnd.
  uint64_t crc() noexcept;

 private:
  void Work();
  std::string ReadFile();
  void Sum(std::string_view bytes) noexcept;

  Disk& disk_;
  const std::string path_;
  const std::function<void()> wake_;
  int file_ = -1;
  uint64_t file_bytes_ = 0;

  std::mutex mutex_;  // for everything below; held for a few instructions only
  std::condition_variable told_;
  std::array<std::string, kAhead> chunks_;  // a ring; the others have room for the thread
  size_t first_ = 0;                        // the first full chunk
  size_t full_ = 0;
  bool end_ = false;
  bool abandoned_ = false;
  bool wanted_ = false;  // somebody found nothing
  std::string problem_;

  uint64_t crc_ = 0;  // of the thread, until end_
  std::string last_;  // likewise: the last bytes, at most kChecksumBytes, which are not in crc_
  std::thread thread_;
};

}  // namespace mayfly
