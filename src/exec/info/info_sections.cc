#include "exec/info/info_sections.h"

#include <algorithm>
#include <iterator>

#include "exec/call/args.h"
#include "exec/info/info_text.h"

namespace mayfly {
namespace {

struct InfoSection {
  std::string_view name;  // upper case, as Args compares
  std::string_view title;
  void (*write)(InfoSink&, Server&, Now);
  enum class Shown : uint8_t {
    kByDefault,
    kForAll,         // only if named, or for "all" and "everything"
    kForEverything,  // only if named, or for "everything": tools that poll ask for "all"
  } shown = Shown::kByDefault;
};
using Shown = InfoSection::Shown;

// In the order of display.
constexpr InfoSection kSections[] = {
    {"SERVER", "Server", info::ServerSection},
    {"CLIENTS", "Clients", info::ClientsSection},
    {"MEMORY", "Memory", info::MemorySection},
    {"PERSISTENCE", "Persistence", info::PersistenceSection},
    {"STATS", "Stats", info::StatsSection},
    {"EXPIRY", "Expiry", info::ExpirySection},
    {"TTLHIST", "Ttlhist", info::TtlHistSection, Shown::kForEverything},
    {"TLS", "TLS", info::TlsSection},
    {"REPLICATION", "Replication", info::ReplicationSection},
    {"CPU", "CPU", info::CpuSection},
    {"MODULES", "Modules", info::ModulesSection},
    {"COMMANDSTATS", "Commandstats", info::CommandStatsSection, Shown::kForAll},
    {"ERRORSTATS", "Errorstats", info::ErrorStatsSection},
    {"UNKNOWNCOMMANDS", "Unknowncommands", info::UnknownCommandsSection, Shown::kForAll},
    {"LATENCYSTATS", "Latencystats", info::LatencyStatsSection, Shown::kForAll},
    {"CLUSTER", "Cluster", info::ClusterSection},
    {"KEYSPACE", "Keyspace", info::KeyspaceSection},
    {"NAMESPACES", "Namespaces", info::NamespacesSection},
};

bool Wanted(const InfoSection& section, std::span<const std::string_view> words) {
  if (words.empty()) return section.shown == Shown::kByDefault;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (EqualsIgnoringCase(word, "DEFAULT")) return section.shown == Shown::kByDefault;
    if (EqualsIgnoringCase(word, "ALL")) return section.shown != Shown::kForEverything;
    return EqualsIgnoringCase(word, section.name) || EqualsIgnoringCase(word, "EVERYTHING");
  });
}

}  // namespace

void WriteInfo(InfoSink& sink, Server& server, Now now, std::span<const std::string_view> words) {
  for (const InfoSection& section : kSections) {
    if (!Wanted(section, words)) continue;
    sink.Section(section.title);
    section.write(sink, server, now);
  }
}

std::string InfoReport(Server& server, Now now, std::span<const std::string_view> words) {
  InfoText text;
  WriteInfo(text, server, now, words);
  return text.Take();
}

}  // namespace mayfly
