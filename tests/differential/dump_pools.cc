#include <cstdint>
#include <string>
#include <string_view>

#include "differential/pool.h"
#include "snapshot/format/dump_footer.h"

namespace mayfly::testing {
namespace {

// Types and values that both servers read alike.
constexpr std::string_view kObjects[] = {
    {"\0\4text", 6},                                           // texts
    {"\0\0", 2},                                               //
    {"\0\xC0\xF0", 3},                                         // an integer
    {"\1\3\1a\xC0\7\1b", 8},                                   // a list
    {"\2\2\1a\1b", 6},                                         // sets
    {"\2\2\xC0\1\xC0\2", 6},                                   //
    {"\4\2\1f\1v\1g\xC0\7", 10},                               // a hash
    {"\5\2\1a\0\0\0\0\0\0\xF0\x3F\1b\0\0\0\0\0\0\0\x40", 22},  // a sorted set
};
// That both refuse.
constexpr std::string_view kDamaged[] = {
    {},                 // no type
    {"\0\x3Ftext", 6},  // a text that ends early; Redis would read a shorter one from the checksum, too
    {"\1\0", 2},        // no elements
    {"\2\2\1a\1a", 6},  // a member twice
    {"\4\2\1f\1v", 6},  // a field is missing
};

Words Payload(ValuePools& pools) {
  constexpr uint16_t kVersion = 9;
  constexpr uint16_t kTooNew = 99;
  Dice& dice = pools.dice();
  std::string payload(dice.OneIn(8) ? dice.Pick(kDamaged) : dice.Pick(kObjects));
  rdb::AppendDumpFooter(payload, dice.OneIn(16) ? kTooNew : kVersion);
  if (dice.OneIn(16)) payload.back() = static_cast<char>(payload.back() ^ 1);
  return {payload};
}

Words Ttl(ValuePools& pools) {
  constexpr auto kMs = ValuePools::Unit::kMilliseconds;
  if (pools.dice().OneIn(2)) return {"0"};
  return {pools.dice().OneIn(2) ? pools.Duration(kMs) : pools.Deadline(kMs)};
}

constexpr Pool kPools[] = {
    {"restore", "serialized-value", Payload},
    {"restore", "ttl", Ttl},
    {"restore", "seconds", [](ValuePools& p) { return OneOf(p, {"0", "10", "1000", "100000"}); }},
    {"restore", "frequency", [](ValuePools& p) { return OneOf(p, {"0", "5", "255"}); }},
};

}  // namespace

std::span<const Pool> DumpPools() noexcept { return kPools; }

}  // namespace mayfly::testing
