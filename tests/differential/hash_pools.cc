#include "differential/pool.h"

namespace mayfly::testing {
namespace {

// Few, so that they meet again: short ones, numbers, and now and then one that makes a hash large.
Words Field(ValuePools& pools) {
  static const Words kOdd{std::string(64, 'f'), std::string(65, 'f'), std::string("f\0\r\n", 4), ""};
  if (pools.dice().OneIn(30)) return {pools.dice().Any(kOdd)};
  return OneOf(pools, {"a", "b", "c", "d", "1", "2", "-3", "007", "100000", "1.5", "field", "f:1", "f:2"});
}

// Numbers that can be counted with, too.
Words Value(ValuePools& pools) {
  if (pools.dice().OneIn(3)) return {pools.Value()};
  return OneOf(pools, {"1", "-5", "10", "1.5", "text", "", "9223372036854775807"});
}

Words Float(ValuePools& pools) { return {pools.Float()}; }

Words CountOrRepeats(ValuePools& pools) {
  return OneOf(pools, {"0", "1", "2", "5", "-1", "-3", "-20", "1000000"});
}

constexpr Pool kPools[] = {
    {"", "field", Field},
    {"hset", "value", Value},
    {"hincrbyfloat", "float", Float},
    {"hincrbyfloat", "increment", Float},
    {"hrandfield", "count", CountOrRepeats},
};

}  // namespace

std::span<const Pool> HashPools() noexcept { return kPools; }

}  // namespace mayfly::testing
