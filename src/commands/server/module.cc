// MODULE: answers that no modules are loaded. Modules cannot be loaded here.
#include "exec/dispatch/context.h"
#include "exec/docs/command_help.h"

namespace mayfly::module_commands {
namespace {

void ModuleList(Context& ctx, Args&) { ctx.reply.EmptyArray(); }

void RefuseModule(Context& ctx, Args&) { ctx.Fail("ERR Mayfly cannot load modules."); }

constexpr uint32_t kFlags = kAdmin | kNoScript;
constexpr uint32_t kLoadFlags = kFlags | kNoAsyncLoading;

constexpr Command kModuleRows[] = {
    HelpRow("5.0.0"),
    {.name = "list",
     .arity = 2,
     .flags = kFlags,
     .handler = ModuleList,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Lists the loaded modules: none.",
     .tips = "nondeterministic_output_order"},
    {.name = "load",
     .arity = -3,
     .flags = kLoadFlags,
     .handler = RefuseModule,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Is refused: modules cannot be loaded.",
     .syntax = "path [arg [arg ...]]"},
    {.name = "loadex",
     .arity = -3,
     .flags = kLoadFlags,
     .handler = RefuseModule,
     .since = "7.0.0",
     .complexity = "O(1)",
     .summary = "Is refused: modules cannot be loaded.",
     .syntax = "path [CONFIG name value] ... [ARGS args [args ...]]",
     .argument_notes = "CONFIG=configs"},
    {.name = "unload",
     .arity = 3,
     .flags = kLoadFlags,
     .handler = RefuseModule,
     .since = "4.0.0",
     .complexity = "O(1)",
     .summary = "Is refused: there is no module to unload.",
     .syntax = "name"},
};

constexpr Command kRows[] = {
    {.name = "module",
     .arity = -2,
     .since = "4.0.0",
     .complexity = "Depends on subcommand.",
     .summary = "A container for commands about modules, of which there are none.",
     .subcommands = kModuleRows},
};

const CommandFamily kFamily("server", kRows);

}  // namespace
}  // namespace mayfly::module_commands
