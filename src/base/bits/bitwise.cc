#include "base/bits/bitwise.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

namespace mayfly {
namespace {

// The result is computed in pieces to keep intermediate results in the first-level cache.
constexpr size_t kPieceWords = 256;
using Piece = std::array<uint64_t, kPieceWords>;
constexpr size_t kPieceBytes = sizeof(Piece);

// Loads the bytes of `source` from `offset` on, with zeros after its end.
void Load(std::string_view source, size_t offset, Piece& piece) noexcept {
  const size_t there = offset < source.size() ? std::min(source.size() - offset, kPieceBytes) : 0;
  if (there < kPieceBytes) piece.fill(0);
  if (there > 0) std::memcpy(piece.data(), source.data() + offset, there);
}

template <typename Combine>
void Each(Piece& into, const Piece& from, Combine&& combine) noexcept {
  for (size_t i = 0; i < kPieceWords; ++i) into[i] = combine(into[i], from[i]);
}

uint64_t Or(uint64_t a, uint64_t b) noexcept { return a | b; }

// Adds a source. `once` has the bits met in exactly one source, `repeated` the bits met in several sources.
void AddOnce(Piece& once, Piece& repeated, const Piece& from) noexcept {
  for (size_t i = 0; i < kPieceWords; ++i) {
    repeated[i] |= once[i] & from[i];
    once[i] = (once[i] | from[i]) & ~repeated[i];
  }
}

// Combines the next source into `piece`.
void Fold(BitOperation operation, Piece& piece, Piece& repeated, const Piece& next) noexcept {
  switch (operation) {
    case BitOperation::kAnd:
      return Each(piece, next, [](uint64_t a, uint64_t b) { return a & b; });
    case BitOperation::kXor:
      return Each(piece, next, [](uint64_t a, uint64_t b) { return a ^ b; });
    case BitOperation::kOne:
      return AddOnce(piece, repeated, next);
    default:
      return Each(piece, next, Or);
  }
}

bool TreatsFirstSeparately(BitOperation operation) noexcept {
  return operation == BitOperation::kDiff || operation == BitOperation::kDiff1 ||
         operation == BitOperation::kAndOr;
}

// Combines the first source with `others`, the union of all other sources.
void CombineWithFirst(BitOperation operation, Piece& others, const Piece& first) noexcept {
  switch (operation) {
    case BitOperation::kDiff:
      return Each(others, first, [](uint64_t other, uint64_t x) { return x & ~other; });
    case BitOperation::kDiff1:
      return Each(others, first, [](uint64_t other, uint64_t x) { return other & ~x; });
    default:
      return Each(others, first, [](uint64_t other, uint64_t x) { return x & other; });
  }
}

}  // namespace

void CombineBits(BitOperation operation, std::span<const std::string_view> sources, char* out,
                 size_t size) noexcept {
  Piece piece;
  Piece next;
  Piece repeated;
  const bool first_separate = TreatsFirstSeparately(operation);
  assert(!sources.empty());
  assert(std::all_of(sources.begin(), sources.end(), [&](std::string_view s) {
    return s.size() <= size && (s.data() + s.size() <= out || out + size <= s.data());
  }));
  for (size_t offset = 0; offset < size; offset += kPieceBytes) {
    if (first_separate) {
      piece.fill(0);
    } else {
      Load(sources[0], offset, piece);
    }
    repeated.fill(0);
    for (const std::string_view source : sources.subspan(1)) {
      Load(source, offset, next);
      Fold(operation, piece, repeated, next);
    }
    if (first_separate) {
      Load(sources[0], offset, next);
      CombineWithFirst(operation, piece, next);
    }
    if (operation == BitOperation::kNot) {
      for (uint64_t& word : piece) word = ~word;
    }
    std::memcpy(out + offset, piece.data(), std::min(size - offset, kPieceBytes));
  }
}

}  // namespace mayfly
