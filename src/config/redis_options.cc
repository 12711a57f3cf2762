// The options of Redis 7.4 that have no meaning here, with Redis's defaults: accepted, so that people can
// mount the redis.conf they have, unless losing one in silence would hurt.
#include "config/option.h"

namespace mayfly::config {
namespace {

using Text = std::string_view;

constexpr Option Row(Text name, Text alias, Foreign kind, Text value, uint32_t flags, Text doc) {
  return Option{name,
                alias,
                kind,
                value,
                kIgnored | flags,
                std::numeric_limits<int64_t>::min(),
                std::numeric_limits<int64_t>::max(),
                doc};
}
constexpr Option YesNo(Text name, Text value, uint32_t flags = 0, Text alias = "", Text doc = "") {
  return Row(name, alias, Foreign::kYesNo, value, flags, doc);
}
constexpr Option Integer(Text name, Text value, uint32_t flags = 0, Text alias = "", Text doc = "") {
  return Row(name, alias, Foreign::kInteger, value, flags, doc);
}
constexpr Option Bytes(Text name, Text value, uint32_t flags = 0, Text alias = "") {
  return Row(name, alias, Foreign::kBytes, value, flags, "");
}
constexpr Option Any(Text name, Text value, uint32_t flags = 0, Text alias = "", Text doc = "") {
  return Row(name, alias, Foreign::kText, value, flags, doc);
}
constexpr Option Words(Text name, Text value, uint32_t flags = 0, Text alias = "", Text doc = "") {
  return Row(name, alias, Foreign::kWords, value, flags | kMultiWord, doc);
}
constexpr Option Refused(Text name, Text alias, Foreign kind, Text value, uint32_t flags, Text why) {
  Option row = Row(name, alias, kind, value, flags, why);
  row.flags = flags | kRefused;
  return row;
}

constexpr Option kOptions[] = {
    // Refused, but for the harmless value that stands here: the user counts on something that would not be
    // there.
    Refused("appendonly", "", Foreign::kYesNo, "no", 0,
            "nothing is written to disk, so keys would not survive a restart"),
    Refused("cluster-enabled", "", Foreign::kYesNo, "no", kFixed, "there is no cluster mode"),
    Refused("replicaof", "slaveof", Foreign::kReplicaOf, "", kFixed | kMultiWord, "there is no replication"),
    Refused("min-replicas-to-write", "min-slaves-to-write", Foreign::kInteger, "0", 0,
            "there are no replicas that could confirm a write"),
    Refused("tls-port", "", Foreign::kInteger, "0", kFixed,
            "there is no TLS yet, and clients would find no port"),
    Refused("aclfile", "", Foreign::kText, "", kFixed,
            "there are no ACL users yet, so its limits would not hold"),
    Refused("user", "", Foreign::kWords, "", kNoConfig | kMultiWord | kSecret,
            "there are no ACL users yet, so its limits would not hold"),
    Refused("loadmodule", "", Foreign::kWords, "", kNoConfig | kMultiWord, "there are no modules"),

    // The process.
    YesNo("daemonize", "no", kFixed | kInert, "", "daemonize is ignored: mayfly stays in the foreground"),
    Any("supervised", "no", kFixed),
    YesNo("syslog-enabled", "no", kFixed),
    Any("syslog-ident", "redis", kFixed),
    Any("syslog-facility", "local0", kFixed),
    YesNo("always-show-logo", "no", kFixed),
    YesNo("set-proc-title", "yes", kFixed),
    Any("proc-title-template", "{title} {listen-addr} {server-mode}"),
    YesNo("crash-log-enabled", "yes"),
    YesNo("crash-memcheck-enabled", "yes"),
    YesNo("hide-user-data-from-log", "no"),
    Any("locale-collate", ""),
    Words("ignore-warnings", ""),
    YesNo("disable-thp", "yes", kFixed),
    Any("oom-score-adj", "no"),
    Words("oom-score-adj-values", "0 200 800"),
    Any("server-cpulist", "", kFixed, "server_cpulist"),
    Any("bio-cpulist", "", kFixed, "bio_cpulist"),
    Any("aof-rewrite-cpulist", "", kFixed, "aof_rewrite_cpulist"),
    Any("bgsave-cpulist", "", kFixed, "bgsave_cpulist"),
    Integer("io-threads", "1", kFixed),
    YesNo("io-threads-do-reads", "no", kFixed),
    Integer("hz", "10"),
    YesNo("dynamic-hz", "yes"),
    Integer("shutdown-timeout", "10"),
    Words("shutdown-on-sigint", "default"),
    Words("shutdown-on-sigterm", "default"),
    Any("enable-protected-configs", "no", kFixed),
    Any("enable-module-command", "no", kFixed),

    // Connections.
    Any("bind-source-addr", ""),
    Integer("socket-mark-id", "0", kFixed),
    Integer("max-new-connections-per-cycle", "10"),
    Integer("max-new-tls-connections-per-cycle", "1"),
    Any("maxmemory-clients", "0"),
    Integer("tracking-table-max-keys", "1000000"),
    Any("tls-cert-file", ""),
    Any("tls-key-file", ""),
    Any("tls-key-file-pass", "", kSecret),
    Any("tls-client-cert-file", ""),
    Any("tls-client-key-file", ""),
    Any("tls-client-key-file-pass", "", kSecret),
    Any("tls-dh-params-file", ""),
    Any("tls-ca-cert-file", ""),
    Any("tls-ca-cert-dir", ""),
    Any("tls-auth-clients", "yes"),
    YesNo("tls-replication", "no"),
    YesNo("tls-cluster", "no"),
    Words("tls-protocols", ""),
    Any("tls-ciphers", ""),
    Any("tls-ciphersuites", ""),
    YesNo("tls-prefer-server-ciphers", "no"),
    YesNo("tls-session-caching", "yes"),
    Integer("tls-session-cache-size", "20480"),
    Integer("tls-session-cache-timeout", "300"),

    // Memory and eviction.
    Integer("maxmemory-eviction-tenacity", "10"),
    Integer("active-expire-effort", "1"),
    YesNo("lazyfree-lazy-eviction", "no"),
    YesNo("lazyfree-lazy-expire", "no"),
    YesNo("lazyfree-lazy-server-del", "no"),
    YesNo("lazyfree-lazy-user-del", "no"),
    YesNo("lazyfree-lazy-user-flush", "no"),
    YesNo("activerehashing", "yes"),
    YesNo("activedefrag", "no"),
    Bytes("active-defrag-ignore-bytes", "104857600"),
    Integer("active-defrag-threshold-lower", "10"),
    Integer("active-defrag-threshold-upper", "100"),
    Integer("active-defrag-cycle-min", "1"),
    Integer("active-defrag-cycle-max", "25"),
    Integer("active-defrag-max-scan-fields", "1000"),
    YesNo("jemalloc-bg-thread", "yes"),

    // How values are stored.
    Integer("hash-max-listpack-entries", "512", 0, "hash-max-ziplist-entries"),
    Bytes("hash-max-listpack-value", "64", 0, "hash-max-ziplist-value"),
    Integer("list-max-listpack-size", "-2", 0, "list-max-ziplist-size"),
    Integer("list-compress-depth", "0"),
    Integer("set-max-intset-entries", "512"),
    Integer("set-max-listpack-entries", "128"),
    Bytes("set-max-listpack-value", "64"),
    Integer("zset-max-listpack-entries", "128", 0, "zset-max-ziplist-entries"),
    Bytes("zset-max-listpack-value", "64", 0, "zset-max-ziplist-value"),
    Bytes("hll-sparse-max-bytes", "3000"),
    Bytes("stream-node-max-bytes", "4096"),
    Integer("stream-node-max-entries", "100"),

    // Watching.
    Integer("slowlog-log-slower-than", "10000", kQuiet),
    Integer("slowlog-max-len", "128", kQuiet),
    Integer("latency-monitor-threshold", "0"),
    Any("notify-keyspace-events", "", kQuiet, "",
        "notify-keyspace-events is remembered, but no keyspace event is sent yet"),

    // Users and scripts.
    Integer("acllog-max-len", "128"),
    Any("acl-pubsub-default", "resetchannels"),
    Integer("busy-reply-threshold", "5000", 0, "lua-time-limit"),

    // Snapshots and the append-only file.
    Row("save", "", Foreign::kSavePoints, "", kMultiWord | kInert | kQuiet,
        "save points are ignored: nothing is saved yet"),
    Any("dbfilename", "dump.rdb", kProtected),
    YesNo("stop-writes-on-bgsave-error", "yes"),
    YesNo("rdbcompression", "yes"),
    YesNo("rdbchecksum", "yes", kFixed),
    YesNo("rdb-del-sync-files", "no"),
    YesNo("rdb-save-incremental-fsync", "yes"),
    Any("sanitize-dump-payload", "no"),
    Any("appendfilename", "appendonly.aof", kFixed),
    Any("appenddirname", "appendonlydir", kFixed),
    Any("appendfsync", "everysec"),
    YesNo("no-appendfsync-on-rewrite", "no"),
    Integer("auto-aof-rewrite-percentage", "100"),
    Bytes("auto-aof-rewrite-min-size", "67108864"),
    YesNo("aof-load-truncated", "yes"),
    YesNo("aof-use-rdb-preamble", "yes"),
    YesNo("aof-timestamp-enabled", "no"),
    YesNo("aof-rewrite-incremental-fsync", "yes"),
    YesNo("aof-disable-auto-gc", "no"),

    // Replication: harmless while nothing is a replica.
    Any("masterauth", "", kSecret),
    Any("masteruser", ""),
    YesNo("replica-serve-stale-data", "yes", 0, "slave-serve-stale-data"),
    YesNo("replica-read-only", "yes", 0, "slave-read-only"),
    YesNo("replica-ignore-maxmemory", "yes", 0, "slave-ignore-maxmemory"),
    YesNo("replica-lazy-flush", "no", 0, "slave-lazy-flush"),
    YesNo("replica-announced", "yes"),
    YesNo("replica-ignore-disk-write-errors", "no"),
    Integer("replica-priority", "100", 0, "slave-priority"),
    Any("replica-announce-ip", "", 0, "slave-announce-ip"),
    Integer("replica-announce-port", "0", 0, "slave-announce-port"),
    Integer("min-replicas-max-lag", "10", 0, "min-slaves-max-lag"),
    YesNo("repl-diskless-sync", "yes"),
    Integer("repl-diskless-sync-delay", "5"),
    Integer("repl-diskless-sync-max-replicas", "0"),
    Any("repl-diskless-load", "disabled"),
    Integer("repl-ping-replica-period", "10", 0, "repl-ping-slave-period"),
    Integer("repl-timeout", "60"),
    YesNo("repl-disable-tcp-nodelay", "no"),
    Bytes("repl-backlog-size", "1048576"),
    Integer("repl-backlog-ttl", "3600"),
    Any("propagation-error-behavior", "ignore"),

    // Cluster: harmless while cluster-enabled is no.
    Any("cluster-config-file", "nodes.conf", kFixed),
    Integer("cluster-node-timeout", "15000"),
    Integer("cluster-port", "0", kFixed),
    Any("cluster-announce-ip", ""),
    Any("cluster-announce-hostname", ""),
    Any("cluster-announce-human-nodename", ""),
    Integer("cluster-announce-port", "0"),
    Integer("cluster-announce-tls-port", "0"),
    Integer("cluster-announce-bus-port", "0"),
    Any("cluster-preferred-endpoint-type", "ip"),
    Integer("cluster-migration-barrier", "1"),
    YesNo("cluster-allow-replica-migration", "yes"),
    YesNo("cluster-require-full-coverage", "yes"),
    YesNo("cluster-replica-no-failover", "no", 0, "cluster-slave-no-failover"),
    Integer("cluster-replica-validity-factor", "10", 0, "cluster-slave-validity-factor"),
    YesNo("cluster-allow-reads-when-down", "no"),
    YesNo("cluster-allow-pubsubshard-when-down", "yes"),
    Bytes("cluster-link-sendbuf-limit", "0"),
};

}  // namespace

std::span<const Option> RedisOptions() noexcept { return kOptions; }

}  // namespace mayfly::config
