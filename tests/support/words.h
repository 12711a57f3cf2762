// The words of a request.
#pragma once

#include <string>
#include <vector>

namespace mayfly::testing {

using Words = std::vector<std::string>;

}  // namespace mayfly::testing
