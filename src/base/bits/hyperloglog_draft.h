// A HyperLogLog during a change, byte for byte as Redis changes it (base/bits/hyperloglog.h has the format). A sparse draft
// becomes dense when a rank or the size exceeds the limits of the sparse encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bits/hyperloglog.h"

namespace mayfly::hll {

enum class Raised : uint8_t { kNo, kYes, kCorrupt };

class Draft {
 public:
  // An empty HyperLogLog.
  Draft() noexcept;
  // A copy of `bytes`. A copy of more bytes than a valid value can have is corrupt from the start.
  // REQUIRES: IsHyperLogLog(bytes).
  explicit Draft(std::string_view bytes) noexcept;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::string_view bytes() const noexcept { return {bytes_, size_}; }
  char* data() noexcept { return bytes_; }
  bool dense() const noexcept { return IsDense(bytes()); }

  // Raises a register, within `most_sparse_bytes` for the sparse encoding.
  Raised Raise(const Place& place, size_t most_sparse_bytes) noexcept;
  // Returns false, and changes nothing, if the draft is corrupt.
  bool BecomeDense() noexcept;

 private:
  Raised RaiseSparse(const Place& place, size_t most_sparse_bytes) noexcept;
  // Joins runs of the same rank, from the run at `at` on.
  void JoinRuns(size_t at) noexcept;
  // Replaces `old` bytes at `at` by `with`.
  void Replace(size_t at, size_t old, std::string_view with) noexcept;

  size_t size_ = 0;
  bool too_long_ = false;
  char bytes_[kMostBytes + 4];  // splitting a run takes up to 3 bytes more
};

}  // namespace mayfly::hll
