// Warnings for the log about a probably wrong maxmemory, at the start and after CONFIG SET. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"
#include "server/server.h"

namespace mayfly {

// The available memory: `memory_bytes` for this process (0: unknown), `region_bytes` for keys and values (Heap). Keys and
// values use `used_bytes` now.
struct MemoryFacts {
  uint64_t memory_bytes = 0;
  uint64_t region_bytes = 0;
  uint64_t used_bytes = 0;
};
std::vector<std::string> MemoryWarnings(const config::MaxMemory& maxmemory, const MemoryFacts& facts);

// Warnings about limits of namespaces whose sum exceeds the memory, and which thus promise nothing (MemoryGate::Promise).
// `own_bytes`: the program's own part of maxmemory.
std::vector<std::string> NamespaceWarnings(const config::Settings& settings, uint64_t own_bytes);

// Both kinds of warnings for the current state.
std::vector<std::string> WarningsOf(const Server& server);

// Logs the warnings about the current limits of namespaces.
void WarnOfNamespaces(Server& server) noexcept;
// Logs the warnings about maxmemory and namespaces.
void WarnOfMemory(Server& server) noexcept;

}  // namespace mayfly
