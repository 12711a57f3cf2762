// A filter of the entries that were freed or relocated since the current batch was planned. Look-ahead finds a probable
// entry for each request of a batch, a *guess*. A guess that names a freed or relocated entry is void and must not be
// followed.
//
// MayHold has false positives but no false negatives. Batch::Plan clears the filter when no guess is in use.
// A batch seldom frees or relocates more than kBits / 16 entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/memory/heap.h"

namespace mayfly {

class VoidGuesses {
 public:
  void Note(HeapRef ref) noexcept {
    any_ = true;
    words_[WordOf(ref)] |= BitOf(ref);
  }
  // All guesses are void: databases were swapped, or one was flushed.
  void NoteAll() noexcept {
    any_ = true;
    words_.fill(~uint64_t{0});
  }
  [[gnu::always_inline]] bool MayHold(HeapRef ref) const noexcept {
    return any_ && (words_[WordOf(ref)] & BitOf(ref)) != 0;
  }
  void Forget() noexcept {
    if (!any_) return;
    any_ = false;
    words_.fill(0);
  }

 private:
  static constexpr size_t kBits = 1024;

  // Neighbours in memory are 1 to 20 units of HeapRef apart, so the low bits spread the entries well enough.
  static size_t WordOf(HeapRef ref) noexcept { return (ref.bits / 64) % (kBits / 64); }
  static uint64_t BitOf(HeapRef ref) noexcept { return uint64_t{1} << (ref.bits % 64); }

  bool any_ = false;
  std::array<uint64_t, kBits / 64> words_{};
};

}  // namespace mayfly
