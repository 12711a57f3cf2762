// Warnings for the log about a probably wrong maxmemory, at the start and after CONFIG SET. Loop thread only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "config/settings.h"
#include "server/server.h"

namespace mayfly {

// What may be used: `memory_bytes` by this process (0: unknown), `region_bytes` for keys and values (Heap). `used_bytes`
// are used by them now.
struct MemoryFacts {
  uint64_t memory_bytes = 0;
  uint64_t region_bytes = 0;
  uint64_t used_bytes = 0;
};
std::vector<std::string> MemoryWarnings(const config::MaxMemory& maxmemory, const MemoryFacts& facts);

// Limits of namespaces that promise more than there is, and so promise nothing (MemoryGate::Promise). `own_bytes`: what
// the program takes of maxmemory.
std::vector<std::string> NamespaceWarnings(const config::Settings& settings, uint64_t own_bytes);

// Both, as things are now.
std::vector<std::string> WarningsOf(const Server& server);

// Logs the warnings about the limits of namespaces that are in force now.
void WarnOfNamespaces(Server& server) noexcept;
// The same about maxmemory, and with it of namespaces.
void WarnOfMemory(Server& server) noexcept;

}  // namespace mayfly
