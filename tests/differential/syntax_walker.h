// Draws the words of a request from the tree of a row's arguments: each option in or out, one of each choice,
// what may repeat some times, in any order where an order says nothing.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "differential/dice.h"
#include "differential/row_syntax.h"
#include "differential/value_pools.h"

namespace mayfly::testing {

// A word after the command's name, with the place in the tree that it was drawn for.
struct DrawnWord {
  std::string text;
  const SyntaxArgument* argument = nullptr;
  bool is_token = false;
};

class SyntaxWalker {
 public:
  SyntaxWalker(ValuePools& values, Dice& dice) : values_(values), dice_(dice) {}

  // With the option word `wanted` among them, unless that is empty.
  std::vector<DrawnWord> Walk(const RowSyntax& syntax, std::string_view wanted);
  // One of its arguments alone, options before all: what is said twice, or is in conflict.
  std::vector<DrawnWord> WalkOne(const RowSyntax& syntax);

 private:
  using Out = std::vector<DrawnWord>;

  void DrawAll(const std::vector<SyntaxArgument>& arguments, std::string_view wanted, Out& out);
  void DrawOptions(const std::vector<const SyntaxArgument*>& options, std::string_view wanted, Out& out);
  void DrawOne(const SyntaxArgument& argument, std::string_view wanted, Out& out);
  void DrawOnce(const SyntaxArgument& argument, std::string_view wanted, Out& out);

  ValuePools& values_;
  Dice& dice_;
  std::string_view row_;
};

}  // namespace mayfly::testing
