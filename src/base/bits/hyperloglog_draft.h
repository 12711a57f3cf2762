// A HyperLogLog during a change, byte for byte as Redis changes it (base/bits/hyperloglog.h has the format). It becomes
// dense when a rank or its size is too much for the sparse encoding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bits/hyperloglog.h"

namespace mayfly::hll {

enum class Raised : uint8_t { kNo, kYes, kCorrupt };

class Draft {
 public:
  // An empty one.
  Draft() noexcept;
  // A copy. One that is longer than any valid one is corrupt from the start.
  // REQUIRES: IsHyperLogLog(bytes).
  explicit Draft(std::string_view bytes) noexcept;
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  std::string_view bytes() const noexcept { return {bytes_, size_}; }
  char* data() noexcept { return bytes_; }
  bool dense() const noexcept { return IsDense(bytes()); }

  // Raises a register, so that the sparse encoding takes at most `most_sparse_bytes`.
  Raised Raise(const Place& place, size_t most_sparse_bytes) noexcept;
  // False if it is corrupt; it has not changed then.
  bool BecomeDense() noexcept;

 private:
  Raised RaiseSparse(const Place& place, size_t most_sparse_bytes) noexcept;
  // Joins runs of the same rank, from the run at `at` on.
  void JoinRuns(size_t at) noexcept;
  // Exchanges `old` bytes at `at` for these.
  void Replace(size_t at, size_t old, std::string_view with) noexcept;

  size_t size_ = 0;
  bool too_long_ = false;
  char bytes_[kMostBytes + 4];  // a run that is split takes up to 3 bytes more
};

}  // namespace mayfly::hll
