// A key's facts that only Mayfly knows, as a message for replicas to a channel without subscribers. Servers of Redis and
// Valkey ignore the message: one stream serves all replicas.
//
//   PUBLISH __mayfly__ "k" key, AUX fields     terms of the key, deadlines of members: as in a snapshot (snapshot/key_terms.h,
//                                              snapshot/values/member_terms.h)
//   PUBLISH __mayfly__ "c" request             a command on deadlines of members, unknown to older servers
//   PUBLISH __mayfly__ "t" Unix time in ms     a cutoff: keys with deadlines at or before it are gone (replication/cutoff.h)
//   PUBLISH __mayfly__ "c" REPLCONF NOCUTOFF   ends the cutoff. Older versions of Mayfly ignore this message, too
//
// Clients cannot forge a message: a master does not forward clients' messages to this channel, and a replica accepts messages
// only from a Mayfly. The handshake tells if the master is a Mayfly (replication/handshake.h).
//
// A message concerns the selected database, and follows the key's value or expiry.
#pragma once

#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/entry.h"

namespace mayfly {

class Keyspace;

inline constexpr std::string_view kFactsChannel = "__mayfly__";
inline constexpr char kFactsOfKey = 'k';
inline constexpr char kFactsCommand = 'c';
inline constexpr char kFactsCutoff = 't';
// The subcommand of REPLCONF that ends a cutoff.
inline constexpr std::string_view kNoCutoff = "NOCUTOFF";

// Returns the message with the facts of an entry of the keyspace; "" if the entry has none. Throws std::bad_alloc.
std::string FactsOf(const Keyspace& keyspace, const Entry& entry, Now now);
// Gives the key the facts of a message without its first byte. Returns false if the bytes are not facts. No effect if the key
// does not exist. Throws std::bad_alloc.
bool TakeFacts(Keyspace& keyspace, std::string_view facts, Now now);

}  // namespace mayfly
