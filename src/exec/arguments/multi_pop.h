// Reads the arguments of LMPOP, ZMPOP, BLMPOP and BZMPOP. The arguments are numkeys key [key ...] <an end> [COUNT
// count]; the blocking commands have a timeout before these.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "exec/dispatch/context.h"

namespace mayfly {

template <typename End>
struct MultiPop {
  std::span<const std::string_view> names;  // of the keys; not empty
  End end = {};
  uint64_t count = 1;
};

// Reads a MultiPop from the cursor on. read_end(ctx, text) returns the end named by the text, or nothing after an error
// reply. Returns nothing after an error reply.
template <typename ReadEnd>
auto ReadMultiPop(Context& ctx, Args& args, ReadEnd&& read_end) {
  using End = typename decltype(read_end(ctx, std::string_view()))::value_type;
  using Result = std::optional<MultiPop<End>>;
  const auto fail = [&ctx](std::string_view error) {
    ctx.Fail(error);
    return Result();
  };
  MultiPop<End> pop;
  const std::optional<int64_t> names = args.NextInteger();
  if (!names || *names < 1) return fail("ERR numkeys should be greater than 0");
  if (static_cast<uint64_t>(*names) >= args.Left()) return fail(errors::kSyntax);
  pop.names = args.Rest().first(static_cast<size_t>(*names));
  args.Skip(pop.names.size());
  const std::optional<End> end = read_end(ctx, args.Next());
  if (!end) return Result();
  pop.end = *end;
  if (args.Done()) return Result(pop);
  if (!args.Accept("COUNT", 1)) return fail(errors::kSyntax);
  const std::optional<int64_t> count = args.NextInteger();
  if (!count || *count < 1) return fail("ERR count should be greater than 0");
  if (!args.Done()) return fail(errors::kSyntax);
  pop.count = static_cast<uint64_t>(*count);
  return Result(pop);
}

}  // namespace mayfly
