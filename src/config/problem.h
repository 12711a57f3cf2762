// The outcome of something that may fail: an error text for a person, or nothing if it succeeded.
#pragma once

#include <optional>
#include <string>

namespace mayfly::config {

using Problem = std::optional<std::string>;

}  // namespace mayfly::config
