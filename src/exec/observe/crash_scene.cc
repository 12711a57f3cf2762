#include "exec/observe/crash_scene.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "config/sources/options.h"
#include "exec/call/call.h"
#include "exec/call/command_table.h"
#include "exec/call/in_flight.h"
#include "server/clients/sessions.h"
#include "server/server.h"

namespace mayfly {
namespace {

using Arguments = std::span<const std::string_view>;

void Describe(CrashText& text, std::string_view what, const Session& session, const TableRow* row,
              Arguments arguments) noexcept {
  constexpr size_t kShown = 16;
  text.Append(what);
  text.Append(row != nullptr ? std::string_view(row->full_name) : "unknown command");
  text.Append(", ");
  text.Append(arguments.size());
  text.Append(" arguments of");
  for (const std::string_view argument : arguments.first(std::min(arguments.size(), kShown))) {
    text.Append(" ");
    text.Append(argument.size());
  }
  if (arguments.size() > kShown) text.Append(" ...");
  text.Line(" bytes; client ", session.peer, ", id ", session.id, ", database ", session.db);
}

}  // namespace

CrashScene::CrashScene(Server& server, const InFlight& in_flight)
    : server_(server), in_flight_(in_flight), report_(server.options.settings().logfile, *this) {
  server.options.FollowFromNow(
      [this](const config::Settings& settings) { report_.Enable(settings.crash_log_enabled); },
      &config::Settings::crash_log_enabled);
}

void CrashScene::Append(CrashText& text) const noexcept {
  text.Line(server_.sessions.size(), " clients");
  const std::string_view* shown = nullptr;
  for (const RunningCall* at = in_flight_.InnermostCall(); at != nullptr; at = at->outer) {
    shown = at->call.arguments.data();
    Describe(text, at->outer != nullptr ? "inner call: " : "call: ", at->call.session, at->call.row,
             at->call.arguments);
  }
  const Begun last = in_flight_.LastRequest();
  if (last.session != nullptr && last.arguments.data() != shown)
    Describe(text, "request: ", *last.session, last.row, last.arguments);
  if (last.session == nullptr && shown == nullptr) text.Line("no command was running");
}

}  // namespace mayfly
