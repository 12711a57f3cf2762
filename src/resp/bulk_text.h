// Bulk strings in a text of one's own, for what is encoded once and sent to many.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::resp {

// Throws std::bad_alloc.
inline void AppendBulk(std::string& text, std::string_view bytes) {
  text.append("$").append(std::to_string(bytes.size())).append("\r\n").append(bytes).append("\r\n");
}

}  // namespace mayfly::resp
