// Users in files: the lines `user NAME rule ...` of the conf file or of the aclfile. ACL LOAD and ACL SAVE read and
// write the aclfile (option aclfile). Loop thread only.
#pragma once

#include <string>
#include <vector>

#include "config/problem.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// Puts the users of the conf file or the aclfile in force. A problem has a line for each wrong line `user`: the server must
// not start.
[[nodiscard]] config::Problem LoadUsersAtStart(Server& server);

// ACL LOAD: replaces all users, or none if a line is wrong. A problem is an error text without "ERR ".
[[nodiscard]] config::Problem LoadAclFile(Server& server, const Session* running);
// ACL SAVE, likewise.
[[nodiscard]] config::Problem SaveAclFile(const Server& server);

// The lines for CONFIG REWRITE, without "user ". No line for a default user made by requirepass alone, and no lines with an
// aclfile. A user of an included file or of the command line keeps the line there, because the next start would otherwise
// find the user twice; if the user has changed, the line there has to change. This is the problem: an error text without
// "ERR ".
[[nodiscard]] config::Problem UserLines(const Server& server, std::vector<std::string>& lines);

}  // namespace mayfly
