#include "base/bits/hyperloglog_draft.h"

#include <algorithm>
#include <cassert>
#include <cstring>

namespace mayfly::hll {
namespace {

constexpr size_t kMostShortZeros = 64;
constexpr size_t kMostRanks = 4;  // registers of a run of ranks above 0

// The runs that replace one split run: at most 5 bytes.
class Runs {
 public:
  void Add(uint8_t rank, size_t length) noexcept {
    if (length == 0) return;
    if (rank != 0) {
      Put(0x80U | (rank - 1U) << 2U | (length - 1));
    } else if (length <= kMostShortZeros) {
      Put(length - 1);
    } else {
      Put(0x40U | (length - 1) >> 8U);
      Put((length - 1) & 0xFFU);
    }
  }
  std::string_view bytes() const noexcept { return {bytes_, size_}; }

 private:
  void Put(size_t byte) noexcept { bytes_[size_++] = static_cast<char>(byte); }
  char bytes_[5];
  size_t size_ = 0;
};

}  // namespace

Draft::Draft() noexcept {
  Runs zeros;
  zeros.Add(0, kRegisters);
  std::memset(bytes_, 0, kHeaderBytes);
  std::memcpy(bytes_, "HYLL", 4);
  bytes_[kEncodingAt] = kSparse;
  size_ = kHeaderBytes;
  Replace(size_, 0, zeros.bytes());
}

Draft::Draft(std::string_view bytes) noexcept
    : size_(std::min(bytes.size(), kMostBytes)), too_long_(bytes.size() > kMostBytes) {
  std::memcpy(bytes_, bytes.data(), size_);
}

void Draft::Replace(size_t at, size_t old, std::string_view with) noexcept {
  assert(size_ - old + with.size() <= sizeof bytes_);
  std::memmove(bytes_ + at + with.size(), bytes_ + at + old, size_ - at - old);
  std::memcpy(bytes_ + at, with.data(), with.size());
  size_ = size_ - old + with.size();
}

Raised Draft::Raise(const Place& place, size_t most_sparse_bytes) noexcept {
  if (too_long_) return Raised::kCorrupt;
  if (dense()) return RaiseDense(bytes_, place) ? Raised::kYes : Raised::kNo;
  if (place.rank <= kMostSparseRank) {
    const Raised raised = RaiseSparse(place, most_sparse_bytes);
    if (raised != Raised::kYes || !dense()) return raised;
  } else if (!BecomeDense()) {
    return Raised::kCorrupt;
  }
  RaiseDense(bytes_, place);
  return Raised::kYes;
}

// Finds the run of the register and splits the run. If the result is kYes and the bytes are dense, the caller still has to
// raise the register.
Raised Draft::RaiseSparse(const Place& place, size_t most_sparse_bytes) noexcept {
  size_t at = kHeaderBytes;
  size_t before = at;  // the previous run, or this run if no run precedes
  size_t first = 0;
  Run run{};
  for (;; before = at, at += run.bytes, first += run.length) {
    if (at >= size_) return Raised::kCorrupt;
    run = RunAt(bytes(), at);
    if (run.bytes == 0) return Raised::kCorrupt;
    if (place.index < first + run.length) break;
  }
  if (run.rank >= place.rank) return Raised::kNo;

  Runs split;
  split.Add(run.rank, place.index - first);
  split.Add(place.rank, 1);
  split.Add(run.rank, first + run.length - 1 - place.index);
  const size_t split_bytes = split.bytes().size();
  if (split_bytes > run.bytes && size_ + split_bytes - run.bytes > most_sparse_bytes)
    return BecomeDense() ? Raised::kYes : Raised::kCorrupt;
  if (size_ + split_bytes - run.bytes > kMostBytes) return Raised::kCorrupt;
  Replace(at, run.bytes, split.bytes());
  JoinRuns(before);
  ForgetCount(bytes_);
  return Raised::kYes;
}

void Draft::JoinRuns(size_t at) noexcept {
  constexpr int kMostSteps = 5;
  for (int steps = 0; steps < kMostSteps && at < size_; ++steps) {
    const Run run = RunAt(bytes(), at);
    if (run.bytes == 0) return;
    if (run.rank != 0 && at + 1 < size_) {
      const Run next = RunAt(bytes(), at + 1);
      if (next.rank == run.rank && run.length + next.length <= kMostRanks) {
        Runs joined;
        joined.Add(run.rank, run.length + next.length);
        Replace(at, 2, joined.bytes());
        continue;
      }
    }
    at += run.bytes;
  }
}

bool Draft::BecomeDense() noexcept {
  if (dense()) return true;
  Registers registers;
  if (too_long_ || !registers.Merge(bytes())) return false;
  std::memset(bytes_ + kHeaderBytes, 0, kDenseBytes - kHeaderBytes);
  bytes_[kEncodingAt] = kDense;
  size_ = kDenseBytes;
  for (size_t i = 0; i < kRegisters; ++i) SetDenseRegister(bytes_, i, registers[i]);
  return true;
}

}  // namespace mayfly::hll
