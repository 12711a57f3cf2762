#include "exec/memory/memory_warnings.h"

#include <algorithm>
#include <new>
#include <utility>

#include "base/log/log.h"
#include "base/text/numbers.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/memory/memory_meter.h"

namespace mayfly {
namespace {

// The empty tables and the program's own parts take nearly as much.
constexpr uint64_t kLeast = 1 << 20;
constexpr uint64_t kLeastUnit = 1000;  // 1k

}  // namespace

std::vector<std::string> MemoryWarnings(const config::MaxMemory& maxmemory, const MemoryFacts& facts) {
  std::vector<std::string> lines;
  const uint64_t bytes = maxmemory.bytes;
  if (bytes == 0) return lines;
  const std::string what = "maxmemory is " + FormatBytesHuman(bytes);
  if (bytes < kLeastUnit) {  // so the value had no unit
    const std::string number = std::to_string(bytes);
    lines.push_back(what + ": a number without a unit is bytes. Megabytes are written " + number + "mb");
  } else if (bytes < kLeast) {
    lines.push_back(
        what + ", and the program itself takes more: writes will be refused. Sizes have units, as in 100mb");
  } else if (bytes < facts.used_bytes) {
    lines.push_back(what + ", but " + FormatBytesHuman(facts.used_bytes) +
                    " are used: keys will be evicted, or writes refused");
  }
  if (facts.memory_bytes != 0 && bytes > facts.memory_bytes)
    lines.push_back(what + ", but this process may use no more than " + FormatBytesHuman(facts.memory_bytes) +
                    ": keys are evicted, or writes refused, before maxmemory is reached");
  if (bytes > facts.region_bytes)
    lines.push_back(what + ", but keys and values have no room beyond " +
                    FormatBytesHuman(facts.region_bytes) +
                    ", the part of the address space that is reserved");
  return lines;
}

std::vector<std::string> NamespaceWarnings(const config::Settings& settings, uint64_t own_bytes) {
  uint64_t bytes = 0;
  uint64_t keys = 0;
  const auto add = [](uint64_t limit, uint64_t& sum) { sum += std::min(limit, UINT64_MAX - sum); };
  for (const config::NamespaceTerms& space : settings.namespaces) {
    add(space.maxmemory_bytes, bytes);
    add(space.maxkeys, keys);
  }
  constexpr const char* kSoWhat = ": they bound the namespaces, but promise them nothing";
  std::vector<std::string> lines;
  const uint64_t maxmemory = settings.maxmemory.bytes;
  const uint64_t left = maxmemory - std::min(maxmemory, own_bytes);
  if (maxmemory != 0 && bytes > left)
    lines.push_back("the maxmemory limits of the namespaces are " + FormatBytesHuman(bytes) +
                    " together, and maxmemory has " + FormatBytesHuman(left) + " for them" + kSoWhat);
  const auto maxkeys = static_cast<uint64_t>(settings.maxkeys);
  if (maxkeys != 0 && keys > maxkeys)
    lines.push_back("the maxkeys limits of the namespaces are " + std::to_string(keys) +
                    " together, and maxkeys is " + std::to_string(maxkeys) + kSoWhat);
  return lines;
}

void WarnOfNamespaces(Server& server) noexcept {
  if (server.log == nullptr) return;
  try {
    for (const std::string& line : NamespaceWarnings(server.options.settings(), server.memory.AtStart()))
      server.log->Warning(line);
  } catch (const std::bad_alloc&) {
    server.log->Warning("no memory to look at the limits of namespaces");
  }
}

std::vector<std::string> WarningsOf(const Server& server) {
  const config::Settings& settings = server.options.settings();
  const MemoryFacts facts{.memory_bytes = server.options.memory_bytes(),
                          .region_bytes = server.databases.heap().region_bytes(),
                          .used_bytes = server.memory.Data()};
  std::vector<std::string> lines = MemoryWarnings(settings.maxmemory, facts);
  for (std::string& line : NamespaceWarnings(settings, server.memory.AtStart()))
    lines.push_back(std::move(line));
  return lines;
}

void WarnOfMemory(Server& server) noexcept {
  if (server.log == nullptr) return;
  try {
    for (const std::string& line : WarningsOf(server)) server.log->Warning(line);
  } catch (const std::bad_alloc&) {
    server.log->Warning("no memory to look at maxmemory");
  }
}

}  // namespace mayfly
