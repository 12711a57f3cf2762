#include "exec/observe/incident_lines.h"

#include "base/log/log.h"
#include "config/sources/options.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/resident_guard.h"
#include "server/figures/incidents.h"
#include "server/figures/stats.h"

namespace mayfly {
namespace {

// The number of log lines is bounded by the number of counted names.
void TellOfUnknownCommand(Server& server, const Session& session, std::string_view command) {
  const std::string_view name = server.stats.unknown_commands.Count(command);
  if (name.empty() || server.log == nullptr) return;
  if (name == UnknownCommands::kOthers)
    return server.log->Warning("unknown commands of further names are counted together, and not logged");
  server.log->Warning("unknown command \"", name, "\" of client ", session.peer);
}

}  // namespace

void TellOfRefusal(Refusal why, Server& server, const Session& session, const Args& args, Now now) {
  if (why == Refusal::kUnknownCommand) return TellOfUnknownCommand(server, session, args[0]);
  if (why != Refusal::kMemory) return;
  const uint64_t most = server.resident.Allowed(server.options.settings().maxmemory.bytes);
  server.incidents.TellRefusedWrite(now.mono_ms, server.log, server.memory.Data(), most);
}

void TellOfHttp(Server& server, const Session& session, Now now) noexcept {
  server.incidents.Tell(Incidents::Kind::kHttp, now.mono_ms, server.log, "closing client ", session.peer,
                        ": it speaks HTTP, as a web page does that attacks a server in its network");
}

void TellOfNoMemory(Server& server, const Session& session, Now now) noexcept {
  server.incidents.Tell(Incidents::Kind::kNoMemory, now.mono_ms, server.log, "a request of client ",
                        session.peer, " fails: out of memory, ", server.memory.All(), " bytes are in use");
}

}  // namespace mayfly
