// NAMESPACE: sets or removes one namespace. CONFIG SET namespace sets all namespaces at once.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log/log.h"
#include "config/namespace_values.h"
#include "config/sources/options.h"
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"

namespace mayfly::namespace_commands {
namespace {

// Puts the namespaces in force like CONFIG SET; CONFIG REWRITE writes them. Returns false after an error reply.
bool PutInForce(Context& ctx, std::vector<config::NamespaceTerms> spaces) {
  config::Options& options = ctx.server.options;
  config::Settings wanted = options.settings();
  wanted.namespaces = std::move(spaces);
  config::Problem problem = config::CheckNamespaces(wanted);
  std::vector<std::string> warnings;
  const config::NameValue pair{"namespace", config::FormatNamespaces(wanted.namespaces)};
  if (!problem) problem = options.Set({&pair, 1}, warnings);
  if (!problem) {
    if (ctx.server.log != nullptr)
      ctx.server.log->Debug("NAMESPACE by client ", ctx.session.id, ": ", pair.second);
    return true;
  }
  ctx.Fail("ERR " + *problem);
  return false;
}

void NamespaceSet(Context& ctx, Args& args) {
  const std::string name(args.Next());
  std::vector<std::string> words;
  while (!args.Done()) words.emplace_back(args.Next());
  std::vector<config::NamespaceTerms> spaces = ctx.server.options.settings().namespaces;
  if (const config::Problem problem = config::ChangeNamespace(name, words, spaces))
    return ctx.Fail("ERR " + *problem);
  if (PutInForce(ctx, std::move(spaces))) ctx.reply.Ok();
}

void NamespaceDel(Context& ctx, Args& args) {
  const std::string_view name = args.Next();
  std::vector<config::NamespaceTerms> spaces = ctx.server.options.settings().namespaces;
  if (std::erase_if(spaces, [&](const auto& space) { return space.name == name; }) == 0)
    return ctx.reply.Integer(0);
  if (PutInForce(ctx, std::move(spaces))) ctx.reply.Integer(1);
}

void NamespaceList(Context& ctx, Args&) {
  const std::vector<config::NamespaceTerms>& spaces = ctx.server.options.settings().namespaces;
  const auto field = [&ctx](std::string_view name, uint64_t value) {
    ctx.reply.Bulk(name);
    ctx.reply.Integer(static_cast<int64_t>(value));
  };
  ctx.reply.Array(spaces.size());
  for (const config::NamespaceTerms& space : spaces) {
    ctx.reply.Map(5);
    ctx.reply.Bulk("name");
    ctx.reply.Bulk(space.name);
    ctx.reply.Bulk("prefix");
    ctx.reply.Bulk(space.prefix);
    field("maxmemory", space.maxmemory_bytes);
    field("maxkeys", space.maxkeys);
    field("default-ttl-ms", space.default_ttl.ms);
  }
}

constexpr uint32_t kFlags = kAdmin | kNoScript | kLoading | kStale;
constexpr std::string_view kForAll = "request_policy:all_nodes response_policy:all_succeeded";

constexpr Command kNamespaceRows[] = {
    {.name = "del",
     .arity = 3,
     .flags = kFlags | kEndsBatch,
     .handler = NamespaceDel,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of namespaces",
     .summary = "Removes a namespace; its keys stay, without its limits. Answers 1, or 0 if there is none.",
     .syntax = "name",
     .tips = kForAll,
     .notes = "A command of Mayfly."},
    HelpRow("0.1.0"),
    {.name = "list",
     .arity = 2,
     .flags = kFlags,
     .handler = NamespaceList,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of namespaces",
     .summary = "Tells the namespaces with their limits; 0 stands for none.",
     .notes = "A command of Mayfly."},
    {.name = "set",
     .arity = -5,
     .flags = kFlags | kEndsBatch,
     .handler = NamespaceSet,
     .since = "0.1.0",
     .complexity = "O(N) where N is the number of namespaces",
     .summary = "Adds a namespace, or changes terms of one; its other terms stay.",
     .syntax = "name word value [word value ...]",
     .tips = kForAll,
     .notes = "A command of Mayfly. The words are prefix, maxmemory, maxkeys and default-ttl."},
};

constexpr Command kRows[] = {
    {.name = "namespace",
     .arity = -2,
     .since = "0.1.0",
     .complexity = "Depends on subcommand.",
     .summary = "Sets or removes one namespace.",
     .subcommands = kNamespaceRows,
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::namespace_commands
