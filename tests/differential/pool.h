// A pool of values for one argument, as value_pools.h draws from them. The types of values have their pools in
// files of their own.
#pragma once

#include <span>
#include <string_view>

#include "differential/value_pools.h"
#include "support/words.h"

namespace mayfly::testing {

struct Pool {
  std::string_view row;  // empty: of every command
  std::string_view argument;
  Words (*draw)(ValuePools&);
};

template <size_t kCount>
Words OneOf(ValuePools& pools, const std::string_view (&words)[kCount]) {
  return {pools.dice().Pick(words)};
}

std::span<const Pool> SetPools() noexcept;
std::span<const Pool> HyperLogLogPools() noexcept;
std::span<const Pool> HashPools() noexcept;
std::span<const Pool> StreamPools() noexcept;
std::span<const Pool> SortedSetPools() noexcept;
std::span<const Pool> GeoPools() noexcept;
std::span<const Pool> DumpPools() noexcept;

}  // namespace mayfly::testing
