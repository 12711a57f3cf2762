// Picks random members, for HRANDFIELD, SRANDMEMBER and ZRANDMEMBER.
//
// A positive count means that many different members, or all members if fewer; a negative count means exactly that many
// members, possibly repeated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <unordered_set>

#include "exec/dispatch/context.h"

namespace mayfly {

struct Pick {
  uint64_t count = 0;
  bool repeats = false;
  bool pairs = false;  // with values or scores
};

// Reads the count and the rest; `pair_word` is WITHVALUES, WITHSCORES, or empty for none. Returns false after an error
// reply.
inline bool ReadPick(Context& ctx, Args& args, std::string_view pair_word, Pick& pick) {
  const std::optional<int64_t> count = args.NextInteger();
  if (!count) return ctx.Fail(errors::kNotInteger), false;
  if (*count == INT64_MIN) {
    ctx.Fail("ERR value is out of range, value must between -9223372036854775807 and 9223372036854775807");
    return false;
  }
  if (!args.Done()) {
    if (pair_word.empty() || args.Left() != 1 || !args.Accept(pair_word))
      return ctx.Fail(errors::kSyntax), false;
    pick.pairs = true;
    // Twice as many elements must be a 64-bit integer, too.
    if (*count < -(INT64_MAX / 2) || *count > INT64_MAX / 2)
      return ctx.Fail("ERR value is out of range"), false;
  }
  pick.repeats = *count < 0;
  pick.count = static_cast<uint64_t>(pick.repeats ? -*count : *count);
  return true;
}

// Throws OutputTooLong if the reply would be too long for any choice of members; called before a draw with repeats, because
// a draw until the reply is full would block other clients. REQUIRES: the value has a member.
inline void RequireRoomFor(Context& ctx, const Pick& pick) {
  constexpr uint64_t kLeastBytes = 6;  // of an empty bulk string
  ctx.reply.out().RequireRoom(std::min(pick.count, UINT64_MAX / kLeastBytes) * kLeastBytes);
}

// Chooses `wanted` of `size` things, each with the same probability, while the caller walks through the things.
class PickOnWalk {
 public:
  PickOnWalk(uint64_t wanted, uint64_t size) noexcept : wanted_(std::min(wanted, size)), left_(size) {}
  // True if no later thing will be chosen.
  bool done() const noexcept { return wanted_ == 0; }
  // True if the next thing is chosen. REQUIRES: fewer than `size` calls so far.
  template <typename Rng>
  bool Next(Rng& random) {
    const bool taken = wanted_ != 0 && std::uniform_int_distribution<uint64_t>(1, left_)(random) <= wanted_;
    wanted_ -= taken ? 1 : 0;
    --left_;
    return taken;
  }

 private:
  uint64_t wanted_;
  uint64_t left_;
};

// True if drawing members until enough are different is quicker than a walk through all.
inline bool DrawsFew(uint64_t wanted, uint64_t size) noexcept { return wanted < size / 3; }

// Calls show(thing) for `wanted` different results of draw(). A thing is hashable: a pointer, an index. Throws
// std::bad_alloc. REQUIRES: draw() has `wanted` different results; DrawsFew is true.
template <typename Draw, typename Show>
void DrawDifferent(uint64_t wanted, Draw&& draw, Show&& show) {
  std::unordered_set<decltype(draw())> drawn;
  while (drawn.size() < wanted) {
    const auto thing = draw();
    if (drawn.insert(thing).second) show(thing);
  }
}

}  // namespace mayfly
