#include "exec/arguments/task_words.h"

#include <algorithm>

#include "base/bits/key_slot.h"
#include "cache/keyspace/databases.h"
#include "cache/tags/task_name.h"
#include "exec/acl/denials.h"
#include "exec/acl/permission.h"
#include "server/clients/sessions.h"
#include "server/server.h"

namespace mayfly {
namespace {

// The client that has made the call: a script has a session of its own.
const Session& ClientOf(const Context& ctx) noexcept {
  if (ctx.origin != Origin::kScript) return ctx.session;
  const auto& sessions = ctx.server.sessions.by_id();
  const auto caller = sessions.find(ctx.server.databases.client());
  return caller != sessions.end() ? *caller->second : ctx.session;
}

}  // namespace

std::string_view TaskWords::Take(Args& args) noexcept {
  if (given_) return "ERR INTO is given twice";
  if (args.Done()) return "ERR INTO is followed by the name of a stream, as in EX 60 INTO jobs";
  stream_ = args.Next();
  given_ = true;
  if (!args.Accept("MAXLEN")) return {};
  const std::optional<int64_t> most = args.Done() ? std::nullopt : args.NextInteger();
  if (!most || *most < 1) return "ERR MAXLEN is followed by the number of entries to keep, 1 at least";
  most_ = static_cast<uint64_t>(*most);
  return {};
}

bool TaskWords::Permit(Context& ctx, const Args& args, std::string_view key) const {
  if (stream_ == key) return ctx.Fail("ERR a key cannot go INTO itself: name a stream"), false;
  if ((ctx.server.modes & BitOf(Mode::kClustered)) != 0 && SlotOf(stream_) != SlotOf(key)) {
    ctx.Fail("CROSSSLOT Keys in request don't hash to the same slot");
    return false;
  }
  if (!ctx.session.restricted() || MayAlsoWrite(*ctx.session.user(), ctx.row, args.all(), stream_))
    return true;
  const auto index =
      static_cast<size_t>(std::find(args.all().begin(), args.all().end(), stream_) - args.all().begin());
  NoteDenial(ctx.server,
             {.session = ctx.session,
              .client = ClientOf(ctx),
              .where = WhereIs(ctx.session, ctx.origin),
              .row = ctx.row,
              .arguments = args.all()},
             {Denial::kKey, index}, ctx.now);
  ctx.Fail("NOPERM this user has no permissions to access one of the keys used as arguments");
  return false;
}

}  // namespace mayfly
