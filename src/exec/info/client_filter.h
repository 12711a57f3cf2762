// Selects the clients of CLIENT KILL and CLIENT LIST: the clients that meet every given condition. Both commands read the
// same conditions, with the different answers of Redis to a wrong ID.
//
// Holds views of the arguments: dies when the handler returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/dispatch/context.h"
#include "exec/observe/client_info.h"
#include "server/clients/sessions.h"
#include "server/figures/link_figures.h"

namespace mayfly {

struct ClientFilter {
  // In the given order; nothing: any id.
  std::optional<std::vector<uint64_t>> ids = {};
  std::optional<ClientType> type = {};
  std::optional<std::string_view> address = {};
  std::optional<std::string_view> local_address = {};
  std::optional<std::string_view> ip = {};
  std::optional<std::string_view> name = {};
  std::optional<std::string_view> lib_name = {};
  std::optional<std::string_view> lib_version = {};
  std::optional<std::string_view> flags = {};  // letters of CLIENT LIST, all required
  const User* user = nullptr;                  // null: any
  std::optional<unsigned> db = {};
  uint64_t least_age_seconds = 0;
  uint64_t least_idle_seconds = 0;
  bool skip_me = false;

  // True if the client meets every condition except `ids`; ForEachMatch applies `ids`.
  bool Meets(const Session& session, const Session& me, Now now) const;
};

// Which words after ID are client numbers. Any other word is refused with the command's own error.
enum class IdRule : uint8_t {
  kList,  // CLIENT LIST: all integers
  kKill,  // CLIENT KILL: positive integers
};

// Reads pairs of a condition and a value. False after an error reply.
bool ReadClientFilter(Context& ctx, Args& args, IdRule rule, ClientFilter& filter);

// Calls `fn` with each session that meets `filter`: in the order of the filter's ids, or else of all ids. One of them may stand
// for the link to the master.
template <typename Fn>
void ForEachMatch(const Context& ctx, const ClientFilter& filter, Fn&& fn) {
  const auto& sessions = ctx.server.sessions.by_id();
  Session* const master = ctx.server.link.client;
  const auto visit = [&](Session& session) {
    if (filter.Meets(session, ctx.session, ctx.now)) fn(session);
  };
  if (filter.ids) {
    for (const uint64_t id : *filter.ids) {
      if (master != nullptr && master->id == id) visit(*master);
      if (const auto found = sessions.find(id); found != sessions.end()) visit(*found->second);
    }
    return;
  }
  const auto after = master != nullptr ? sessions.upper_bound(master->id) : sessions.end();
  for (auto at = sessions.begin(); at != after; ++at) visit(*at->second);
  if (master != nullptr) visit(*master);
  for (auto at = after; at != sessions.end(); ++at) visit(*at->second);
}

}  // namespace mayfly
