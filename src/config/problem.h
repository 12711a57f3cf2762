// The outcome of an operation that may fail: an error text for a person, or nothing on success.
#pragma once

#include <optional>
#include <string>

namespace mayfly::config {

using Problem = std::optional<std::string>;

}  // namespace mayfly::config
