#include "differential/gaps.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text/numbers.h"
#include "differential/words.h"

namespace mayfly::testing {
namespace {

constexpr Gap kGaps[] = {
    {"acl|cat", "", GapKind::kNotSent,
     "our own commands have categories, too; acl_oracle_test.cc compares the rest"},
    {"acl|deluser", "", GapKind::kNotSent, "as SETUSER"},
    {"acl|dryrun", "", GapKind::kNotSent, "as SETUSER"},
    {"acl|genpass", "", GapKind::kNotSent, "it is random; acl_test.cc covers it"},
    {"acl|load", "", GapKind::kNeverAccepted, "neither server has an aclfile"},
    {"acl|log", "", GapKind::kNotSent, "it shows clients, who differ; acl_oracle_test.cc compares the rest"},
    {"acl|save", "", GapKind::kNeverAccepted, "as LOAD"},
    {"acl|setuser", "", GapKind::kNotSent,
     "the requests that follow would be refused; acl_oracle_test.cc compares a list of rules"},
    {"asking", "", GapKind::kNeverAccepted, "there is no cluster"},
    {"bigkeys", "", GapKind::kUnknown, "of Mayfly; top_keys_test.cc covers it"},
    {"bgsave", "", GapKind::kNotSent, "how long a save takes differs; snapshot_test.cc covers it"},
    {"blmove", "", GapKind::kNotSent, "it may wait for ever; list_blocking_test.cc covers it"},
    {"blmpop", "", GapKind::kNotSent, "as BLMOVE"},
    {"blpop", "", GapKind::kNotSent, "as BLMOVE"},
    {"brpop", "", GapKind::kNotSent, "as BLMOVE"},
    {"brpoplpush", "", GapKind::kNotSent, "as BLMOVE"},
    {"bzmpop", "", GapKind::kNotSent, "as BLMOVE; zset_pop_test.cc covers it"},
    {"bzpopmax", "", GapKind::kNotSent, "as BZMPOP"},
    {"bzpopmin", "", GapKind::kNotSent, "as BZMPOP"},
    {"client|caching", "", GapKind::kNeverAccepted, "nobody tracks; tracking_test.cc covers it"},
    {"client|kill", "MAXAGE", GapKind::kUnknown, "since 7.4; client_kill_test.cc covers it"},
    {"client|kill", "NAME", GapKind::kUnknown, "of Valkey 9; client_filter_test.cc covers it"},
    {"client|kill", "IDLE", GapKind::kUnknown, "as NAME"},
    {"client|kill", "FLAGS", GapKind::kUnknown, "as NAME"},
    {"client|kill", "LIB-NAME", GapKind::kUnknown, "as NAME"},
    {"client|kill", "LIB-VER", GapKind::kUnknown, "as NAME"},
    {"client|kill", "DB", GapKind::kUnknown, "as NAME"},
    {"client|kill", "IP", GapKind::kUnknown, "as NAME"},
    {"client|kill", "USER", GapKind::kNeverAccepted,
     "no user is drawn that exists; client_kill_test.cc covers it"},
    {"client|list", "USER", GapKind::kUnknown, "of Valkey 8.1 and 9; client_filter_test.cc covers it"},
    {"client|list", "ADDR", GapKind::kUnknown, "as USER"},
    {"client|list", "LADDR", GapKind::kUnknown, "as USER"},
    {"client|list", "SKIPME", GapKind::kUnknown, "as USER"},
    {"client|list", "YES", GapKind::kUnknown, "as USER"},
    {"client|list", "NO", GapKind::kUnknown, "as USER"},
    {"client|list", "MAXAGE", GapKind::kUnknown, "as USER"},
    {"client|list", "NAME", GapKind::kUnknown, "as USER"},
    {"client|list", "IDLE", GapKind::kUnknown, "as USER"},
    {"client|list", "FLAGS", GapKind::kUnknown, "as USER"},
    {"client|list", "LIB-NAME", GapKind::kUnknown, "as USER"},
    {"client|list", "LIB-VER", GapKind::kUnknown, "as USER"},
    {"client|list", "DB", GapKind::kUnknown, "as USER"},
    {"client|list", "IP", GapKind::kUnknown, "as USER"},
    {"client|no-touch", "", GapKind::kUnknown, "since 7.2; client_modes_test.cc covers it"},
    {"client|pause", "", GapKind::kNotSent, "time stands still here; client_pause_test.cc covers it"},
    {"client|tracking", "", GapKind::kNotSent, "replies and messages would mix; tracking_test.cc covers it"},
    {"client|setinfo", "", GapKind::kUnknown, "since 7.2; client_test.cc covers it"},
    {"cluster", "", GapKind::kNeverAccepted, "none of its subcommands is accepted"},
    {"cluster|addslots", "", GapKind::kNeverAccepted, "there is no cluster; cluster_test.cc covers it"},
    {"cluster|addslotsrange", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|bumpepoch", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|count-failure-reports", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|countkeysinslot", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|delslots", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|delslotsrange", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|failover", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|flushslots", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|forget", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|getkeysinslot", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|help", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|info", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|keyslot", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|links", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|meet", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|myid", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|myshardid", "", GapKind::kUnknown, "since 7.2; cluster_test.cc covers it"},
    {"cluster|nodes", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|replicas", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|replicate", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|reset", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|saveconfig", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|set-config-epoch", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|setslot", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|shards", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|slaves", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"cluster|slots", "", GapKind::kNeverAccepted, "as ADDSLOTS"},
    {"command|docs", "", GapKind::kNeverRefused, "what nobody knows is left out"},
    {"command|info", "", GapKind::kNeverRefused, "what nobody knows is nil"},
    {"config|rewrite", "", GapKind::kNeverAccepted, "neither server has a conf file"},
    {"debug", "", GapKind::kNeverAccepted, "off in both; debug_test.cc covers it"},
    {"delex", "", GapKind::kUnknown, "since 8.4; string_compare_test.cc covers it"},
    {"delifeq", "", GapKind::kUnknown, "of Valkey 9.0; string_compare_test.cc covers it"},
    {"digest", "", GapKind::kUnknown, "since 8.4; string_compare_test.cc covers it"},
    {"discard", "", GapKind::kNeverAccepted, "no transaction is begun; transaction_test.cc covers it"},
    {"exec", "", GapKind::kNeverAccepted, "as DISCARD"},
    {"geopos", "", GapKind::kNewer, "7.0 writes coordinates with 17 digits after the point"},
    {"georadius", "WITHCOORD", GapKind::kNewer, "as GEOPOS"},
    {"georadius_ro", "WITHCOORD", GapKind::kNewer, "as GEOPOS"},
    {"georadiusbymember", "WITHCOORD", GapKind::kNewer, "as GEOPOS"},
    {"georadiusbymember_ro", "WITHCOORD", GapKind::kNewer, "as GEOPOS"},
    {"geosearch", "WITHCOORD", GapKind::kNewer, "as GEOPOS"},
    {"drain", "", GapKind::kUnknown, "of Mayfly; tasks_test.cc covers it"},
    {"eval", "", GapKind::kNotSent, "scripts are not drawn; script_oracle_test.cc compares a list of them"},
    {"eval_ro", "", GapKind::kNotSent, "as EVAL"},
    {"evalsha", "", GapKind::kNotSent, "as EVAL"},
    {"evalsha_ro", "", GapKind::kNotSent, "as EVAL"},
    {"expire", "INTO", GapKind::kUnknown, "of Mayfly; tasks_test.cc covers it"},
    {"expire", "JITTER", GapKind::kUnknown, "of Mayfly; ttl_words_test.cc covers it"},
    {"expire", "MAX", GapKind::kUnknown, "as JITTER"},
    {"expire", "MAXLEN", GapKind::kUnknown, "as INTO"},
    {"expire", "SLIDE", GapKind::kUnknown, "as JITTER"},
    {"expireat", "INTO", GapKind::kUnknown, "as EXPIRE"},
    {"expireat", "MAXLEN", GapKind::kUnknown, "as EXPIRE"},
    {"expiremember", "", GapKind::kUnknown, "of KeyDB; member_expire_test.cc covers it"},
    {"expirememberat", "", GapKind::kUnknown, "of KeyDB; member_expire_test.cc covers it"},
    {"expiring", "", GapKind::kUnknown, "of Mayfly; expiring_test.cc covers it"},
    {"explog", "", GapKind::kUnknown, "of Mayfly; explog_test.cc covers it"},
    {"explog|ack", "", GapKind::kUnknown, "as EXPLOG"},
    {"explog|help", "", GapKind::kUnknown, "as EXPLOG"},
    {"explog|info", "", GapKind::kUnknown, "as EXPLOG"},
    {"explog|read", "", GapKind::kUnknown, "as EXPLOG"},
    {"failover", "", GapKind::kNeverAccepted, "there are no replicas; failover_test.cc covers it"},
    {"fieldttl", "", GapKind::kUnknown, "of Dragonfly; member_expire_test.cc covers it"},
    {"fcall", "", GapKind::kNotSent, "as EVAL"},
    {"fcall_ro", "", GapKind::kNotSent, "as EVAL"},
    {"function|delete", "", GapKind::kNotSent, "as EVAL"},
    {"function|dump", "", GapKind::kNotSent, "as EVAL; function_dump_oracle_test.cc compares it"},
    {"function|flush", "", GapKind::kNotSent, "as EVAL"},
    {"function|kill", "", GapKind::kNotSent, "as EVAL"},
    {"function|list", "", GapKind::kNotSent, "as EVAL"},
    {"function|load", "", GapKind::kNotSent, "as EVAL"},
    {"function|restore", "", GapKind::kNotSent, "as DUMP"},
    {"function|stats", "", GapKind::kNotSent, "as EVAL"},
    {"getex", "JITTER", GapKind::kUnknown, "of Mayfly; ttl_words_test.cc covers it"},
    {"getex", "MAX", GapKind::kUnknown, "as JITTER"},
    {"getex", "SLIDE", GapKind::kUnknown, "as JITTER"},
    {"getttl", "", GapKind::kUnknown, "of Mayfly; string_peek_test.cc covers it"},
    {"hexpire", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hexpireat", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hexpiretime", "", GapKind::kUnknown,
     "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hgetdel", "", GapKind::kUnknown, "since 8.0; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hgetex", "", GapKind::kUnknown, "since 8.0; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hotkeys", "", GapKind::kUnknown, "of Mayfly; top_keys_test.cc covers it"},
    {"hpersist", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hpexpire", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hpexpireat", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hpexpiretime", "", GapKind::kUnknown,
     "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hpttl", "", GapKind::kUnknown, "since 7.4; hash_expire_test.cc and newer_oracle_test.cc cover it"},
    {"hscan", "NOVALUES", GapKind::kNotSent,
     "since 7.4, and nobody reads the options for an absent key; newer_oracle_test.cc covers it"},
    {"hsetex", "", GapKind::kUnknown, "as HGETEX"},
    {"httl", "", GapKind::kUnknown, "as HPTTL"},
    {"increx", "", GapKind::kUnknown, "since 8.8; string_increx_test.cc covers it"},
    {"info", "", GapKind::kNeverRefused, "sections that nobody knows are empty"},
    {"invalidate", "", GapKind::kUnknown, "as TAG"},
    {"latency|graph", "", GapKind::kNeverAccepted, "nothing is watched; latency_test.cc covers it"},
    {"latency|histogram", "", GapKind::kNeverRefused, "what nobody knows is left out"},
    {"latency|reset", "", GapKind::kNeverRefused, "as HISTOGRAM"},
    {"mgetttl", "", GapKind::kUnknown, "of Mayfly; string_peek_test.cc covers it"},
    {"migrate", "", GapKind::kNotSent, "it would wait for another server; migrate_test.cc covers it"},
    {"module|load", "", GapKind::kNeverAccepted, "off in the oracle, impossible here"},
    {"module|loadex", "", GapKind::kNeverAccepted, "off in the oracle, impossible here"},
    {"module|unload", "", GapKind::kNeverAccepted, "off in the oracle, impossible here"},
    {"monitor", "", GapKind::kNotSent, "replies would follow without requests; monitor_test.cc covers it"},
    {"msetex", "", GapKind::kUnknown, "since 8.4; string_mset_test.cc covers it"},
    {"multi", "", GapKind::kNotSent, "what follows would be queued; transaction_test.cc covers it"},
    {"namespace", "", GapKind::kUnknown, "of Mayfly; namespaces_test.cc covers it"},
    {"namespace|del", "", GapKind::kUnknown, "as NAMESPACE"},
    {"namespace|help", "", GapKind::kUnknown, "as NAMESPACE"},
    {"namespace|list", "", GapKind::kUnknown, "as NAMESPACE"},
    {"namespace|set", "", GapKind::kUnknown, "as NAMESPACE"},
    {"nsflush", "", GapKind::kUnknown, "of Mayfly; namespaces_test.cc covers it"},
    {"peek", "", GapKind::kUnknown, "of Mayfly; string_peek_test.cc covers it"},
    {"pexpire", "INTO", GapKind::kUnknown, "of Mayfly; tasks_test.cc covers it"},
    {"pexpire", "JITTER", GapKind::kUnknown, "of Mayfly; ttl_words_test.cc covers it"},
    {"pexpire", "MAX", GapKind::kUnknown, "as JITTER"},
    {"pexpire", "MAXLEN", GapKind::kUnknown, "as INTO"},
    {"pexpire", "SLIDE", GapKind::kUnknown, "as JITTER"},
    {"pexpireat", "INTO", GapKind::kUnknown, "as EXPIRE"},
    {"pexpireat", "MAXLEN", GapKind::kUnknown, "as EXPIRE"},
    {"pexpirememberat", "", GapKind::kUnknown, "of KeyDB; member_expire_test.cc covers it"},
    {"psubscribe", "", GapKind::kNotSent, "as SUBSCRIBE"},
    {"psync", "", GapKind::kNotSent, "as SYNC"},
    {"punsubscribe", "", GapKind::kNotSent, "as SUBSCRIBE"},
    {"pubsub|numsub", "", GapKind::kNeverRefused, "any text names a channel"},
    {"pubsub|shardnumsub", "", GapKind::kNeverRefused, "as NUMSUB"},
    {"quit", "", GapKind::kNeverRefused, "arguments are ignored"},
    {"readonly", "", GapKind::kNeverAccepted, "there is no cluster"},
    {"readwrite", "", GapKind::kNeverAccepted, "there is no cluster"},
    {"replicaof", "", GapKind::kNotSent,
     "one of two servers would get other keys; replica_test.cc covers it"},
    {"restore-asking", "", GapKind::kNotSent, "as RESTORE"},
    {"saddex", "", GapKind::kUnknown, "of Dragonfly; member_expire_test.cc covers it"},
    {"script|exists", "", GapKind::kNotSent, "as EVAL"},
    {"script|flush", "", GapKind::kNotSent, "as EVAL"},
    {"script|kill", "", GapKind::kNotSent, "as EVAL"},
    {"script|load", "", GapKind::kNotSent, "as EVAL"},
    {"script|show", "", GapKind::kUnknown, "of Valkey 8.0; script_test.cc covers it"},
    {"set", "IFDEQ", GapKind::kUnknown, "since 8.4; string_set_test.cc covers it"},
    {"set", "IFDNE", GapKind::kUnknown, "as IFDEQ"},
    {"set", "IFEQ", GapKind::kUnknown, "as IFDEQ"},
    {"set", "IFLEASE", GapKind::kUnknown, "of Mayfly; take_test.cc covers it"},
    {"set", "IFNE", GapKind::kUnknown, "as IFDEQ"},
    {"set", "INTO", GapKind::kUnknown, "of Mayfly; tasks_test.cc covers it"},
    {"set", "JITTER", GapKind::kUnknown, "of Mayfly; ttl_words_test.cc covers it"},
    {"set", "MAX", GapKind::kUnknown, "as JITTER"},
    {"set", "MAXLEN", GapKind::kUnknown, "as INTO"},
    {"set", "SLIDE", GapKind::kUnknown, "as JITTER"},
    {"set", "STALE", GapKind::kUnknown, "of Mayfly; stale_test.cc covers it"},
    {"set", "TAGS", GapKind::kUnknown, "of Mayfly; tag_test.cc covers it"},
    {"sexpire", "", GapKind::kUnknown, "since 8.12; set_expire_test.cc covers it"},
    {"sexpireat", "", GapKind::kUnknown, "as SEXPIRE"},
    {"sexpiretime", "", GapKind::kUnknown, "as SEXPIRE"},
    {"slaveof", "", GapKind::kNotSent, "as REPLICAOF"},
    {"spersist", "", GapKind::kUnknown, "as SEXPIRE"},
    {"spexpire", "", GapKind::kUnknown, "as SEXPIRE"},
    {"spexpireat", "", GapKind::kUnknown, "as SEXPIRE"},
    {"spexpiretime", "", GapKind::kUnknown, "as SEXPIRE"},
    {"spttl", "", GapKind::kUnknown, "as SEXPIRE"},
    {"sttl", "", GapKind::kUnknown, "as SEXPIRE"},
    {"replconf", "", GapKind::kNotSent, "as SYNC"},
    {"save", "", GapKind::kNotSent, "as BGSAVE"},
    {"shutdown", "", GapKind::kNeverAccepted,
     "it would end the oracle; life_test.cc of integration covers it"},
    {"ssubscribe", "", GapKind::kNotSent, "as SUBSCRIBE"},
    {"sync", "", GapKind::kNotSent, "a snapshot is no reply; replication_test.cc covers it"},
    {"subscribe", "", GapKind::kNotSent, "several replies to one request; pubsub_test.cc covers it"},
    {"sunsubscribe", "", GapKind::kNotSent, "as SUBSCRIBE"},
    {"tag", "", GapKind::kUnknown, "of Mayfly; tag_test.cc covers it"},
    {"taginfo", "", GapKind::kUnknown, "as TAG"},
    {"tags", "", GapKind::kUnknown, "as TAG"},
    {"timers", "", GapKind::kUnknown, "as DRAIN"},
    {"take", "", GapKind::kUnknown, "of Mayfly; take_test.cc covers it"},
    {"unlease", "", GapKind::kUnknown, "as TAKE"},
    {"unsubscribe", "", GapKind::kNotSent, "as SUBSCRIBE"},
    {"xread", "BLOCK", GapKind::kNotSent, "time stands still here; stream_test.cc covers it"},
    {"xadd", "*", GapKind::kNotSent, "the clocks differ; stream_test.cc covers it"},
    {"waitaof", "", GapKind::kUnknown, "since 7.2; replication_test.cc covers it"},
    {"xackdel", "", GapKind::kUnknown, "since 8.2; stream_references_test.cc covers it"},
    {"xautoclaim", "", GapKind::kNewer, "as XREADGROUP"},
    {"xclaim", "", GapKind::kNewer, "as XREADGROUP"},
    {"xreadgroup", "", GapKind::kNewer, "since 7.2 a consumer is made, and seen, without an entry, too"},
    {"xsetid", "", GapKind::kNewer, "7.0 goes back below the highest ID that was deleted"},
    {"xadd", "KEEPREF", GapKind::kUnknown, "since 8.2; stream_references_test.cc covers it"},
    {"xadd", "DELREF", GapKind::kUnknown, "as KEEPREF"},
    {"xadd", "ACKED", GapKind::kUnknown, "as KEEPREF"},
    {"xdelex", "", GapKind::kUnknown, "since 8.2; stream_references_test.cc covers it"},
    {"xreadgroup", "BLOCK", GapKind::kNotSent, "as XREAD; stream_group_test.cc covers it"},
    {"xreadgroup", "CLAIM", GapKind::kUnknown, "since 8.4; stream_group_test.cc covers it"},
    {"xtrim", "KEEPREF", GapKind::kUnknown, "as XADD"},
    {"xtrim", "DELREF", GapKind::kUnknown, "as XADD"},
    {"xtrim", "ACKED", GapKind::kUnknown, "as XADD"},
    {"zrank", "WITHSCORE", GapKind::kUnknown, "since 7.2; zset_test.cc covers it"},
    {"zrevrank", "WITHSCORE", GapKind::kUnknown, "as ZRANK"},
    {"zscan", "NOSCORES", GapKind::kNotSent,
     "of Valkey 8.0, and nobody reads the options for an absent key; zset_test.cc covers it"},
};

constexpr RoughRow kRoughRows[] = {
    {"client|kill", "connections end"},
    {"client|reply", "replies are left out"},
    {"hello", "7.0 logs in and takes the name before it finds a later error, 7.2 and we when all is well"},
    {"quit", "the connection ends"},
    {"shutdown", "where it is not refused, the server ends"},
};

// SHUTDOWN is refused with ABORT while nothing ends, with SAVE and NOSAVE together, and with a word that it
// does not know.
bool EndsOracle(const Words& request) {
  if (UpperCase(request[0]) != "SHUTDOWN") return false;
  bool save = false, nosave = false;
  for (size_t i = 1; i < request.size(); ++i) {
    const std::string word = UpperCase(request[i]);
    if (word == "SAVE") {
      save = true;
    } else if (word == "NOSAVE") {
      nosave = true;
    } else if (word != "NOW" && word != "FORCE") {
      return false;
    }
  }
  return !save || !nosave;
}

// Redis waits for replicas that never come, and 7.0 takes a timeout whose end does not fit into 64 bits.
bool WaitsTooLong(const Words& request) {
  if (UpperCase(request[0]) != "WAIT" || request.size() != 3) return false;
  const std::optional<int64_t> replicas = ParseInteger(request[1]);
  const std::optional<int64_t> timeout_ms = ParseInteger(request[2]);
  return (replicas && *replicas > 0) || (timeout_ms && *timeout_ms > INT64_MAX / 2);
}

// The index of a duration that follows a name without an option word; 0 if the row has none.
size_t PlaceOfDuration(const RowSyntax& syntax) {
  for (size_t i = 0; i < syntax.arguments.size(); ++i) {
    const SyntaxArgument& argument = syntax.arguments[i];
    if (argument.name == "seconds" || argument.name == "milliseconds" || argument.name == "ttl")
      return syntax.Name().size() + i;
  }
  return 0;
}

// HRANDFIELD, SRANDMEMBER and ZRANDMEMBER answer with as many members as a negative count says.
bool PicksTooMany(const Case& drawn) {
  constexpr int64_t kMany = 1000;
  if (drawn.words.size() < 3) return false;
  const std::string name = UpperCase(drawn.words[0]);
  if (name != "HRANDFIELD" && name != "SRANDMEMBER" && name != "ZRANDMEMBER") return false;
  const std::optional<int64_t> count = ParseInteger(drawn.words[2]);
  return count && *count < -kMany;
}

// SORT BY texts leaves those with equal texts in an order of the server's own; and with LIMIT and STORE that is
// which of them it takes.
bool HasTies(const Words& request) {
  const auto has = [&](std::string_view word) {
    return std::any_of(request.begin(), request.end(),
                       [&](const std::string& one) { return UpperCase(one) == word; });
  };
  return UpperCase(request[0]).starts_with("SORT") && has("BY") && has("ALPHA") &&
         (has("LIMIT") || has("STORE"));
}

// A key that is due while the test runs: one server may see it still, the other no longer.
bool ExpiresSoon(const Case& drawn) {
  constexpr int64_t kSoon = 1'000'000;  // milliseconds; and more than soon as seconds
  if (drawn.syntax == nullptr) return false;
  const size_t place = PlaceOfDuration(*drawn.syntax);
  for (size_t i = 2; i < drawn.words.size(); ++i) {
    const std::string before = UpperCase(drawn.words[i - 1]);
    if (i != place && before != "EX" && before != "PX") continue;
    const std::optional<int64_t> number = ParseInteger(drawn.words[i]);
    if (number && *number > 0 && *number < kSoon) return true;
  }
  return false;
}

// Where a field is set to a value far below its least one, Redis's check for a value that is too big wraps,
// so it saturates to the largest value. We saturate to the least.
bool SaturatesOddly(const Case& drawn) {
  constexpr int64_t kLeastSound = -(int64_t{1} << 62);
  if (drawn.words.empty() || UpperCase(drawn.words[0]) != "BITFIELD") return false;
  return std::any_of(drawn.words.begin(), drawn.words.end(),
                     [](const std::string& word) { return ParseInteger(word).value_or(0) < kLeastSound; });
}

// Redis lets a TTL of RESTORE wrap whose end is beyond all time, and Mayfly refuses it: dump_test.cc covers that.
bool RestoresBeyondTime(const Words& words) {
  constexpr size_t kTtl = 2;
  constexpr int64_t kFarthestMs = INT64_MAX / 2;
  return words.size() > kTtl && UpperCase(words[0]) == "RESTORE" &&
         ParseInteger(words[kTtl]).value_or(0) > kFarthestMs;
}

}  // namespace

std::span<const Gap> Gaps() noexcept { return kGaps; }

const Gap* FindGap(std::string_view row, std::string_view token) noexcept {
  const auto* found = std::find_if(std::begin(kGaps), std::end(kGaps),
                                   [&](const Gap& gap) { return gap.row == row && gap.token == token; });
  return found != std::end(kGaps) ? found : nullptr;
}

std::span<const RoughRow> RoughRows() noexcept { return kRoughRows; }

bool IsRough(std::string_view row) noexcept {
  return std::any_of(std::begin(kRoughRows), std::end(kRoughRows),
                     [&](const RoughRow& rough) { return rough.row == row; });
}

bool MaySend(const Case& drawn) {
  return !RestoresBeyondTime(drawn.words) && !EndsOracle(drawn.words) && !WaitsTooLong(drawn.words) &&
         !PicksTooMany(drawn) && !HasTies(drawn.words) && !ExpiresSoon(drawn) && !SaturatesOddly(drawn);
}

}  // namespace mayfly::testing
