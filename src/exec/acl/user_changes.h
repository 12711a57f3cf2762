// Puts changed users in force, for the users and for their logged-in clients. Loop thread only.
#pragma once

#include <string_view>
#include <vector>

#include "server/acl/user.h"
#include "server/acl/users.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// Closes the connection: at once, or after the reply if the client is `running`, the client of the running request.
void CloseClient(Server& server, Session& session, const Session* running) noexcept;

// Puts `user` in force under its name. Clients with subscriptions that are now forbidden are closed; other clients stay,
// even if the user is disabled. `running`: as for CloseClient; may be null. Throws std::bad_alloc without a change.
void PutUser(Server& server, User user, const Session* running);
// Logs the user's clients out and closes their connections. False for an unknown user. REQUIRES: not the default user.
bool RemoveUser(Server& server, std::string_view name, const Session* running) noexcept;
// Replaces all users by `users`. Clients of all other users but the default user are closed. REQUIRES: the default user is
// among `users`. Throws std::bad_alloc without a change.
void ReplaceUsers(Server& server, std::vector<User> users, const Session* running);

// The default user gets the password of the option requirepass now, and again at each CONFIG SET: the memory is allocated
// before the option is in force. Throws std::bad_alloc.
void FollowRequirePass(Server& server);

}  // namespace mayfly
