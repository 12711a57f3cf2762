#include "exec/observe/monitors.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <string>

#include "base/text/quote.h"
#include "base/time/clock.h"
#include "config/sources/options.h"
#include "exec/call/call.h"
#include "exec/call/shown_arguments.h"
#include "server/clients/sessions.h"
#include "server/server.h"

namespace mayfly {
namespace {

// "1700000000.000123"
std::string SecondsOf(int64_t wall_us) {
  constexpr int64_t kUsPerSecond = 1'000'000;
  constexpr size_t kDecimals = 6;
  const std::string us = std::to_string(wall_us % kUsPerSecond);
  return std::to_string(wall_us / kUsPerSecond) + '.' + std::string(kDecimals - us.size(), '0') + us;
}

// +1700000000.000123 [0 127.0.0.1:50312] "set" "k" "v"
std::string LineOf(const Call& call, const std::string& socket_path, int64_t wall_us) {
  std::string line = '+' + SecondsOf(wall_us) + " [" + std::to_string(call.session.db) + ' ';
  if (call.origin == Origin::kScript) {
    line += "lua";
  } else if (call.session.over_unix_socket) {
    line.append("unix:").append(socket_path);
  } else {
    line += call.session.peer;
  }
  line += ']';
  const ShownArguments shown(*call.row, call.arguments);
  for (const std::string_view argument : shown.all()) {
    line += ' ';
    AppendQuoted(line, argument);
  }
  return line += "\r\n";
}

}  // namespace

Monitors::~Monitors() {
  if (!ids_.empty()) observers_.Remove(*this);
}

void Monitors::Add(Session& session) {
  assert(session.attached() && !session.Has(Mode::kMonitor));
  ids_.reserve(ids_.size() + 1);
  if (ids_.empty()) observers_.Add(*this);
  ids_.push_back(session.id);
  session.Set(Mode::kMonitor);
}

void Monitors::Remove(Session& session) noexcept {
  if (!session.Clear(Mode::kMonitor)) return;
  std::erase(ids_, session.id);
  if (ids_.empty()) observers_.Remove(*this);
}

void Monitors::Show(const Call& call) noexcept {
  if (ids_.empty()) return;
  try {
    Send(call);
  } catch (const std::bad_alloc&) {  // the monitors miss this line; the client must not notice
  }
}

void Monitors::OnCall(const Call& call) {
  const bool was_shown = call.origin == Origin::kWoken;  // when the client began to wait
  if (!was_shown && (call.row->command->flags & (kSkipMonitor | kAdmin)) == 0) Send(call);
}

void Monitors::Send(const Call& call) {
  const SharedBytes line =
      SharedBytes::Copy(LineOf(call, server_.options.settings().unixsocket, server_.clock.ReadWallUs()));
  const auto& sessions = server_.sessions.by_id();
  std::erase_if(ids_, [&](uint64_t id) {
    const auto monitor = sessions.find(id);
    if (monitor == sessions.end()) return true;
    Append(*monitor->second, line);
    server_.sessions.MarkDirty(*monitor->second);
    return false;
  });
  if (ids_.empty()) observers_.Remove(*this);
}

// A monitor with too much unread output is closed at the end of the turn; until then the monitor gets no further line. As in
// Redis, CLIENT REPLY OFF suppresses lines, too.
void Monitors::Append(Session& monitor, const SharedBytes& line) noexcept {
  if (monitor.closes() || monitor.Has(Mode::kOutputFull) || monitor.unwanted() != nullptr) return;
  try {
    monitor.PushOutput().AppendShared(line, 0, line.size());
  } catch (const std::bad_alloc&) {  // the output may have a part of the line
    monitor.LoseMessage();
  }
}

}  // namespace mayfly
