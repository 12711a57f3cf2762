// The sections of INFO: one function each. Which of them a request gets is decided in info_sections.cc.
//
// A field is shown only if its number is true: 0 for what never happened. Of Redis's fields that mean nothing
// for Mayfly, those are shown that tools read and that can have only one value (loading:0). Tools search for
// the first occurrence of a name, so no text before it may contain it.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "exec/dispatch/context.h"
#include "exec/info/info_text.h"

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
// in their fixed order, each once. Other words are ignored; no words mean "default".
std::string InfoReport(Server& server, Now now, std::span<const std::string_view> words);

}  // namespace mayfly
