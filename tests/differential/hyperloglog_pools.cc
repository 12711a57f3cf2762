#include "differential/pool.h"

namespace mayfly::testing {
namespace {

// Often new, so that values grow.
Words Element(ValuePools& pools) {
  if (pools.dice().OneIn(10)) return {pools.Value()};
  return {std::to_string(pools.dice().Below(pools.dice().OneIn(2) ? 1'000'000 : 10))};
}

constexpr Pool kPools[] = {
    {"pfadd", "element", Element},
    {"pfdebug", "subcommand",
     [](ValuePools& p) {
       return OneOf(p, {"GETREG", "DECODE", "ENCODING", "encoding", "decode", "TODENSE"});
     }},
};

}  // namespace

std::span<const Pool> HyperLogLogPools() noexcept { return kPools; }

}  // namespace mayfly::testing
