// The commands by which clients find out whether this is a cluster: it is not.
#include "exec/dispatch/context.h"

namespace mayfly {
namespace {

// redis-cli and others compare this text as a whole.
void NoCluster(Context& ctx, Args&) { ctx.Fail("ERR This instance has cluster support disabled"); }

constexpr Command kRows[] = {
    {.name = "asking",
     .arity = 1,
     .flags = kFast,
     .acl = kAclConnection,
     .handler = NoCluster,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers that there is no cluster."},
    {.name = "cluster",
     .arity = -2,
     .flags = kLoading | kStale,
     .handler = NoCluster,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers that there is no cluster, whatever the subcommand.",
     .syntax = "subcommand [argument ...]"},
    {.name = "readonly",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .acl = kAclConnection,
     .handler = NoCluster,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers that there is no cluster."},
    {.name = "readwrite",
     .arity = 1,
     .flags = kLoading | kStale | kFast,
     .acl = kAclConnection,
     .handler = NoCluster,
     .since = "3.0.0",
     .complexity = "O(1)",
     .summary = "Answers that there is no cluster."},
};

const CommandFamily kFamily("cluster", kRows);

}  // namespace
}  // namespace mayfly
