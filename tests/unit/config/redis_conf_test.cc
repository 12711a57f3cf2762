// A redis.conf can be used as it is: every name that Redis 7 reads from its conf file is known here.
#include <string>
#include <vector>

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

// All releases of Redis 7 together, with the older spellings, and names that Redis 7 itself ignores.
constexpr std::string_view kNames = R"(
    rdbchecksum daemonize io-threads-do-reads always-show-logo protected-mode rdbcompression
    rdb-del-sync-files activerehashing stop-writes-on-bgsave-error set-proc-title dynamic-hz
    lazyfree-lazy-eviction lazyfree-lazy-expire lazyfree-lazy-server-del lazyfree-lazy-user-del
    lazyfree-lazy-user-flush repl-disable-tcp-nodelay repl-diskless-sync aof-rewrite-incremental-fsync
    no-appendfsync-on-rewrite cluster-require-full-coverage rdb-save-incremental-fsync aof-load-truncated
    aof-use-rdb-preamble aof-timestamp-enabled cluster-replica-no-failover cluster-slave-no-failover
    replica-lazy-flush slave-lazy-flush replica-serve-stale-data slave-serve-stale-data replica-read-only
    slave-read-only replica-ignore-maxmemory slave-ignore-maxmemory jemalloc-bg-thread activedefrag
    syslog-enabled cluster-enabled appendonly cluster-allow-reads-when-down
    cluster-allow-pubsubshard-when-down crash-log-enabled crash-memcheck-enabled use-exit-on-panic disable-thp
    cluster-allow-replica-migration replica-announced latency-tracking aof-disable-auto-gc
    replica-ignore-disk-write-errors hide-user-data-from-log aclfile unixsocket pidfile replica-announce-ip
    slave-announce-ip masteruser cluster-announce-ip cluster-config-file cluster-announce-hostname
    cluster-announce-human-nodename syslog-ident dbfilename appendfilename appenddirname server-cpulist
    server_cpulist bio-cpulist bio_cpulist aof-rewrite-cpulist aof_rewrite_cpulist bgsave-cpulist
    bgsave_cpulist ignore-warnings proc-title-template bind-source-addr logfile locale-collate masterauth
    requirepass supervised syslog-facility repl-diskless-load loglevel maxmemory-policy appendfsync
    oom-score-adj acl-pubsub-default sanitize-dump-payload enable-protected-configs enable-debug-command
    enable-module-command cluster-preferred-endpoint-type propagation-error-behavior shutdown-on-sigint
    shutdown-on-sigterm databases port io-threads auto-aof-rewrite-percentage cluster-replica-validity-factor
    cluster-slave-validity-factor list-max-listpack-size list-max-ziplist-size tcp-keepalive
    cluster-migration-barrier active-defrag-cycle-min active-defrag-cycle-max active-defrag-threshold-lower
    active-defrag-threshold-upper lfu-log-factor lfu-decay-time replica-priority slave-priority
    repl-diskless-sync-delay maxmemory-samples maxmemory-eviction-tenacity timeout replica-announce-port
    slave-announce-port tcp-backlog cluster-port cluster-announce-bus-port cluster-announce-port
    cluster-announce-tls-port repl-timeout repl-ping-replica-period repl-ping-slave-period list-compress-depth
    rdb-key-save-delay key-load-delay active-expire-effort hz min-replicas-to-write min-slaves-to-write
    min-replicas-max-lag min-slaves-max-lag watchdog-period shutdown-timeout repl-diskless-sync-max-replicas
    max-new-connections-per-cycle max-new-tls-connections-per-cycle maxclients unixsocketperm socket-mark-id
    active-defrag-max-scan-fields slowlog-max-len acllog-max-len busy-reply-threshold lua-time-limit
    cluster-node-timeout slowlog-log-slower-than latency-monitor-threshold proto-max-bulk-len
    stream-node-max-entries repl-backlog-size maxmemory cluster-link-sendbuf-limit hash-max-listpack-entries
    hash-max-ziplist-entries set-max-intset-entries set-max-listpack-entries set-max-listpack-value
    zset-max-listpack-entries zset-max-ziplist-entries active-defrag-ignore-bytes hash-max-listpack-value
    hash-max-ziplist-value stream-node-max-bytes zset-max-listpack-value zset-max-ziplist-value
    hll-sparse-max-bytes tracking-table-max-keys client-query-buffer-limit maxmemory-clients repl-backlog-ttl
    auto-aof-rewrite-min-size loading-process-events-interval-bytes tls-port tls-session-cache-size
    tls-session-cache-timeout tls-cluster tls-replication tls-auth-clients tls-prefer-server-ciphers
    tls-session-caching tls-cert-file tls-key-file tls-key-file-pass tls-client-cert-file tls-client-key-file
    tls-client-key-file-pass tls-dh-params-file tls-ca-cert-file tls-ca-cert-dir tls-protocols tls-ciphers
    tls-ciphersuites dir save client-output-buffer-limit oom-score-adj-values notify-keyspace-events bind
    replicaof slaveof latency-tracking-info-percentiles user loadmodule rename-command
    list-max-ziplist-entries list-max-ziplist-value lua-replicate-commands)";

std::string LineWithDefault(const std::string& name, const Option& option) {
  const std::string value(option.default_text);
  const bool one_word = !option.Has(kMultiWord) || value.empty();
  return name + ' ' + (one_word ? '"' + value + '"' : value) + '\n';
}

}  // namespace

TEST_CASE("each option of a redis.conf has a meaning here, or is named in the one warning, or is refused") {
  const std::vector<std::string> names = SplitWords(kNames).value();
  CHECK(names.size() > 200);
  std::string text;
  std::vector<std::string> without_meaning;
  for (const std::string& name : names) {
    INFO(name);
    const Option* const option = FindOption(name);
    REQUIRE(option != nullptr);
    if (option->Has(kRefused) || name == "rename-command") continue;
    text += LineWithDefault(name, *option);
    if (option->Has(kIgnored)) without_meaning.emplace_back(option->name);
  }
  TestFiles files;
  files.Put("redis.conf", text);
  const Loaded loaded(files, {"redis.conf"});
  CHECK(loaded.error == "");
  REQUIRE(loaded.warnings.size() == 1);
  const std::string warning = loaded.warnings[0] + ',';
  for (const std::string& name : without_meaning) {
    INFO(name);
    const size_t at = warning.find(' ' + name + ',');
    CHECK(at != std::string::npos);
    CHECK(warning.find(' ' + name + ',', at + 1) == std::string::npos);
  }
}

TEST_CASE("an option that is given twice, or in two spellings, is warned of once") {
  TestFiles files;
  files.Put("redis.conf",
            "hz 20\nslave-lazy-flush yes\nhz 30\nreplica-lazy-flush no\nlua-replicate-commands no\n");
  const Loaded loaded(files, {"redis.conf"});
  CHECK(loaded.error == "");
  REQUIRE(loaded.warnings.size() == 1);
  const std::string& warning = loaded.warnings[0];
  for (const char* name : {"hz", "replica-lazy-flush", "lua-replicate-commands"}) {
    CHECK(warning.find(name) != std::string::npos);
    CHECK(warning.find(name) == warning.rfind(name));
  }
  CHECK(loaded.Get("lua-replicate-commands") == "(unknown)");
}

}  // namespace mayfly::config
