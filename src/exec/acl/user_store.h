// Users in files: the lines `user NAME rule ...` of the conf file or of the aclfile. ACL LOAD and ACL SAVE read and
// write the aclfile (option aclfile). Loop thread only.
#pragma once

#include <string>
#include <vector>

#include "config/problem.h"
#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

// What the conf file or the aclfile says is in force. A problem is one line: the server must not begin.
[[nodiscard]] config::Problem LoadUsersAtStart(Server& server);

// ACL LOAD: all users are replaced, or none if a line is wrong. A problem is an error text without "ERR ".
[[nodiscard]] config::Problem LoadAclFile(Server& server, const Session* running);
// ACL SAVE, likewise.
[[nodiscard]] config::Problem SaveAclFile(const Server& server);

// The lines that CONFIG REWRITE is to write, without "user ". None for a default user that is as requirepass alone makes
// it, and none with an aclfile. A user of an included file or of the command line keeps its line there, as the next
// start would find it twice; if it has changed, that line has to change, which is the problem: an error text without
// "ERR ".
[[nodiscard]] config::Problem UserLines(const Server& server, std::vector<std::string>& lines);

}  // namespace mayfly
