#include "exec/acl/denials.h"

#include <cassert>
#include <string>

#include "config/sources/options.h"
#include "exec/observe/client_info.h"
#include "server/acl/user.h"
#include "server/figures/stats.h"

namespace mayfly {
namespace {

// Limits the text to the kept part: a key may be long.
std::string Shortened(std::string_view text) { return std::string(text.substr(0, AclLog::kLongestText)); }

void Add(Server& server, AclLog::Entry entry, const Session& client, Now now) {
  AppendClientLine(entry.client, client, now);
  if (entry.client.ends_with('\n')) entry.client.pop_back();
  server.acl_log.Add(std::move(entry), static_cast<size_t>(server.options.settings().acllog_max_len));
}

AclLog::Reason Count(Stats& stats, Denial denial) noexcept {
  switch (denial) {
    case Denial::kKey:
      ++stats.denied_keys;
      return AclLog::Reason::kKey;
    case Denial::kChannel:
      ++stats.denied_channels;
      return AclLog::Reason::kChannel;
    case Denial::kNone:
    case Denial::kCommand:
      break;
  }
  ++stats.denied_commands;
  return AclLog::Reason::kCommand;
}

}  // namespace

void NoteDenial(Server& server, const DeniedCall& call, Permission permission, Now now) {
  assert(!permission.granted() && call.session.user() != nullptr);
  const bool of_command = permission.denial == Denial::kCommand;
  Add(server,
      {.reason = Count(server.stats, permission.denial),
       .where = call.where,
       .object = Shortened(of_command ? call.row.full_name : call.arguments[permission.index]),
       .user = call.session.user()->name(),
       .client = {},
       .mono_ms = now.mono_ms,
       .wall_ms = now.wall_ms},
      call.client, now);
}

void NoteFailedLogin(Server& server, const Session& session, Origin origin, std::string_view command,
                     std::string_view user, Now now) {
  Add(server,
      {.reason = AclLog::Reason::kAuth,
       .where = WhereIs(session, origin),
       .object = std::string(command),
       .user = Shortened(user),
       .client = {},
       .mono_ms = now.mono_ms,
       .wall_ms = now.wall_ms},
      session, now);
}

}  // namespace mayfly
