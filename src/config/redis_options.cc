// The options of Redis 7.4 without an effect here, with Redis's defaults. Mayfly accepts them to run with an unchanged
// redis.conf, except for a few options whose silent loss would hurt.
#include "config/option.h"

namespace mayfly::config {
namespace {

using Text = std::string_view;

constexpr int64_t kPortMax = 65535;

struct Range {
  int64_t min = 0;
  int64_t max = kNoMax;
};

constexpr Option Row(Text name, Text alias, Foreign kind, Text value, uint32_t flags, Text doc,
                     Range range = {}) {
  return Option{name, alias, kind, value, kIgnored | flags, range.min, range.max, doc};
}
constexpr Option YesNo(Text name, Text value, uint32_t flags = 0, Text alias = "", Text doc = "") {
  return Row(name, alias, Foreign::kYesNo, value, flags, doc);
}
constexpr Option Integer(Text name, Text value, Range range, uint32_t flags = 0, Text alias = "") {
  return Row(name, alias, Foreign::kInteger, value, flags, "", range);
}
constexpr Option Bytes(Text name, Text value, int64_t min, Text alias = "") {
  return Row(name, alias, Foreign::kBytes, value, 0, "", {min, kNoMax});
}
constexpr Option Any(Text name, Text value, uint32_t flags = 0, Text alias = "") {
  return Row(name, alias, Foreign::kText, value, flags, "");
}
constexpr Option OneOf(Text name, Text choices, Text value, uint32_t flags = 0) {
  Option row = Row(name, "", Foreign::kChoice, value, flags, "");
  row.choices = choices;
  return row;
}
constexpr Option Refused(Text name, Text alias, Foreign kind, Text value, uint32_t flags, Text why,
                         Range range = {}) {
  Option row = Row(name, alias, kind, value, flags, why, range);
  row.flags = flags | kRefused;
  return row;
}

constexpr Option kRedisOptions[] = {
    // Refused with any value but the harmless value given here, because the user would rely on a missing feature.
    Refused("appendonly", "", Foreign::kYesNo, "no", 0,
            "there is no append-only file, so the last writes would not survive a crash; see save"),
    Refused("loadmodule", "", Foreign::kWords, "", kNoConfig | kMultiWord, "there are no modules"),

    // The process.
    YesNo("daemonize", "no", kFixed | kInert, "", "daemonize is ignored: mayfly stays in the foreground"),
    YesNo("always-show-logo", "no", kFixed),
    YesNo("set-proc-title", "yes", kFixed),
    Row("proc-title-template", "", Foreign::kTitleTemplate, "{title} {listen-addr} {server-mode}", 0, ""),
    YesNo("crash-memcheck-enabled", "yes"),
    YesNo("hide-user-data-from-log", "no"),
    Any("locale-collate", ""),
    Any("ignore-warnings", ""),
    YesNo("disable-thp", "yes", kFixed),
    OneOf("oom-score-adj", "no yes relative=yes absolute", "no"),
    Row("oom-score-adj-values", "", Foreign::kOomScores, "0 200 800", kMultiWord, ""),
    Any("server-cpulist", "", kFixed, "server_cpulist"),
    Any("bio-cpulist", "", kFixed, "bio_cpulist"),
    Any("aof-rewrite-cpulist", "", kFixed, "aof_rewrite_cpulist"),
    Any("bgsave-cpulist", "", kFixed, "bgsave_cpulist"),
    Integer("io-threads", "1", {1, 128}, kFixed),
    YesNo("io-threads-do-reads", "no", kFixed),
    Integer("hz", "10", {0, kIntMax}),
    YesNo("dynamic-hz", "yes"),
    OneOf("enable-protected-configs", "no yes local", "no", kFixed),
    OneOf("enable-module-command", "no yes local", "no", kFixed),

    // Connections.
    Any("bind-source-addr", ""),
    Integer("socket-mark-id", "0", {0, kUnsignedMax}, kFixed),
    Integer("max-new-connections-per-cycle", "10", {1, 1000}),
    Integer("max-new-tls-connections-per-cycle", "1", {1, 1000}),

    // Memory and eviction.
    Integer("maxmemory-eviction-tenacity", "10", {0, 100}),
    Integer("active-expire-effort", "1", {1, 10}),
    YesNo("lazyfree-lazy-eviction", "no"),
    YesNo("lazyfree-lazy-expire", "no"),
    YesNo("lazyfree-lazy-server-del", "no"),
    YesNo("lazyfree-lazy-user-del", "no"),
    YesNo("lazyfree-lazy-user-flush", "no"),
    YesNo("activerehashing", "yes"),
    Integer("active-defrag-max-scan-fields", "1000", {1, kNoMax}),
    YesNo("jemalloc-bg-thread", "yes"),

    // How values are stored.
    Integer("list-compress-depth", "0", {0, kIntMax}),

    // Snapshots and the append-only file.
    YesNo("rdb-del-sync-files", "no"),
    YesNo("rdb-save-incremental-fsync", "yes"),
    OneOf("sanitize-dump-payload", "no yes clients", "no"),
    Row("appendfilename", "", Foreign::kFileName, "appendonly.aof", kFixed, "", {1, kNoMax}),
    Row("appenddirname", "", Foreign::kDirectoryName, "appendonlydir", kFixed, "", {1, kNoMax}),
    OneOf("appendfsync", "everysec always no", "everysec"),
    YesNo("no-appendfsync-on-rewrite", "no"),
    Integer("auto-aof-rewrite-percentage", "100", {0, kIntMax}),
    Bytes("auto-aof-rewrite-min-size", "67108864", 0),
    YesNo("aof-load-truncated", "yes"),
    YesNo("aof-use-rdb-preamble", "yes"),
    YesNo("aof-timestamp-enabled", "no"),
    YesNo("aof-rewrite-incremental-fsync", "yes"),
    YesNo("aof-disable-auto-gc", "no"),

    // Replication: a replica's keys go and come in slices in any case, and a master's snapshot goes to its replicas at once,
    // without a file.
    YesNo("replica-lazy-flush", "no", 0, "slave-lazy-flush"),
    YesNo("replica-ignore-disk-write-errors", "no"),
    YesNo("repl-diskless-sync", "yes"),
    Integer("repl-diskless-sync-delay", "5", {0, kIntMax}),
    Integer("repl-diskless-sync-max-replicas", "0", {0, kIntMax}),
    OneOf("repl-diskless-load", "disabled on-empty-db swapdb", "disabled"),
    YesNo("repl-disable-tcp-nodelay", "no"),
    OneOf("propagation-error-behavior", "ignore panic panic-on-replicas", "ignore"),

    // Cluster: nodes do not talk to each other and have no replicas.
    Integer("cluster-node-timeout", "15000", {0, kNoMax}),
    Integer("cluster-port", "0", {0, kPortMax}, kFixed),
    Integer("cluster-announce-bus-port", "0", {0, kPortMax}),
    Integer("cluster-migration-barrier", "1", {0, kIntMax}),
    YesNo("cluster-allow-replica-migration", "yes"),
    YesNo("cluster-replica-no-failover", "no", 0, "cluster-slave-no-failover"),
    Integer("cluster-replica-validity-factor", "10", {0, kIntMax}, 0, "cluster-slave-validity-factor"),
    Bytes("cluster-link-sendbuf-limit", "0", 0),

    // Options of Redis's own tests, or of releases before Redis 7. Redis 7 ignores the latter, too. CONFIG shows none of
    // them.
    Integer("rdb-key-save-delay", "0", {kIntMin, kIntMax}, kNoConfig),
    Integer("key-load-delay", "0", {kIntMin, kIntMax}, kNoConfig),
    Integer("watchdog-period", "0", {0, kIntMax}, kNoConfig),
    Integer("loading-process-events-interval-bytes", "2097152", {1024, kIntMax}, kNoConfig),
    YesNo("use-exit-on-panic", "no", kNoConfig),
    Any("list-max-ziplist-entries", "", kNoConfig),
    Any("list-max-ziplist-value", "", kNoConfig),
    Any("lua-replicate-commands", "", kNoConfig),
};

}  // namespace

std::span<const Option> RedisOptions() noexcept { return kRedisOptions; }

}  // namespace mayfly::config
