// The host names accepted by the metrics port from clients of this machine.
//
// A page of another site can give its own name the address 127.0.0.1 (DNS rebinding). The browser of whoever looks at it
// then lets its script read what this port answers, as if that were the site's own. But the browser says in the header
// Host by which name it asks. An address as the host comes from no name, so it is no other site's, and neither is
// localhost. Programs that are no browsers need not send a Host.
#pragma once

#include <string_view>

namespace mayfly::net {

// `host`: of the header, with or without a port; empty if there was none. `names`: what the option metrics-hosts allows
// beside addresses and localhost, between spaces.
bool IsOwnHost(std::string_view host, std::string_view names);

}  // namespace mayfly::net
