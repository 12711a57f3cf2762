// Where a save goes: a file (snapshot/disk/file_writer.h), or a client (snapshot/client_stream.h).
//
// A save gives chunks and goes on when fewer bytes wait. The target wakes the loop (Wakes) when some bytes have left, and at its
// end. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mayfly {

class SaveTarget {
 public:
  enum class State : uint8_t { kWriting, kDone, kFailed };

  SaveTarget() = default;
  SaveTarget(const SaveTarget&) = delete;
  SaveTarget& operator=(const SaveTarget&) = delete;
  virtual ~SaveTarget() = default;

  // Adds the next bytes. Throws std::bad_alloc.
  virtual void Give(std::string&& chunk) = 0;
  // Frees the written chunks, and returns an empty chunk with their room if there is one.
  virtual std::string Collect() noexcept = 0;
  // Bytes given and not written yet, as of the last Collect.
  virtual size_t waiting_bytes() const noexcept = 0;
  // All bytes were given: the last one is the opcode of the end. REQUIRES: called once.
  virtual void Finish() = 0;
  // Nothing more comes, and the state becomes kFailed soon. Returns false, and has no effect, if it is too late: everything is
  // on its way to its place.
  virtual bool Abandon() noexcept = 0;
  virtual State state() noexcept = 0;
  // Why the state is kFailed: one line.
  virtual const std::string& problem() const noexcept = 0;
  // So far.
  virtual uint64_t written_bytes() noexcept = 0;
  // Waits until the state is no longer kWriting. REQUIRES: Abandon was called, or Finish for a file.
  virtual void Wait() = 0;
};

}  // namespace mayfly
