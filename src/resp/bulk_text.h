// Bulk strings in a text, to encode a message once and send it to many clients.
#pragma once

#include <string>
#include <string_view>

namespace mayfly::resp {

// Throws std::bad_alloc.
inline void AppendBulk(std::string& text, std::string_view bytes) {
  text.append("$").append(std::to_string(bytes.size())).append("\r\n").append(bytes).append("\r\n");
}

}  // namespace mayfly::resp
