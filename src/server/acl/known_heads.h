// The beginnings of requests sent before by clients of one user, with the rows of the commands. A request with a known
// beginning needs no look-up of the command, and no test of the user's rules.
//
// Each user has a separate KnownHeads. A command is known if the user's rules allow the command with any arguments, or if
// the key of each request is tested again (QuickRights::tests_keys). A cache: clearing is allowed at any time, and required
// when the rules change. The floor above fills the cache.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "resp/parser.h"

namespace mayfly {

struct TableRow;

// A KnownHead of all zeros matches no request.
struct alignas(32) KnownHead {  // a power of two: indexing is a shift
  resp::Head head;
  const TableRow* row = nullptr;
};

class KnownHeads {
 public:
  // The only possible place of this head.
  KnownHead& PlaceOf(const resp::Head& head) noexcept {
    constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;
    return heads_[((head.name ^ head.shape) * kMultiplier) >> (64 - kBits)];
  }
  void Clear() noexcept { heads_.fill({}); }

 private:
  static constexpr size_t kBits = 4;
  std::array<KnownHead, size_t{1} << kBits> heads_;
};

}  // namespace mayfly
