// Entries that were freed or moved since the current batch was planned. A guess (an entry that look-ahead
// found for a request) that names one of them must not be followed.
//
// A filter: MayHold may be true for an entry that is still in place, but is never false for one that is not.
// Batch::Plan clears it when no guess is in use. A batch seldom frees or moves more than kBits / 16 entries.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/heap.h"

namespace mayfly {

class StaleGuesses {
 public:
  void Note(HeapRef ref) noexcept {
    any_ = true;
    words_[WordOf(ref)] |= BitOf(ref);
  }
  // Databases have changed places, or one has been emptied at once.
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

  // Neighbours in memory lie 1 to 20 steps apart: the low bits alone tell them well enough.
  static size_t WordOf(HeapRef ref) noexcept { return (ref.bits / 64) % (kBits / 64); }
  static uint64_t BitOf(HeapRef ref) noexcept { return uint64_t{1} << (ref.bits % 64); }

  bool any_ = false;
  std::array<uint64_t, kBits / 64> words_{};
};

}  // namespace mayfly
