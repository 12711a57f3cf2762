// mayfly --ping: asks a daemon for an answer, for health checks. In Redis's image, redis-cli ping does the same.
//
//   mayfly --ping [conf-file] [--name value ...]
//
// The options are read like the daemon's own, including MAYFLY_ variables. The options give the port, whether the daemon has
// a TLS port only, the password and the unix socket. Separate flags override the options: kPingHelp. Ping has no event loop:
// one blocking socket, with a time limit.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "config/sources/files.h"

namespace mayfly::net {

extern const std::string_view kPingHelp;

// True if `words`, the command line without the program's name, is a call of --ping.
bool AsksForPing(std::span<const std::string> words) noexcept;

// Runs --ping, and prints "PONG", or the problem on standard error. The exit code: 0 if the daemon has answered PONG.
int RunPing(std::span<const std::string> words, std::span<const std::string> environment,
            const config::Files& files);

}  // namespace mayfly::net
