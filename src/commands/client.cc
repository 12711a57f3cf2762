// CLIENT: what a client says of itself.
#include <string>
#include <string_view>

#include "exec/client_names.h"
#include "exec/command_help.h"
#include "exec/context.h"

namespace mayfly {
namespace {

void ClientId(Context& ctx, Args&) { ctx.reply.Integer(static_cast<int64_t>(ctx.session.id)); }

void ClientGetName(Context& ctx, Args&) {
  if (ctx.session.name.empty()) return ctx.reply.Null();
  ctx.reply.Bulk(ctx.session.name);
}

// The empty name takes a name away.
void ClientSetName(Context& ctx, Args& args) {
  const std::string_view name = args.Next();
  if (!IsClientName(name)) return ctx.Fail(kBadClientName);
  ctx.session.name = name;
  ctx.reply.Ok();
}

void ClientSetInfo(Context& ctx, Args& args) {
  const std::string_view attribute = args.Next();
  const std::string_view value = args.Next();
  const bool is_name = EqualsIgnoringCase(attribute, "LIB-NAME");
  if (!is_name && !EqualsIgnoringCase(attribute, "LIB-VER"))
    return ctx.Fail("ERR Unrecognized option '" + std::string(attribute) + "'");
  if (!IsClientName(value))
    return ctx.Fail("ERR " + std::string(attribute) +
                    " cannot contain spaces, newlines or special characters.");
  (is_name ? ctx.session.lib_name : ctx.session.lib_version) = value;
  ctx.reply.Ok();
}

constexpr uint32_t kFlags = kNoScript | kLoading | kStale;

constexpr Command kClientRows[] = {
    {.name = "getname",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientGetName,
     .since = "2.6.9",
     .complexity = "O(1)",
     .summary = "Tells the connection's name, or nil."},
    {.name = "help",
     .arity = 2,
     .flags = kLoading | kStale,
     .acl = kAclConnection,
     .handler = ReplyHelp,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Lists the subcommands."},
    {.name = "id",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientId,
     .since = "5.0.0",
     .complexity = "O(1)",
     .summary = "Tells the connection's number, which no other connection ever gets."},
    {.name = "setinfo",
     .arity = 4,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientSetInfo,
     .since = "7.2.0",
     .complexity = "O(1)",
     .summary = "Tells the server the client library's name or version.",
     .syntax = "<LIB-NAME libname | LIB-VER libver>",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
    {.name = "setname",
     .arity = 3,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientSetName,
     .since = "2.6.9",
     .complexity = "O(1)",
     .summary = "Names the connection; an empty name takes the name away.",
     .syntax = "connection-name",
     .tips = "request_policy:all_nodes response_policy:all_succeeded"},
};

constexpr Command kRows[] = {
    {.name = "client",
     .arity = -2,
     .since = "2.4.0",
     .complexity = "Depends on subcommand.",
     .summary = "What a client says of itself.",
     .subcommands = kClientRows},
};

const CommandFamily kFamily("connection", kRows);

}  // namespace
}  // namespace mayfly
