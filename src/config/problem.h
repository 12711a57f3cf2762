// The outcome of something that may fail with words for a person: the text, or nothing when all went well.
#pragma once

#include <optional>
#include <string>

namespace mayfly::config {

using Problem = std::optional<std::string>;

}  // namespace mayfly::config
