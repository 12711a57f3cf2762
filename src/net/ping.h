// mayfly --ping: asks a daemon whether it serves, for health checks, where Redis's image has redis-cli ping.
//
//   mayfly --ping [conf-file] [--name value ...]
//
// The options are read as the daemon reads them, also from MAYFLY_ variables: so it knows the port, whether there is TLS
// alone, the password and the unix socket. Flags of its own say otherwise: kPingHelp. It has no event loop: one socket
// that blocks, with a time limit.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/files.h"

namespace mayfly::net {

extern const std::string_view kPingHelp;

// Whether `words`, the command line without the program's name, ask for it.
bool AsksForPing(std::span<const std::string> words) noexcept;

// Does it, and prints "PONG", or what is wrong on standard error. The exit code: 0 if the daemon has answered PONG.
int RunPing(std::span<const std::string> words, std::span<const std::string> environment,
            const config::Files& files);

}  // namespace mayfly::net
