// HEXPIRE, HPERSIST, HTTL and kin: set, remove and show the deadlines of a hash's fields.
#include "exec/values/hash_access.h"
#include "exec/values/member_time.h"

namespace mayfly::hash_expire_commands {
namespace {

struct Fields {
  using Value = HashValue;
  static constexpr const MemberWords& kWords = kFieldWords;
  static constexpr Event kExpireEvent{"hexpire"};
  static constexpr Event kRemoveEvent{"hdel"};
  static constexpr Event kPersistEvent{"hpersist"};
  static bool Has(const HashValue& hash, std::string_view field) noexcept { return hash.Has(field); }
  static void SetDeadline(Context& ctx, HashValue& hash, std::string_view field, Expiry deadline) {
    hash.SetDeadline(field, deadline, ctx.now);
  }
};
using Handlers = MemberTimeHandlers<Fields>;

constexpr KeySpec kUpdated = {1, 1, 1, kKeyRW | kKeyUpdate};
constexpr KeySpec kRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kFieldNumber = "O(N) where N is the number of fields";
constexpr std::string_view kTimeTip = "nondeterministic_output";
constexpr std::string_view kFieldsNote = "FIELDS=fields";

constexpr Command kRows[] = {
    {.name = "hexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = Handlers::Expire,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire after some seconds.",
     .syntax = "key seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpire",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = Handlers::PExpire,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire after some milliseconds.",
     .syntax = "key milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = Handlers::ExpireAt,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire at a Unix time in seconds.",
     .syntax = "key unix-time-seconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpireat",
     .arity = -6,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = Handlers::PExpireAt,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Lets fields of a hash expire at a Unix time in milliseconds.",
     .syntax = "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpersist",
     .arity = -5,
     .flags = kWrite | kFast,
     .keys = kUpdated,
     .acl = kAclHash,
     .handler = Handlers::Persist,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Removes the expiry of fields of a hash.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "httl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = Handlers::Ttl,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers how many seconds fields of a hash have left.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote,
     .tips = kTimeTip},
    {.name = "hpttl",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = Handlers::PTtl,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers how many milliseconds fields of a hash have left.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote,
     .tips = kTimeTip},
    {.name = "hexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = Handlers::ExpireTime,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers the Unix times in seconds at which fields of a hash expire.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
    {.name = "hpexpiretime",
     .arity = -5,
     .flags = kReadOnly | kFast,
     .keys = kRead,
     .acl = kAclHash,
     .handler = Handlers::PExpireTime,
     .since = "7.4.0",
     .complexity = kFieldNumber,
     .summary = "Answers the Unix times in milliseconds at which fields of a hash expire.",
     .syntax = "key FIELDS numfields field [field ...]",
     .argument_notes = kFieldsNote},
};
const CommandFamily kFamily("hash", kRows);

}  // namespace
}  // namespace mayfly::hash_expire_commands
