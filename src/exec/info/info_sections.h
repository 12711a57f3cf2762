// The sections of INFO: one function each. info_sections.cc chooses the sections of a request.
//
// A field is shown only if its number is true: 0 for events that never happened. Of Redis's fields without a meaning for
// Mayfly, only fields read by tools and with a single possible value are shown (async_loading:0). Tools search for the first
// occurrence of a name, so no earlier text may contain the name.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exec/dispatch/context.h"
#include "exec/info/info_sink.h"

namespace mayfly {

namespace info {

void ServerSection(InfoSink& sink, Server& server, Now now);
void ClientsSection(InfoSink& sink, Server& server, Now now);
void MemorySection(InfoSink& sink, Server& server, Now now);
void CpuSection(InfoSink& sink, Server& server, Now now);
void PersistenceSection(InfoSink& sink, Server& server, Now now);
void StatsSection(InfoSink& sink, Server& server, Now now);
void ExpirySection(InfoSink& sink, Server& server, Now now);
void TtlHistSection(InfoSink& sink, Server& server, Now now);
void TlsSection(InfoSink& sink, Server& server, Now now);
void ReplicationSection(InfoSink& sink, Server& server, Now now);
void ModulesSection(InfoSink& sink, Server& server, Now now);
void CommandStatsSection(InfoSink& sink, Server& server, Now now);
void ErrorStatsSection(InfoSink& sink, Server& server, Now now);
void UnknownCommandsSection(InfoSink& sink, Server& server, Now now);
void LatencyStatsSection(InfoSink& sink, Server& server, Now now);
void ClusterSection(InfoSink& sink, Server& server, Now now);
void KeyspaceSection(InfoSink& sink, Server& server, Now now);
void NamespacesSection(InfoSink& sink, Server& server, Now now);

// The part of CommandStatsSection about one command or subcommand; nothing if the command was never called.
void CallsField(InfoSink& sink, const TableRow& row, const CycleRate& rate);

}  // namespace info

// Writes the sections named by the words (section names, "default", "all", "everything", in any case), in their fixed order,
// each once. Other words are ignored; no words mean "default".
void WriteInfo(InfoSink& sink, Server& server, Now now, std::span<const std::string_view> words);
// The same, as the text of INFO.
std::string InfoReport(Server& server, Now now, std::span<const std::string_view> words);

}  // namespace mayfly
