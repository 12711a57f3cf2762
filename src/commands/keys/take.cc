// TAKE and UNLEASE: on a miss one client computes the value, and other clients wait or get a stale value. The stale value
// comes from cache/gone/stale_values.h. go-zero's Take as a server (server/waiting/leases.h).
#include <string>

#include "base/text/utf8.h"
#include "cache/keyspace/databases.h"
#include "exec/call/usage.h"
#include "exec/values/lease_token.h"
#include "exec/values/string_access.h"
#include "server/clients/session.h"
#include "server/figures/stats.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"

namespace mayfly::take_commands {
namespace {

// No value takes longer to compute; a larger number is probably in the wrong unit.
constexpr int64_t kMostMs = 24 * 60 * 60 * kMsPerSecond;
// The longest message of a failure; kept for RETRY ms.
constexpr size_t kMostMessage = 1024;

struct TakeOptions {
  uint64_t lease_ms = 0;
  uint64_t wait_ms = 0;
  uint64_t early_ms = 0;
  bool push = false;
};

// Returns false after an error reply.
bool ReadMs(Context& ctx, Args& args, std::string_view option, int64_t least, uint64_t& ms) {
  const std::optional<int64_t> number = args.NextInteger();
  if (!number) return ctx.Fail(errors::kNotInteger), false;
  if (*number < least || *number > kMostMs) {
    ctx.Fail("ERR " + std::string(option) + " must be from " + std::to_string(least) + " to " +
             std::to_string(kMostMs) + " ms");
    return false;
  }
  ms = static_cast<uint64_t>(*number);
  return true;
}

// Returns false after an error reply.
bool ReadTakeOptions(Context& ctx, Args& args, TakeOptions& options) {
  bool waits = false;
  while (!args.Done()) {
    if (args.Accept("LEASE", 1)) {
      if (!ReadMs(ctx, args, "LEASE", 1, options.lease_ms)) return false;
    } else if (args.Accept("WAIT", 1)) {
      waits = true;
      if (!ReadMs(ctx, args, "WAIT", 0, options.wait_ms)) return false;
    } else if (args.Accept("EARLY", 1)) {
      if (!ReadMs(ctx, args, "EARLY", 0, options.early_ms)) return false;
    } else if (args.Accept("PUSH")) {
      options.push = true;
    } else {
      return ctx.Fail(SyntaxErrorAt(ctx.row, args)), false;
    }
  }
  if (options.lease_ms == 0) return ctx.Fail("ERR LEASE is missing: " + UsageOf(ctx.row)), false;
  if (waits && options.push) return ctx.Fail("ERR WAIT and PUSH exclude each other"), false;
  if (!options.push || ctx.reply.version() == 3) return true;
  ctx.Fail("ERR PUSH needs RESP3, send HELLO 3 first");
  return false;
}

enum class IsStale : uint8_t { kNo, kYes };

// [status, value, token, pttl]. `entry` and `lease` may be null. A stale value has no time to live: like PTTL, pttl then
// says that the key does not exist.
void ReplyTake(Context& ctx, std::string_view status, const Entry* entry, const Lease* lease,
               IsStale stale = IsStale::kNo) {
  constexpr int64_t kNoKey = -2;
  constexpr int64_t kNoExpiry = -1;
  ctx.reply.Array(4);
  ctx.reply.Bulk(status);
  entry != nullptr ? ReplyString(ctx, *entry) : ctx.reply.Null();
  lease != nullptr ? ctx.reply.Bulk(LeaseTokenText(lease->token)) : ctx.reply.Null();
  if (stale == IsStale::kYes && entry != nullptr) ++ctx.server.stats.stale_served;
  if (entry == nullptr || stale == IsStale::kYes) return ctx.reply.Integer(kNoKey);
  ctx.reply.Integer(entry->expires() ? ShownTtlMs(*entry, ctx.now) : kNoExpiry);
}

void GiveLease(Context& ctx, const Key& key, const Entry* entry, IsStale stale, const TakeOptions& options) {
  Leases& leases = ctx.server.leases;
  // A script has a session of its own, but takes the lease for the client that has called the script.
  const uint64_t owner = ctx.origin == Origin::kScript ? ctx.server.databases.client() : ctx.session.id;
  const Leases::Room room = leases.RoomFor(owner, key.text);
  if (room != Leases::Room::kYes)
    return ctx.Fail(room == Leases::Room::kFull ? "ERR too many leases"
                                                : "ERR this client holds too many leases");
  const Lease& lease = leases.Grant(owner, ctx.session.db, key.text, ctx.now.mono_ms + options.lease_ms);
  try {
    ReplyTake(ctx, "LEASE", entry, &lease, stale);
  } catch (...) {
    leases.Revoke(lease);
    throw;
  }
  ++ctx.server.stats.leases_granted;
}

// The lease that keeps other clients from getting a lease; null without such a lease.
const Lease* LeaseInForce(Context& ctx, const Key& key) {
  const Lease* const lease = ctx.server.leases.Find(ctx.session.db, key.text);
  // A lease that has ended still answers the clients that have waited, but not new clients.
  const bool over = lease != nullptr && lease->state != Lease::State::kHeld &&
                    (lease->state == Lease::State::kReleased || lease->until_mono_ms <= ctx.now.mono_ms);
  return over && ctx.resumed == nullptr ? nullptr : lease;
}

void Take(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  TakeOptions options;
  args.Skip(1);
  if (!ReadTakeOptions(ctx, args, options)) return;
  const WakeReason wake = ctx.wake();
  if (wake == WakeReason::kUnblocked) return ctx.Fail("UNBLOCKED client unblocked via CLIENT UNBLOCK");
  Entry* const entry = wake == WakeReason::kNone ? ctx.Read(key) : ctx.keyspace.Find(key, ctx.now);
  if (entry != nullptr && !RequireString(ctx, *entry)) return;
  const Lease* const lease = LeaseInForce(ctx, key);
  if (entry != nullptr) {
    const bool early = entry->expires() && TtlMs(*entry, ctx.now) <= static_cast<int64_t>(options.early_ms);
    if (early && lease == nullptr) return GiveLease(ctx, key, entry, IsStale::kNo, options);
    return ReplyTake(ctx, "HIT", entry, nullptr);
  }
  const Entry* const stale = ctx.keyspace.stale().Find(key, ctx.now);
  if (lease == nullptr) return GiveLease(ctx, key, stale, IsStale::kYes, options);
  if (lease->state == Lease::State::kFailed) return ctx.Fail("ERR " + lease->message);
  if (stale != nullptr) return ReplyTake(ctx, "STALE", stale, nullptr, IsStale::kYes);
  const bool waits = lease->state == Lease::State::kHeld && options.wait_ms != 0 && ctx.MayPark();
  if (!waits || wake == WakeReason::kTimeout) {
    if (options.push && lease->state == Lease::State::kHeld)
      ctx.server.leases.TellEnd(*lease, ctx.session.id);
    return ReplyTake(ctx, "BUSY", nullptr, nullptr);
  }
  ctx.Park(args, ctx.now.mono_ms + options.wait_ms, args.all().subspan(1, 1));
  ctx.session.parked->even_absent = true;
}

void Unlease(Context& ctx, Args& args) {
  std::optional<std::string_view> message;
  uint64_t retry_ms = 0;
  args.Skip(2);
  while (!args.Done()) {
    if (args.Accept("ERR", 1)) {
      message = args.Next();
    } else if (args.Accept("RETRY", 1)) {
      if (!ReadMs(ctx, args, "RETRY", 1, retry_ms)) return;
    } else {
      return ctx.Fail(SyntaxErrorAt(ctx.row, args));
    }
  }
  if (!message && retry_ms != 0) return ctx.Fail("ERR RETRY needs ERR and a message");
  if (message && message->size() > kMostMessage) message = WholeCharacters(*message, kMostMessage);
  Leases& leases = ctx.server.leases;
  const std::optional<uint64_t> token = ParseLeaseToken(args[2]);
  const Lease* const lease = token ? leases.Held(ctx.session.db, args[1], *token) : nullptr;
  if (lease == nullptr) return ctx.reply.Integer(0);
  if (message) {
    leases.Fail(*lease, *message, ctx.now.mono_ms + retry_ms);
  } else {
    leases.Release(*lease, ctx.now.mono_ms);
  }
  ctx.reply.Integer(1);
}

constexpr Command kRows[] = {
    {.name = "take",
     .arity = -4,
     .flags = kReadOnly | kBlocking,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclString | kAclWrite,  // the holder of the lease is to write the key
     .handler = Take,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary =
         "Answers with the string value of a key; if there is none, one client gets the lease to compute it "
         "and the others get the stale value, or may wait for the new one.",
     .syntax = "key LEASE milliseconds [WAIT milliseconds | PUSH] [EARLY milliseconds]",
     .notes = "A command of Mayfly."},
    {.name = "unlease",
     .arity = -3,
     .flags = kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclString | kAclWrite,
     .handler = Unlease,
     .since = "0.1.0",
     .complexity = "O(1)",
     .summary = "Gives a lease back without a value, perhaps with an error for the waiting clients.",
     .syntax = "key token [ERR message] [RETRY milliseconds]",
     .notes = "A command of Mayfly."},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::take_commands
