// mayfly --ping: asks a daemon for an answer, for health checks. Redis's image has redis-cli ping for that.
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

#include "config/sources/files.h"

namespace mayfly::net {

extern const std::string_view kPingHelp;

// Whether `words`, the command line without the program's name, ask for it.
bool AsksForPing(std::span<const std::string> words) noexcept;

// Does it, and prints "PONG", or what is wrong on standard error. The exit code: 0 if the daemon has answered PONG.
int RunPing(std::span<const std::string> words, std::span<const std::string> environment,
            const config::Files& files);

}  // namespace mayfly::net
