// Hash of texts for maps that are asked by views of texts, without making a string.
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>

namespace mayfly {

struct TextHash {
  // NOLINTNEXTLINE(readability-identifier-naming): the standard library looks for this name
  using is_transparent = void;
  size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>()(text); }
};

}  // namespace mayfly
