// Some replies cannot be the same on both servers, and yet they cannot be anything: a random key is one that
// is there, a page of SCAN holds keys of the whole iteration, and seconds are rounded milliseconds. Such a
// request is sent right after another one, its witness, by whose replies it is judged.
#pragma once

#include <optional>

#include "differential/case.h"
#include "differential/coverage.h"

namespace mayfly::testing {

// The request that has to be sent before `drawn`; nothing where it needs none.
std::optional<Case> WitnessFor(const Case& drawn, const Coverage& coverage);
// What follows the request: it makes both servers the same again if chance has changed them, or shows what was
// made.
std::optional<Case> AftermathOf(const Case& drawn, const Coverage& coverage);

}  // namespace mayfly::testing
