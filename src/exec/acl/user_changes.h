// Puts changed users in force, for the users and for their logged-in clients. Loop thread only.
#pragma once

#include <string_view>
#include <vector>

#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// Closes the connection: at once, or after the reply if the client is the one whose request runs.
void CloseClient(Server& server, Session& session, const Session* running) noexcept;

// `user` is in force under its name. Clients that have subscribed to what it may no longer read are closed; other
// clients stay, even if it is disabled. `running`: as for CloseClient; may be null. Throws std::bad_alloc, and nothing is
// changed then.
void PutUser(Server& server, User user, const Session* running);
// Logs its clients out and closes them. False if there is no such user. REQUIRES: it is not the default user.
bool RemoveUser(Server& server, std::string_view name, const Session* running) noexcept;
// From now on there are only these users. Clients of all others but the default user are closed. REQUIRES: the
// default user is among them. Throws std::bad_alloc, and nothing is changed then.
void ReplaceUsers(Server& server, std::vector<User> users, const Session* running);

// The default user has the password of the option requirepass from now on, also when CONFIG SET changes it: what that
// needs memory for is made before the option is in force. Throws std::bad_alloc.
void FollowRequirePass(Server& server);

}  // namespace mayfly
