// What a key has in Mayfly alone, for replicas: a message to a channel to which nobody subscribes. So servers of Redis and Valkey
// pass over it, and one stream serves all.
//
//   PUBLISH __mayfly__ "k" key, AUX fields     terms of the key, deadlines of its members: as in a snapshot (snapshot/key_terms.h,
//                                              snapshot/values/member_terms.h)
//   PUBLISH __mayfly__ "c" request             a command that older servers do not know, on deadlines of members
//   PUBLISH __mayfly__ "t" Unix time in ms     a cutoff: keys whose deadlines are at or before it are gone (replication/cutoff.h)
//   PUBLISH __mayfly__ "c" REPLCONF NOCUTOFF   from here on there is no cutoff. Older Mayflys pass over it, too
//
// Clients cannot send such a message: a master does not forward theirs, and a replica takes messages from a Mayfly alone, which
// tells so when the link is made (replication/handshake.h).
//
// A message concerns the database that is selected, and comes after the key's value or expiry.
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
// The subcommand of REPLCONF.
inline constexpr std::string_view kNoCutoff = "NOCUTOFF";

// The message with the facts of an entry of the keyspace; empty: it has none. Throws std::bad_alloc.
std::string FactsOf(const Keyspace& keyspace, const Entry& entry, Now now);
// Gives the key the facts of a message, but for its first byte. False: these are no facts. No effect if there is no such key.
// Throws std::bad_alloc.
bool TakeFacts(Keyspace& keyspace, std::string_view facts, Now now);

}  // namespace mayfly
