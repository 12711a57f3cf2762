// Writes a snapshot file on a thread of its own: chunks in, a whole file or none out.
//
//   Give, Give ... --> the thread writes them to a temporary file --> Finish: checksum, sync, rename
//                                   |
//                                   +-- a failure, no Finish, or Abandon before the rename: the temporary file is removed
//
// The file gets its name only when all bytes are on the disk. An open of the name finds the old file or the new file,
// whole, even after a loss of power. The thread syncs every kSyncBytes: the last sync takes no longer than others.
//
// Processor. On a machine with one processor the thread must not keep the loop waiting. The kernel lets a thread run for
// milliseconds before it looks at others, so the thread yields after every kPieceBytes. And it lets the disk begin every
// kBeginBytes, because to hand 32 MB over to the disk at once takes milliseconds, too.
//
// Memory. The loop allocates and frees every chunk, since the memory of the loop thread is counted (base/memory/heap.h): the
// thread only reads chunks.
//
// Borrows the disk. Loop thread only, but for the thread itself and `wake`.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "snapshot/disk/disk.h"
#include "snapshot/disk/save_target.h"

namespace mayfly {

class FileWriter final : public SaveTarget {
 public:
  static constexpr size_t kPieceBytes = size_t{256} << 10;
  static constexpr uint64_t kBeginBytes = uint64_t{2} << 20;
  static constexpr uint64_t kSyncBytes = uint64_t{32} << 20;

  struct Target {
    std::string folder;
    std::string name;       // of the file in the folder
    std::string temporary;  // likewise, until the file is whole
    bool checksum = true;   // false: 0 in the place of the checksum
    bool whole = false;     // the bytes are a whole file: its own checksum is verified, and none is written
  };

  // Starts the thread. The thread calls `wake` when a chunk is written, and at its end. Throws std::bad_alloc and
  // std::system_error.
  FileWriter(Disk& disk, Target target, std::function<void()> wake);
  // Waits for the thread. Without Finish there is no file.
  ~FileWriter() override;

  void Give(std::string&& chunk) override;
  std::string Collect() noexcept override;
  size_t waiting_bytes() const noexcept override { return waiting_bytes_; }
  void Finish() override;
  bool Abandon() noexcept override;
  State state() noexcept override;
  const std::string& problem() const noexcept override { return problem_; }
  uint64_t written_bytes() noexcept override;
  // Waits until all given chunks are written, or the state is no longer kWriting.
  void WaitForChunks();
  void Wait() override;

 private:
  void Work();
  // Returns "", or the reason for a failure. Throws std::bad_alloc.
  std::string WriteFile();
  std::string WriteChunks();
  std::string WriteAll(int file, std::string_view bytes);
  // Bytes were written: begins to sync them, or syncs. Returns an errno, or 0.
  int SyncSome(int file, size_t bytes);
  void KeepLast(std::string_view chunk);
  // Writes the checksum, or verifies the file's own.
  std::string EndFile();
  // From now on it is too late for Abandon. Returns false if the file is given up.
  bool Place() noexcept;
  // Returns the next chunk, or null at the end. `abandoned`: the file is given up.
  const std::string* Next(bool& abandoned);

  Disk& disk_;
  const Target target_;
  const std::string folder_;
  const std::string temporary_;  // paths
  const std::string path_;
  const std::function<void()> wake_;
  size_t waiting_bytes_ = 0;

  std::mutex mutex_;  // for everything below; held for a few instructions only
  std::condition_variable told_;
  std::deque<std::string> chunks_;  // the first written_ ones are written
  size_t written_ = 0;
  bool finished_ = false;
  bool abandoned_ = false;
  bool placed_ = false;  // the thread renames the file, or has renamed it
  State state_ = State::kWriting;
  std::string problem_;  // set before state_ changes, and never after
  uint64_t written_bytes_ = 0;

  uint64_t crc_ = 0;       // of the thread alone
  uint64_t unsynced_ = 0;  // likewise
  uint64_t unbegun_ = 0;   // likewise: of those, since the last BeginSync
  std::string last_;       // likewise: the last bytes of a whole file
  int file_ = -1;          // likewise
  std::thread thread_;
};

}  // namespace mayfly
