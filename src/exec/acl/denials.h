// The effects of a refused call: an entry of ACL LOG, and a count for INFO. Loop thread only.
#pragma once

#include <span>
#include <string_view>

#include "base/time/clock.h"
#include "exec/acl/permission.h"
#include "exec/call/call.h"
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
// A login as `user` by `command` (AUTH or HELLO, as typed) has failed, in a call that `session` has sent.
void NoteFailedLogin(Server& server, const Session& session, Origin origin, std::string_view command,
                     std::string_view user, Now now);

// The place of a call of this session: within EXEC the session is no longer in a transaction, but the call's origin tells.
inline AclLog::Where WhereIs(const Session& session, Origin origin) noexcept {
  if (origin == Origin::kScript) return AclLog::Where::kScript;
  const bool in_transaction = origin == Origin::kTransaction || session.Has(Mode::kTransaction);
  return in_transaction ? AclLog::Where::kMulti : AclLog::Where::kTopLevel;
}

}  // namespace mayfly
