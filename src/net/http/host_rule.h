// The host names accepted by the metrics port from clients of this machine.
//
// A page of another site can give the site's name the address 127.0.0.1 (DNS rebinding). The visitor's browser then lets the
// page's script read the answers of this port, as if from the site itself. But the browser sends the requested name in the
// header Host. An address as the host is no name and thus belongs to no other site, and neither does localhost. Programs
// other than browsers need not send a Host.
#pragma once

#include <string_view>

namespace mayfly::net {

// `host`: from the header, with or without a port; empty without a header. `names`: the names in the option metrics-hosts,
// allowed beside addresses and localhost, separated by spaces.
bool IsOwnHost(std::string_view host, std::string_view names);

}  // namespace mayfly::net
