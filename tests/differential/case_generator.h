// Draws requests to every row of the command table: half of them for what the run has not shown often enough,
// the others by weight, so that keys are written, read and deleted in turn.
#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "differential/case.h"
#include "differential/coverage.h"
#include "differential/dice.h"
#include "differential/spoiler.h"
#include "differential/syntax_walker.h"
#include "differential/value_pools.h"

namespace mayfly::testing {

class CaseGenerator {
 public:
  // What is missing follows from the oracle's replies, so the same seed draws the same requests as long as
  // the oracle answers the same; absolute times are drawn around `now_s`.
  CaseGenerator(Coverage& coverage, Dice& dice, int64_t now_s);

  Case Next();
  // One that lets its key run out at once.
  Case Brief();
  // For an EXPIREAT or PEXPIREAT with conditions, now and then the same without: so that they meet a deadline
  // that is equal. Nothing: send it as it is.
  std::optional<Case> SameDeadline(const Case& drawn);
  const std::set<int64_t>& deadlines_ms() const noexcept { return values_.deadlines_ms(); }

 private:
  Case Draw(const RowSyntax& syntax, std::string_view token, Form form);
  // COMMAND GETKEYS and GETKEYSANDFLAGS of any other request.
  Case KeysOfAnother(const RowSyntax& syntax);
  Case UnknownCommand();
  Case UnknownSubcommand(const RowSyntax& container);
  const RowSyntax& AnyRow();
  void MixCase(std::string& word);

  Coverage& coverage_;
  Dice& dice_;
  ValuePools values_;
  SyntaxWalker walker_;
  Spoiler spoiler_;
  std::vector<size_t> weights_;  // of coverage_.rows()
  size_t weight_sum_ = 0;
};

}  // namespace mayfly::testing
