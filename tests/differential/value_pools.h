// Values for the arguments of requests: by the argument's name, or by command and name where the name alone
// says too little, else by type. A new command needs a line here only where its arguments mean something that
// no line says yet.
//
// Few keys, so that requests meet. Relative times are drawn from a wide range, far from each other: two
// servers do not read their clocks in the same millisecond, and a comparison of deadlines must not hang on
// that. Absolute ones are drawn around `now`, some of them again and again, so that deadlines are equal.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "differential/dice.h"
#include "exec/docs/command_syntax.h"
#include "support/words.h"

namespace mayfly::testing {

class ValuePools {
 public:
  ValuePools(Dice& dice, int64_t now_s) : dice_(dice), now_s_(now_s) {}

  // Words for a value, mostly one, that mostly mean something. Nothing for a block of arguments that has no
  // pool of its own.
  Words Tame(std::string_view row, const SyntaxArgument& argument);
  // What may stand there but should not: overflows, empty, binary, another type.
  std::string Hostile(std::string_view row, const SyntaxArgument& argument);

  // All keys that are ever drawn.
  static const Words& EveryKey();
  // What is drawn from now on is for a command of this group.
  void SetGroup(std::string_view group) noexcept { group_ = group; }

  // Mostly one of the group's own, so that it mostly holds what its commands work on.
  std::string Key();
  std::string Value();
  std::string Element();
  std::string ElementPattern();
  std::string Amount();
  std::string Float();
  std::string Database();
  std::string BitOffset();
  std::string Position();
  std::string Pattern();
  // A request as COMMAND GETKEYS takes it; CaseGenerator draws more of them.
  Words WholeRequest();

  enum class Unit { kSeconds, kMilliseconds };
  std::string Duration(Unit unit);
  std::string Deadline(Unit unit);

  Dice& dice() noexcept { return dice_; }

  // From now on milliseconds are drawn that run out at once: at most kBriefMs from now on. Seconds stay as
  // they are.
  static constexpr int64_t kBriefMs = 2;
  void SetBrief(bool brief) noexcept { brief_ = brief; }
  // Every absolute deadline that was drawn, as Unix time in ms.
  const std::set<int64_t>& deadlines_ms() const noexcept { return deadlines_ms_; }

 private:
  std::string TameOfType(ArgumentType type);
  std::string DrawDeadline(Unit unit);

  Dice& dice_;
  int64_t now_s_;
  std::string_view group_;
  bool brief_ = false;
  std::set<int64_t> deadlines_ms_;
};

}  // namespace mayfly::testing
