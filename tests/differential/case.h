// One request as it was drawn, and what it is meant to show.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "differential/row_syntax.h"
#include "support/words.h"

namespace mayfly::testing {

// Valid: what the row's syntax allows, with values that mean something. Invalid: one of those, spoilt.
enum class Form { kValid, kInvalid };

struct Case {
  Words words;
  const RowSyntax* syntax = nullptr;  // null: a command that no server knows
  Words tokens = {};                  // option words of the syntax that stand in it
  Form form = Form::kValid;
};

}  // namespace mayfly::testing
