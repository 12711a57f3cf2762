// The sections of INFO: one function each, and the table that says which are told when.
//
// A field stands here only if its number is true: 0 for what never happened. Of Redis's fields for what
// Mayfly has no notion of, those stand here that tools read and whose value can be only one (loading:0).
// Tools search for the first occurrence of a name, so no text before it may hold it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exec/context.h"
#include "exec/info_text.h"

namespace mayfly {

namespace info {

void ServerSection(InfoText& text, Server& server, Now now);
void ClientsSection(InfoText& text, Server& server, Now now);
void MemorySection(InfoText& text, Server& server, Now now);
void CpuSection(InfoText& text, Server& server, Now now);
void PersistenceSection(InfoText& text, Server& server, Now now);
void StatsSection(InfoText& text, Server& server, Now now);
void ExpirySection(InfoText& text, Server& server, Now now);
void ReplicationSection(InfoText& text, Server& server, Now now);
void ModulesSection(InfoText& text, Server& server, Now now);
void CommandStatsSection(InfoText& text, Server& server, Now now);
void ErrorStatsSection(InfoText& text, Server& server, Now now);
void LatencyStatsSection(InfoText& text, Server& server, Now now);
void ClusterSection(InfoText& text, Server& server, Now now);
void KeyspaceSection(InfoText& text, Server& server, Now now);

}  // namespace info

// What INFO answers to these words (section names, "default", "all", "everything", in any case): the sections
// in their fixed order, each once. Words that name no section add nothing; no words mean "default".
std::string InfoReport(Server& server, Now now, std::span<const std::string_view> words);

}  // namespace mayfly
