#include "exec/info/info_sections.h"

#include <algorithm>
#include <iterator>

#include "exec/dispatch/args.h"
#include "exec/info/info_text.h"

namespace mayfly {
namespace {

struct InfoSection {
  std::string_view name;  // upper case, as Args compares
  std::string_view title;
  void (*write)(InfoSink&, Server&, Now);
  bool on_request = false;  // shown only if named, or for "all" and "everything"
};

// In the order in which they are shown.
constexpr InfoSection kSections[] = {
    {"SERVER", "Server", info::ServerSection},
    {"CLIENTS", "Clients", info::ClientsSection},
    {"MEMORY", "Memory", info::MemorySection},
    {"PERSISTENCE", "Persistence", info::PersistenceSection},
    {"STATS", "Stats", info::StatsSection},
    {"EXPIRY", "Expiry", info::ExpirySection},
    {"REPLICATION", "Replication", info::ReplicationSection},
    {"CPU", "CPU", info::CpuSection},
    {"MODULES", "Modules", info::ModulesSection},
    {"COMMANDSTATS", "Commandstats", info::CommandStatsSection, true},
    {"ERRORSTATS", "Errorstats", info::ErrorStatsSection},
    {"LATENCYSTATS", "Latencystats", info::LatencyStatsSection, true},
    {"CLUSTER", "Cluster", info::ClusterSection},
    {"KEYSPACE", "Keyspace", info::KeyspaceSection},
};

bool Wanted(const InfoSection& section, std::span<const std::string_view> words) {
  if (words.empty()) return !section.on_request;
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    if (EqualsIgnoringCase(word, "DEFAULT")) return !section.on_request;
    return EqualsIgnoringCase(word, section.name) || EqualsIgnoringCase(word, "ALL") ||
           EqualsIgnoringCase(word, "EVERYTHING");
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
