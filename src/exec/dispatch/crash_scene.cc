#include "exec/dispatch/crash_scene.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "config/options.h"
#include "exec/dispatch/batch.h"
#include "server/sessions.h"

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

CrashScene::CrashScene(Server& server, const Executor& executor)
    : server_(server), executor_(executor), report_(server.options.settings().logfile, *this) {
  report_.Enable(server.options.settings().crash_log_enabled);
  server.options.OnChange([this](const config::Settings& settings, std::string_view name) {
    if (name == "crash-log-enabled") report_.Enable(settings.crash_log_enabled);
  });
}

void CrashScene::Testify(CrashText& text) const noexcept {
  text.Line(server_.sessions.size(), " clients");
  const std::string_view* shown = nullptr;
  for (const RunningCall* at = executor_.running(); at != nullptr; at = at->outer) {
    shown = at->call.arguments.data();
    Describe(text, at->outer != nullptr ? "inner call: " : "call: ", at->call.session, at->call.row,
             at->call.arguments);
  }
  const Batch& batch = executor_.batch();
  const Planned* last = nullptr;
  const std::string_view* first_argument = batch.args().data();
  const std::string_view* of_last = nullptr;
  for (const Planned& planned : batch.requests()) {
    if (planned.end <= planned.feed->consumed) last = &planned, of_last = first_argument;
    first_argument += planned.arg_count;
  }
  if (last != nullptr && of_last != shown)
    Describe(text, "request: ", *last->feed->session, last->row, {of_last, last->arg_count});
  if (last == nullptr && shown == nullptr) text.Line("no command was running");
}

}  // namespace mayfly
