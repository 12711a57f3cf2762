// Finds the few requests that a difference needs: replays what was sent to empty servers, and leaves out
// whatever the last reply differs without.
#pragma once

#include <functional>
#include <vector>

#include "differential/case.h"

namespace mayfly::testing {

// `differs` replays requests from nothing and tells whether the last reply differs. Empty where not even all
// of them do that. Asks some hundred times at most.
std::vector<Words> Shrink(std::vector<Words> requests,
                          const std::function<bool(const std::vector<Words>&)>& differs);

}  // namespace mayfly::testing
