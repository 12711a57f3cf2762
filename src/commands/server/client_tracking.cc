// CLIENT TRACKING, CACHING, TRACKINGINFO, GETREDIR: client-side caching.
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "exec/dispatch/context.h"
#include "server/clients/sessions.h"
#include "server/clients/tracking_state.h"
#include "server/watch/tracking.h"

namespace mayfly::client_tracking_commands {
namespace {

struct TrackingRequest {
  TrackingOptions options;
  std::vector<std::string_view> prefixes;
};

// Returns false after an error reply.
bool ReadRedirect(Context& ctx, Args& args, TrackingOptions& options) {
  if (options.redirect != 0)
    return ctx.Fail("ERR A client can only redirect to a single other client"), false;
  const std::optional<int64_t> id = args.NextInteger();
  if (!id) return ctx.Fail(errors::kNotInteger), false;
  options.redirect = static_cast<uint64_t>(*id);
  if (ctx.server.sessions.by_id().contains(options.redirect)) return true;
  return ctx.Fail("ERR The client ID you want redirect to does not exist"), false;
}

bool ReadOptions(Context& ctx, Args& args, TrackingRequest& request) {
  while (!args.Done()) {
    if (args.Accept("REDIRECT", 1)) {
      if (!ReadRedirect(ctx, args, request.options)) return false;
    } else if (args.Accept("BCAST")) {
      request.options.broadcast = true;
    } else if (args.Accept("OPTIN")) {
      request.options.opt_in = true;
    } else if (args.Accept("OPTOUT")) {
      request.options.opt_out = true;
    } else if (args.Accept("NOLOOP")) {
      request.options.no_loop = true;
    } else if (args.Accept("PREFIX", 1)) {
      request.prefixes.push_back(args.Next());
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// Returns the error if the options conflict with each other or with the options in force; otherwise empty.
std::string_view ConflictOf(const TrackingRequest& request, const TrackingState* now) noexcept {
  const TrackingOptions& options = request.options;
  if (!options.broadcast && !request.prefixes.empty())
    return "ERR PREFIX option requires BCAST mode to be enabled";
  if (now != nullptr && now->options.broadcast != options.broadcast)
    return "ERR You can't switch BCAST mode on/off before disabling tracking for this client, and then "
           "re-enabling it with a different mode.";
  if (options.broadcast && (options.opt_in || options.opt_out))
    return "ERR OPTIN and OPTOUT are not compatible with BCAST";
  if (options.opt_in && options.opt_out) return "ERR You can't specify both OPTIN mode and OPTOUT mode";
  if (now != nullptr &&
      ((options.opt_in && now->options.opt_out) || (options.opt_out && now->options.opt_in)))
    return "ERR You can't switch OPTIN/OPTOUT mode before disabling tracking for this client, and then "
           "re-enabling it with a different mode.";
  return {};
}

bool Overlap(std::string_view a, std::string_view b) noexcept { return a.starts_with(b) || b.starts_with(a); }

// Returns the index of the first prefix in the request that overlaps with another prefix of the request or the client; the
// number of prefixes without an overlap. Sorting the texts puts a prefix right before the texts that begin with it, so the
// loop need not compare all pairs.
size_t FirstThatOverlaps(const TrackingRequest& request, const TrackingState* now) {
  struct Item {
    std::string_view text;
    size_t index;
  };
  std::vector<Item> items;
  items.reserve(request.prefixes.size());
  for (size_t i = 0; i < request.prefixes.size(); ++i) items.push_back({request.prefixes[i], i});
  if (now != nullptr) {
    for (const std::string& old : now->prefixes) items.push_back({old, SIZE_MAX});
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.text < b.text; });
  size_t first = request.prefixes.size();
  const Item* shorter = nullptr;
  for (const Item& item : items) {
    if (shorter != nullptr && item.text.starts_with(shorter->text))
      first = std::min({first, item.index, shorter->index});
    else
      shorter = &item;
  }
  return first;
}

// A key must not be reported twice to one client. Returns the error; empty without an error.
std::string OverlapOf(const TrackingRequest& request, const TrackingState* now) {
  const size_t first = FirstThatOverlaps(request, now);
  if (first == request.prefixes.size()) return {};
  const std::string_view prefix = request.prefixes[first];
  if (now != nullptr) {
    for (const std::string& other : now->prefixes) {
      if (Overlap(prefix, other))
        return "ERR Prefix '" + std::string(prefix) + "' overlaps with an existing prefix '" + other +
               "'. Prefixes for a single client must not overlap.";
    }
  }
  size_t other = first + 1;
  while (!Overlap(prefix, request.prefixes[other])) ++other;
  return "ERR Prefix '" + std::string(prefix) + "' overlaps with another provided prefix '" +
         std::string(request.prefixes[other]) + "'. Prefixes for a single client must not overlap.";
}

void ClientTracking(Context& ctx, Args& args) {
  const bool on = args.Accept("ON");
  if (!on && !args.Accept("OFF")) {
    args.Skip(1);
    TrackingRequest unused;
    return ReadOptions(ctx, args, unused) ? ctx.Fail(errors::kSyntax) : void();
  }
  TrackingRequest request;
  if (!ReadOptions(ctx, args, request)) return;
  if (!on) {
    ctx.server.tracking.Stop(ctx.session);
    return ctx.reply.Ok();
  }
  const TrackingState* const now = ctx.session.tracking.get();
  if (const std::string_view conflict = ConflictOf(request, now); !conflict.empty())
    return ctx.Fail(conflict);
  if (request.options.broadcast) {
    if (const std::string overlap = OverlapOf(request, now); !overlap.empty()) return ctx.Fail(overlap);
  }
  ctx.server.tracking.Start(ctx.session, request.options, request.prefixes);
  const auto target = ctx.server.sessions.by_id().find(request.options.redirect);
  if (target != ctx.server.sessions.by_id().end()) target->second->Set(Mode::kPushTarget);
  ctx.reply.Ok();
}

void ClientCaching(Context& ctx, Args& args) {
  TrackingState* const state = ctx.session.tracking.get();
  if (state == nullptr)
    return ctx.Fail(
        "ERR CLIENT CACHING can be called only when the client is in tracking mode with OPTIN or OPTOUT "
        "mode enabled");
  if (args.Accept("YES")) {
    if (!state->options.opt_in)
      return ctx.Fail("ERR CLIENT CACHING YES is only valid when tracking is enabled in OPTIN mode.");
  } else if (args.Accept("NO")) {
    if (!state->options.opt_out)
      return ctx.Fail("ERR CLIENT CACHING NO is only valid when tracking is enabled in OPTOUT mode.");
  } else {
    return ctx.Fail(errors::kSyntax);
  }
  state->caching = true;
  ctx.reply.Ok();
}

int64_t RedirectOf(const Session& session) noexcept {
  return session.tracking == nullptr ? -1 : static_cast<int64_t>(session.tracking->options.redirect);
}

void ClientGetRedir(Context& ctx, Args&) { ctx.reply.Integer(RedirectOf(ctx.session)); }

std::vector<std::string_view> FlagsOf(const TrackingState* state) {
  if (state == nullptr) return {"off"};
  std::vector<std::string_view> flags = {"on"};
  const TrackingOptions& options = state->options;
  if (options.broadcast) flags.push_back("bcast");
  if (options.opt_in) flags.push_back("optin");
  if (options.opt_in && state->caching) flags.push_back("caching-yes");
  if (options.opt_out) flags.push_back("optout");
  if (options.opt_out && state->caching) flags.push_back("caching-no");
  if (options.no_loop) flags.push_back("noloop");
  if (state->redirect_broken) flags.push_back("broken_redirect");
  return flags;
}

void ClientTrackingInfo(Context& ctx, Args&) {
  const TrackingState* const state = ctx.session.tracking.get();
  const std::vector<std::string_view> flags = FlagsOf(state);
  ctx.reply.Map(3);
  ctx.reply.Bulk("flags");
  ctx.reply.Set(flags.size());
  for (const std::string_view flag : flags) ctx.reply.Bulk(flag);
  ctx.reply.Bulk("redirect");
  ctx.reply.Integer(RedirectOf(ctx.session));
  ctx.reply.Bulk("prefixes");
  std::vector<std::string> prefixes = state == nullptr ? std::vector<std::string>() : state->prefixes;
  std::sort(prefixes.begin(), prefixes.end());
  ctx.reply.Array(prefixes.size());
  for (const std::string& prefix : prefixes) ctx.reply.Bulk(prefix);
}

constexpr uint32_t kFlags = kNoScript | kLoading | kStale;

constexpr Command kRows[] = {
    {.name = "caching",
     .arity = 3,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientCaching,
     .since = "6.0.0",
     .complexity = "O(1)",
     .summary = "Says whether the keys that the next request reads are remembered, under OPTIN and OPTOUT.",
     .syntax = "YES|NO",
     .argument_notes = "condition=mode"},
    {.name = "getredir",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientGetRedir,
     .since = "6.0.0",
     .complexity = "O(1)",
     .summary = "Answers which client gets this one's invalidation messages: 0 itself, -1 without tracking."},
    {.name = "tracking",
     .arity = -3,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientTracking,
     .since = "6.0.0",
     .complexity = "O(1); O(n) in the number of prefixes",
     .summary = "Tells the client when keys change that it has read, so that it may cache them.",
     .syntax = "ON|OFF [REDIRECT client-id] [PREFIX prefix] ... [BCAST] [OPTIN] [OPTOUT] [NOLOOP]",
     .argument_notes = "condition=status"},
    {.name = "trackinginfo",
     .arity = 2,
     .flags = kFlags,
     .acl = kAclConnection,
     .handler = ClientTrackingInfo,
     .since = "6.2.0",
     .complexity = "O(1)",
     .summary = "Shows what CLIENT TRACKING has set."},
};

const CommandFamily kFamily("connection", kRows, "client");

}  // namespace
}  // namespace mayfly::client_tracking_commands
