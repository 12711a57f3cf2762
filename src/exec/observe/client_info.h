// The line of CLIENT LIST and CLIENT INFO about a client, and the kinds of clients.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "server/clients/session.h"
#include "server/waiting/parking.h"

namespace mayfly {

// As CLIENT LIST TYPE and CLIENT KILL TYPE name them.
enum class ClientType : uint8_t { kNormal, kMaster, kReplica, kPubSub };

// In any case; "slave" is a replica, "primary" Valkey's word for a master. Nothing for another word.
std::optional<ClientType> ClientTypeOf(std::string_view word) noexcept;
ClientType TypeOf(const Session& session) noexcept;

// Every letter that `flags` has in Redis or Valkey, whether or not a client here can have it.
inline constexpr std::string_view kClientFlags = "OSMPxbtRBdcuAUreTIN";
// The letters of this client, "N" where it has none.
std::string FlagsOf(const Session& session);

// Appends "id=3 addr=..." and a line feed: the fields of Redis 7.4 in its order, since clients split the
// line, and after them what Redis 8 and Valkey 8.1 count of its traffic.
void AppendClientLine(std::string& text, const Session& session, Now now);

}  // namespace mayfly
