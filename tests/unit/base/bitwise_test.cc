#include "base/bits/bitwise.h"

#include <random>
#include <string>
#include <vector>

#include "base/bits/bits.h"
#include "support/catch.h"

namespace mayfly {
namespace {

constexpr BitOperation kAll[] = {BitOperation::kAnd,   BitOperation::kOr,   BitOperation::kXor,
                                 BitOperation::kNot,   BitOperation::kDiff, BitOperation::kDiff1,
                                 BitOperation::kAndOr, BitOperation::kOne};

// The definition of each operation, for one bit.
bool Expected(BitOperation operation, const std::vector<std::string_view>& sources, uint64_t index) {
  const bool x = BitAt(sources[0], index);
  size_t count = 0;
  for (const std::string_view source : sources) count += BitAt(source, index) ? 1 : 0;
  const bool others = count > (x ? 1U : 0U);
  switch (operation) {
    case BitOperation::kAnd:
      return count == sources.size();
    case BitOperation::kOr:
      return count > 0;
    case BitOperation::kXor:
      return count % 2 == 1;
    case BitOperation::kNot:
      return !x;
    case BitOperation::kDiff:
      return x && !others;
    case BitOperation::kDiff1:
      return !x && others;
    case BitOperation::kAndOr:
      return x && others;
    case BitOperation::kOne:
      return count == 1;
  }
  return false;
}

}  // namespace

TEST_CASE("every operation agrees with its definition for each bit, for sources of any length") {
  constexpr unsigned kSeed = 3;
  CAPTURE(kSeed);
  std::mt19937_64 random(kSeed);
  for (int round = 0; round < 60; ++round) {
    for (const BitOperation operation : kAll) {
      const size_t count = operation == BitOperation::kNot ? 1 : 1 + random() % 4;
      std::vector<std::string> texts(count);
      size_t longest = 0;
      for (std::string& text : texts) {
        text.resize(random() % 8 == 0 ? random() % 5'000 : random() % 40);
        for (char& byte : text) byte = static_cast<char>(random());
        longest = std::max(longest, text.size());
      }
      const std::vector<std::string_view> sources(texts.begin(), texts.end());
      std::string out(longest, 'x');
      CombineBits(operation, sources, out.data(), out.size());
      uint64_t right = 0;
      while (right < BitsOf(out.size()) && BitAt(out, right) == Expected(operation, sources, right)) ++right;
      CAPTURE(round, static_cast<int>(operation));
      CHECK(right == BitsOf(out.size()));
    }
  }
}

TEST_CASE("combining empty sources writes nothing") {
  const std::vector<std::string_view> sources{"", ""};
  CombineBits(BitOperation::kXor, sources, nullptr, 0);
  char untouched = 'x';
  CombineBits(BitOperation::kNot, std::span(sources).first(1), &untouched, 0);
  CHECK(untouched == 'x');
}

}  // namespace mayfly
