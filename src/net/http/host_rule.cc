#include "net/http/host_rule.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/text/ascii.h"
#include "config/words.h"

#include <arpa/inet.h>

namespace mayfly::net {
namespace {

bool IsAddress(int family, std::string_view text) {
  in6_addr address;  // the larger of both
  return inet_pton(family, std::string(text).c_str(), &address) == 1;
}

std::string_view WithoutPort(std::string_view host) noexcept {
  const size_t colon = host.rfind(':');
  return host.substr(0, colon);
}

}  // namespace

bool IsOwnHost(std::string_view host, std::string_view names) {
  host = host.substr(0, host.find_last_not_of(" \t") + 1);
  if (host.empty()) return true;
  if (host.front() == '[') {
    const size_t end = host.find(']');
    return end != std::string_view::npos && IsAddress(AF_INET6, host.substr(1, end - 1));
  }
  const std::string_view name = WithoutPort(host);
  if (SameIgnoringCase(name, "localhost") || IsAddress(AF_INET, name)) return true;
  const std::vector<std::string> allowed = config::SplitAtSpaces(std::string(names));
  return std::any_of(allowed.begin(), allowed.end(),
                     [name](const std::string& one) { return SameIgnoringCase(one, name); });
}

}  // namespace mayfly::net
