// The beginnings of requests sent before by clients of one user, with the rows of the commands. Such a request needs no
// look-up of its command, and no look at the user's rules.
//
// Each user has its own, so what stands here is what its rules let it call whatever the arguments are, or what is
// looked at again for each request (QuickRights::tests_keys). A cache: it may be cleared at any time, and must be when the rules
// change. The floor above fills it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "resp/parser.h"

namespace mayfly {

struct TableRow;

// One of all zeros matches no request.
struct alignas(32) KnownHead {  // a power of two, so that indexing is a shift
  resp::Head head;
  const TableRow* row = nullptr;
};

class KnownHeads {
 public:
  // The only place where this head may be.
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
