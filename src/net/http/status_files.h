// The files of net/http/status/, embedded by the build (src/net/http/status/files.cc.in).
#pragma once

#include <string_view>

namespace mayfly::net {

extern const std::string_view kPageHtml;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace mayfly::net
