// The effects of a refused call: an entry of ACL LOG, and a count for INFO. Loop thread only.
#pragma once

#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "exec/acl/permission.h"
#include "server/acl/acl_log.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// The origin of a denied call.
struct DeniedCall {
  const Session& session;  // with the denied user
  const Session& client;   // the client to show: a script's caller
  AclLog::Where where;
  const TableRow& row;
  std::span<const std::string_view> arguments;
};

// Both throw std::bad_alloc. REQUIRES: `permission` is not granted.
void NoteDenial(Server& server, const DeniedCall& call, Permission permission, Now now);
// A login as `user` by `command` (AUTH or HELLO, as typed) has failed.
void NoteFailedLogin(Server& server, const Session& session, std::string_view command, std::string_view user,
                     Now now);

// The origin of a call sent by this client.
inline AclLog::Where WhereIs(const Session& session) noexcept {
  return session.Has(Mode::kTransaction) ? AclLog::Where::kMulti : AclLog::Where::kTopLevel;
}

}  // namespace mayfly
