// What the parts of the differential test do with words.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::testing {

inline std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return upper;
}

}  // namespace mayfly::testing
