// Which clients CLIENT KILL means: those that meet every condition it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "exec/client_info.h"
#include "exec/context.h"

namespace mayfly {

struct ClientFilter {
  std::optional<uint64_t> id = {};
  std::optional<ClientType> type = {};
  std::optional<std::string_view> address = {};
  std::optional<std::string_view> local_address = {};
  uint64_t least_age_seconds = 0;
  bool skip_me = true;

  bool Meets(const Session& session, const Session& me, Now now) const noexcept;
};

// Reads pairs of a condition and its value. False when the error was answered. (There is one user, so a USER
// that exists excludes nobody.)
bool ReadClientFilter(Context& ctx, Args& args, ClientFilter& filter);

}  // namespace mayfly
