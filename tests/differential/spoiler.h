// Makes a valid request an invalid one: words dropped, added, doubled, exchanged or misspelt, options in
// conflict, values that no place allows. Now and then the request stays valid all the same.
#pragma once

#include <string_view>
#include <vector>

#include "differential/syntax_walker.h"

namespace mayfly::testing {

class Spoiler {
 public:
  Spoiler(SyntaxWalker& walker, ValuePools& values, Dice& dice)
      : walker_(walker), values_(values), dice_(dice) {}

  // The option word `kept` stays as it is, unless it is empty.
  void Spoil(const RowSyntax& syntax, std::string_view kept, std::vector<DrawnWord>& words);
  // Another word than it was, which nobody knows.
  void Misspell(std::string& word);

 private:
  using Drawn = std::vector<DrawnWord>;

  void SpoilOnce(const RowSyntax& syntax, Drawn& words);
  void Add(Drawn& words);
  void Replace(const RowSyntax& syntax, Drawn& words);

  SyntaxWalker& walker_;
  ValuePools& values_;
  Dice& dice_;
};

}  // namespace mayfly::testing
