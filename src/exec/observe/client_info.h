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

// The names in CLIENT LIST TYPE and CLIENT KILL TYPE.
enum class ClientType : uint8_t { kNormal, kMaster, kReplica, kPubSub };

// Finds in any case; "slave" is a replica, "primary" Valkey's word for a master. Returns nothing for another word.
std::optional<ClientType> ClientTypeOf(std::string_view word) noexcept;
ClientType TypeOf(const Session& session) noexcept;

// Every letter of `flags` in Redis or Valkey, possible here or not.
inline constexpr std::string_view kClientFlags = "OSMPxbtRBdcuAUreTIN";
// The letters of this client, "N" for none.
std::string FlagsOf(const Session& session);

// Appends "id=3 addr=..." and a line feed: the fields of Redis 7.4 in Redis's order, because clients split the line, and
// then the counts of the client's traffic from Redis 8 and Valkey 8.1.
void AppendClientLine(std::string& text, const Session& session, Now now);

}  // namespace mayfly
