// Which clients CLIENT KILL and CLIENT LIST mean: those that meet every condition that is named. Both read
// the same conditions; they differ in what Redis has always answered for an ID that is none.
//
// Holds views of the arguments: it dies when the handler returns.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "exec/client_info.h"
#include "exec/context.h"

namespace mayfly {

struct ClientFilter {
  // In the order in which they were given; nothing: clients of every number.
  std::optional<std::vector<uint64_t>> ids = {};
  std::optional<ClientType> type = {};
  std::optional<std::string_view> address = {};
  std::optional<std::string_view> local_address = {};
  std::optional<std::string_view> ip = {};
  std::optional<std::string_view> name = {};
  std::optional<std::string_view> lib_name = {};
  std::optional<std::string_view> lib_version = {};
  std::optional<std::string_view> flags = {};  // letters of CLIENT LIST, all of them
  std::optional<unsigned> db = {};
  uint64_t least_age_seconds = 0;
  uint64_t least_idle_seconds = 0;
  bool skip_me = false;

  // Whether the client meets every condition but `ids`, which ForEachMatch goes by.
  bool Meets(const Session& session, const Session& me, Now now) const;
};

// What an ID that is no number, or not a positive one, is answered with.
enum class IdRule : uint8_t {
  kList,  // CLIENT LIST: any number is one, of a client that may not be there
  kKill,  // CLIENT KILL: only positive numbers are
};

// Reads pairs of a condition and its value. False when the error was answered. (There is one user, so a USER
// that exists excludes nobody.)
bool ReadClientFilter(Context& ctx, Args& args, IdRule rule, ClientFilter& filter);

// Calls `fn` with each session that `filter` means: in the order of the ids that it names, else of all ids.
template <typename Fn>
void ForEachMatch(const Context& ctx, const ClientFilter& filter, Fn&& fn) {
  const auto& sessions = ctx.server.sessions.by_id();
  if (!filter.ids) {
    for (const auto& [id, session] : sessions) {
      if (filter.Meets(*session, ctx.session, ctx.now)) fn(*session);
    }
    return;
  }
  for (const uint64_t id : *filter.ids) {
    const auto found = sessions.find(id);
    if (found != sessions.end() && filter.Meets(*found->second, ctx.session, ctx.now)) fn(*found->second);
  }
}

}  // namespace mayfly
