// SEXPIRE, SPERSIST, STTL and kin: set, remove and show the deadlines of a set's members.
#include "exec/values/member_time.h"
#include "exec/values/timed_set.h"

namespace mayfly::set_expire_commands {
namespace {

constexpr MemberWords kMemberWords = {
    .word = "MEMBERS",
    .missing = "ERR Mandatory argument MEMBERS is missing or not at the right position",
    .too_few = "ERR Parameter `numMembers` should be greater than 0",
    .not_positive = "ERR Number of members must be a positive integer",
    .mismatch = "ERR The `nummembers` parameter must match the number of arguments"};

struct Members {
  using Value = SetValue;
  static constexpr const MemberWords& kWords = kMemberWords;
  static constexpr Event kExpireEvent = kSetMemberExpires;
  static constexpr Event kRemoveEvent{"srem"};
  static constexpr Event kPersistEvent{"spersist"};
  static bool Has(const SetValue& set, std::string_view member) noexcept { return set.Contains(member); }
  static void SetDeadline(Context& ctx, SetValue& set, std::string_view member, Expiry deadline) {
    set.AddUntil(member, deadline, false, ctx.keyspace.home(), ctx.now);
  }
};
using Handlers = MemberTimeHandlers<Members>;

constexpr KeySpec kUpdated = {1, 1, 1, kKeyRW | kKeyUpdate};
constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kMemberNumber = "O(N) where N is the number of members";
constexpr std::string_view kTimeTip = "nondeterministic_output";
constexpr std::string_view kMembersNote = "MEMBERS=members";

constexpr Command kRows[] = {
    {.name = "sexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclSet,
     .handler = Handlers::Expire,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Lets members of a set expire after some seconds.",
     .syntax = "key seconds [NX | XX | GT | LT] MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "spexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclSet,
     .handler = Handlers::PExpire,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Lets members of a set expire after some milliseconds.",
     .syntax = "key milliseconds [NX | XX | GT | LT] MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "sexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclSet,
     .handler = Handlers::ExpireAt,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Lets members of a set expire at a Unix time in seconds.",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT] MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "spexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclSet,
     .handler = Handlers::PExpireAt,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Lets members of a set expire at a Unix time in milliseconds.",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT] MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "spersist",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclSet,
     .handler = Handlers::Persist,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Removes the expiry of members of a set.",
     .syntax = "key MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "sttl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclSet,
     .handler = Handlers::Ttl,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Answers how many seconds members of a set have left.",
     .syntax = "key MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote,
     .tips = kTimeTip},
    {.name = "spttl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclSet,
     .handler = Handlers::PTtl,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Answers how many milliseconds members of a set have left.",
     .syntax = "key MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote,
     .tips = kTimeTip},
    {.name = "sexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclSet,
     .handler = Handlers::ExpireTime,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Answers the Unix times in seconds at which members of a set expire.",
     .syntax = "key MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
    {.name = "spexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclSet,
     .handler = Handlers::PExpireTime,
     .since = "8.12.0",
     .complexity = kMemberNumber,
     .summary = "Answers the Unix times in milliseconds at which members of a set expire.",
     .syntax = "key MEMBERS nummembers member [member ...]",
     .argument_notes = kMembersNote},
};
const CommandFamily kFamily("set", kRows);

}  // namespace
}  // namespace mayfly::set_expire_commands
