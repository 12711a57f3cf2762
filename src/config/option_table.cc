// The table of Mayfly's own options, by subject: all options with an effect here.
#include "base/databases_max.h"
#include "base/text/ascii.h"
#include "config/option.h"
#include "config/words.h"

namespace mayfly::config {
namespace {

constexpr int64_t kMegabyte = 1 << 20;
// As in Redis 8: more samples would make an eviction slow.
constexpr int64_t kSamplesMax = 64;
constexpr int64_t kFileModeMax = 0777;
// 256 MB, cleared in about 60 ms.
constexpr int64_t kMissRingMax = int64_t{1} << 26;

constexpr Option kMayflyOptions[] = {
    // name, alias, member, default, flags, min, max, doc
    {"bind", "", &Settings::bind, "* -::*", kMultiWord, 0, 0,
     "addresses to listen on; '-' before one: it may be missing"},
    {"port", "", &Settings::port, "6379", 0, 0, 65535, "TCP port, 0 for none"},
    {"tcp-backlog", "", &Settings::tcp_backlog, "4096", kFixed, 0, kIntMax,
     "connections that may wait to be accepted"},
    {"unixsocket", "", &Settings::unixsocket, "", kFixed, 0, 0, "path of a unix socket to listen on"},
    {"unixsocketperm", "", &Settings::unixsocketperm, "0", kFixed, 0, kFileModeMax,
     "octal permissions of the unix socket, 0 for those of the umask"},
    {"tcp-keepalive", "", &Settings::tcp_keepalive_seconds, "300", 0, 0, kIntMax,
     "seconds between probes of a silent peer, 0 for none"},
    {"timeout", "", &Settings::timeout_seconds, "0", 0, 0, kIntMax,
     "close a client that is idle for this many seconds, 0 for never"},
    {"protected-mode", "", &Settings::protected_mode, "yes", 0, 0, 0,
     "without a password serve only this machine"},
    {"tls-port", "", &Settings::tls_port, "0", 0, 0, 65535, "TCP port for TLS, 0 for none"},
    {"tls-cert-file", "", &Settings::tls_cert_file, "", 0, 0, 0,
     "file with the server's certificate, and those between it and the CA's (PEM)"},
    {"tls-key-file", "", &Settings::tls_key_file, "", 0, 0, 0,
     "file with the certificate's private key (PEM)"},
    {"tls-key-file-pass", "", &Settings::tls_key_file_pass, "", kSecret, 0, 0,
     "the passphrase of the key's file"},
    {"tls-dh-params-file", "", &Settings::tls_dh_params_file, "", 0, 0, 0,
     "file with parameters for DHE ciphers of TLS 1.2 (PEM), empty for no such ciphers"},
    {"tls-ca-cert-file", "", &Settings::tls_ca_cert_file, "", 0, 0, 0,
     "file with the certificates of CAs that clients' certificates are verified with (PEM)"},
    {"tls-ca-cert-dir", "", &Settings::tls_ca_cert_dir, "", 0, 0, 0,
     "directory with such certificates, named by openssl rehash"},
    {"tls-auth-clients", "", &Settings::tls_auth_clients, "yes", 0, 0, 0,
     "whether clients need a certificate: yes, no, or optional (only a valid one, or none)"},
    {"tls-protocols", "", &Settings::tls_protocols, "", 0, 0, 0,
     "versions of TLS, such as \"TLSv1.2 TLSv1.3\", empty for these two"},
    {"tls-ciphers", "", &Settings::tls_ciphers, "", 0, 0, 0,
     "ciphers of TLS 1.2 and older, as in ciphers(1ssl), empty for OpenSSL's default"},
    {"tls-ciphersuites", "", &Settings::tls_ciphersuites, "", 0, 0, 0,
     "ciphers of TLS 1.3, empty for OpenSSL's default"},
    {"tls-prefer-server-ciphers", "", &Settings::tls_prefer_server_ciphers, "no", 0, 0, 0,
     "choose ciphers in the server's order instead of the client's"},
    {"tls-session-caching", "", &Settings::tls_session_caching, "yes", 0, 0, 0,
     "let clients resume sessions, which makes connecting cheaper"},
    {"tls-session-cache-size", "", &Settings::tls_session_cache_size, "20480", 0, 0, kIntMax,
     "most sessions that are kept for clients without tickets, 0 for no limit"},
    {"tls-session-cache-timeout", "", &Settings::tls_session_cache_timeout_seconds, "300", 0, 0, kIntMax,
     "seconds for which a session can be resumed"},
    {"requirepass", "", &Settings::requirepass, "", kSecret, 0, 0, "password of the default user"},
    {"user", "", &Settings::users, "", kFixed | kMultiWord | kRepeats | kSecret | kNoConfig, 0, 0,
     "a name, and the rules that say what this user may do"},
    {"aclfile", "", &Settings::aclfile, "", kFixed, 0, 0,
     "path of a file with all users, instead of lines here"},
    {"acllog-max-len", "", &Settings::acllog_max_len, "128", 0, 0, kNoMax, "entries that ACL LOG keeps"},
    {"acl-pubsub-default", "", &Settings::acl_pubsub_default, "resetchannels", 0, 0, 0,
     "the channels of a new user: allchannels or none"},
    {"metrics-port", "", &Settings::metrics_port, "0", kFixed, 0, 65535,
     "TCP port of metrics, health and the status page (HTTP), 0 for none"},
    {"metrics-bind", "", &Settings::metrics_bind, "127.0.0.1 -::1", kFixed | kMultiWord, 0, 0,
     "addresses of the metrics port, in the form of bind"},
    {"metrics-hosts", "", &Settings::metrics_hosts, "", 0, 0, 0,
     "names beside localhost by which this machine's browsers may ask the metrics port"},
    {"maxclients", "", &Settings::maxclients, "10000", 0, 1, kUnsignedMax, "clients at one time"},
    {"proto-max-bulk-len", "", &Settings::proto_max_bulk_len, "512mb", 0, kMegabyte, kNoMax,
     "longest single argument"},
    {"client-query-buffer-limit", "", &Settings::client_query_buffer_limit, "1gb", 0, kMegabyte, kNoMax,
     "most bytes of one client's unfinished request"},
    {"client-output-buffer-limit", "", &Settings::client_output_buffer_limit,
     "normal 0 0 0 replica 256mb 64mb 60 pubsub 32mb 8mb 60", kMultiWord, 0, 0,
     "class, hard bytes, soft bytes, soft seconds of unsent replies"},
    {"maxmemory-clients", "", &Settings::maxmemory_clients, "0", 0, 0, 0,
     "bytes that all clients may hold, or a percentage of maxmemory, 0 for no limit"},

    {"databases", "", &Settings::databases, "16", kFixed, 1, kDatabasesMax, "number of databases"},
    {"maxmemory", "", &Settings::maxmemory, "auto", 0, 0, kNoMax,
     "bytes, 0 for no limit, a percentage of the memory, or auto (75%, and 32mb are left)"},
    {"maxmemory-policy", "", &Settings::maxmemory_policy, "volatile-lru", 0, 0, 0,
     "which keys make room when memory is full"},
    {"maxmemory-samples", "", &Settings::maxmemory_samples, "5", 0, 1, kSamplesMax,
     "keys of each database that LFU looks at to find one to evict"},
    {"lfu-log-factor", "", &Settings::lfu_log_factor, "10", 0, 0, kIntMax,
     "the higher it is, the more hits a high LFU count needs to rise"},
    {"lfu-decay-time", "", &Settings::lfu_decay_time_minutes, "1", 0, 0, kIntMax,
     "minutes without a hit until an LFU count loses one, 0 for never"},
    {"maxkeys", "", &Settings::maxkeys, "0", 0, 0, kNoMax,
     "most keys of all databases together, 0 for no limit"},
    {"miss-ring-entries", "", &Settings::miss_ring_entries, "65536", 0, 0, kMissRingMax,
     "keys that went of which INFO can tell why they are missed, 0 for none"},
    {"shadow-list", "", &Settings::shadow_list, "no", 0, 0, 0,
     "count the hits that twice the memory would bring"},
    {"activedefrag", "", &Settings::activedefrag, "yes", 0, 0, 0,
     "move entries out of memory that is mostly unused, so that it can be given back"},
    {"active-defrag-ignore-bytes", "", &Settings::active_defrag_ignore_bytes, "16mb", 0, 1, kNoMax,
     "unused bytes among entries that are not worth that"},
    {"active-defrag-threshold-lower", "", &Settings::active_defrag_threshold_lower, "5", 0, 0, 1000,
     "unused bytes in percent of the entries' that are not worth it"},
    {"active-defrag-threshold-upper", "", &Settings::active_defrag_threshold_upper, "100", 0, 0, 1000,
     "unused bytes in percent at which all of active-defrag-cycle-max is spent"},
    {"active-defrag-cycle-min", "", &Settings::active_defrag_cycle_min, "1", 0, 1, 99,
     "least part of the processor's time for it, in percent"},
    {"active-defrag-cycle-max", "", &Settings::active_defrag_cycle_max, "25", 0, 1, 99,
     "most of the processor's time for it, in percent"},
    {"namespace", "", &Settings::namespaces, "", kMultiWord | kRepeats, 0, 0,
     "a name, and for it: prefix of keys, maxmemory, maxkeys, default-ttl"},

    {"shards", "", &Settings::shards, "0", kFixed, 0, 256,
     "serve with this many daemons, on ports from port on; 0 for with one, without a cluster"},
    {"cluster-enabled", "", &Settings::cluster_enabled, "no", kFixed, 0, 0,
     "be a part of the cluster that cluster-config-file describes"},
    {"cluster-mode", "", &Settings::cluster_mode, "no", kFixed, 0, 0,
     "emulated: be a whole cluster, for clients that speak to nothing else"},
    {"cluster-config-file", "", &Settings::cluster_config_file, "nodes.conf", 0, 0, 0,
     "which node serves which slots; written by you, and read again by SIGHUP and CONFIG SET"},
    {"cluster-announce-ip", "", &Settings::cluster_announce_ip, "", kToken, 0, 0,
     "by which address a node finds its line in that file; sent to clients by an emulated cluster"},
    {"cluster-announce-port", "", &Settings::cluster_announce_port, "0", 0, 0, 65535,
     "the same, by a port; 0 for that of the option port"},
    {"cluster-announce-tls-port", "", &Settings::cluster_announce_tls_port, "0", 0, 0, 65535,
     "sent by an emulated cluster to clients that came over TLS; 0 for the port by which they came"},
    {"cluster-announce-hostname", "", &Settings::cluster_announce_hostname, "", 0, 0, 0,
     "the hostname of nodes whose host is *, and of an emulated cluster"},
    {"cluster-preferred-endpoint-type", "", &Settings::cluster_preferred_endpoint_type, "ip", 0, 0, 0,
     "where clients are sent to: ip (the address), hostname, or unknown-endpoint (the host that they know)"},
    {"cluster-announce-human-nodename", "", &Settings::cluster_announce_human_nodename, "", kFixed | kToken,
     0, 0, "the name of this node in that file; then the address does not matter"},
    {"cluster-require-full-coverage", "", &Settings::cluster_require_full_coverage, "no", 0, 0, 0,
     "serve no key while a slot has no node"},
    {"cluster-allow-reads-when-down", "", &Settings::cluster_allow_reads_when_down, "no", 0, 0, 0,
     "but read even then"},
    {"cluster-allow-pubsubshard-when-down", "", &Settings::cluster_allow_pubsubshard_when_down, "yes", 0, 0,
     0, "serve shard channels even then"},

    {"hash-max-listpack-entries", "hash-max-ziplist-entries", &Settings::hash_max_listpack_entries, "512", 0,
     0, kNoMax, "most fields of a hash that is packed"},
    {"hash-max-listpack-value", "hash-max-ziplist-value", &Settings::hash_max_listpack_value, "64", 0, 0,
     kNoMax, "longest field and value of a hash that is packed"},
    {"list-max-listpack-size", "list-max-ziplist-size", &Settings::list_max_listpack_size, "-2", 0, kIntMin,
     kIntMax, "elements of one node of a list; -1 to -5 stand for 4, 8, 16, 32, 64 KB"},
    {"set-max-intset-entries", "", &Settings::set_max_intset_entries, "512", 0, 0, kNoMax,
     "most members of a set of integers that is packed"},
    {"set-max-listpack-entries", "", &Settings::set_max_listpack_entries, "128", 0, 0, kNoMax,
     "most members of another set that is packed"},
    {"set-max-listpack-value", "", &Settings::set_max_listpack_value, "64", 0, 0, kNoMax,
     "longest member of a set that is packed"},
    {"zset-max-listpack-entries", "zset-max-ziplist-entries", &Settings::zset_max_listpack_entries, "128", 0,
     0, kNoMax, "most members of a sorted set that is packed"},
    {"zset-max-listpack-value", "zset-max-ziplist-value", &Settings::zset_max_listpack_value, "64", 0, 0,
     kNoMax, "longest member of a sorted set that is packed"},
    {"hll-sparse-max-bytes", "", &Settings::hll_sparse_max_bytes, "3000", 0, 0, kNoMax,
     "a HyperLogLog that takes more is stored in full"},
    {"stream-node-max-bytes", "", &Settings::stream_node_max_bytes, "4096", 0, 0, kNoMax,
     "bytes of one node of a stream, 0 for no limit"},
    {"stream-node-max-entries", "", &Settings::stream_node_max_entries, "100", 0, 0, kNoMax,
     "entries of one node of a stream, 0 for no limit"},

    {"busy-reply-threshold", "lua-time-limit", &Settings::busy_reply_threshold_ms, "5000", 0, 0, kNoMax,
     "milliseconds after which other clients get BUSY while a script runs, 0 for never"},
    {"shutdown-timeout", "", &Settings::shutdown_timeout_s, "10", 0, 0, std::numeric_limits<int32_t>::max(),
     "seconds after SIGTERM or SIGINT until a process that does not come back ends, at least 1"},

    {"expire-resolution-ms", "", &Settings::expire_resolution_ms, "1", 0, 1, 1000,
     "keys that expire within this many ms may be freed together"},
    {"expire-slice-us", "", &Settings::expire_slice_us, "500", 0, 50, 100'000,
     "longest stretch of freeing expired keys before clients are served again"},
    {"default-ttl", "", &Settings::default_ttl, "0", 0, 0, 0,
     "time to live of keys that would have none, as 90, 500ms, 30m, 12h, 7d; 0 for none"},
    {"max-ttl", "", &Settings::max_ttl, "0", 0, 0, 0, "longest time to live of any key, 0 for no limit"},
    {"ttl-required", "", &Settings::ttl_required, "no", 0, 0, 0,
     "refuse writes that would create a key without a time to live"},
    {"ttl-jitter", "", &Settings::ttl_jitter_percent, "0", 0, 0, 100,
     "percent by which relative times to live are made longer or shorter, by chance"},
    {"ttl-rule", "", &Settings::ttl_rules, "", kMultiWord | kRepeats, 0, 0,
     "a pattern of keys, and for them: default TTL, max TTL, jitter PERCENT, required, into STREAM"},
    {"expire-log-size", "", &Settings::expire_log_size, "0", 0, 0, kNoMax,
     "bytes of the log of keys that are gone (EXPLOG), 0 for none"},
    {"expire-log-values", "", &Settings::expire_log_values, "1kb", 0, 0, kMegabyte,
     "longest value that the log keeps, 0 for none"},

    {"save", "", &Settings::save, "", kMultiWord | kRepeats, 0, 0,
     "pairs of seconds and changes after which a snapshot is saved, empty for none"},
    {"dbfilename", "", &Settings::dbfilename, "dump.rdb", kProtected | kFileName, 0, 0,
     "file of the snapshot, in the working directory"},
    {"rdbcompression", "", &Settings::rdbcompression, "yes", 0, 0, 0, "compress long texts of a snapshot"},
    {"rdbchecksum", "", &Settings::rdbchecksum, "yes", kFixed, 0, 0,
     "write a checksum into a snapshot, and verify it while the file is loaded"},
    {"stop-writes-on-bgsave-error", "", &Settings::stop_writes_on_bgsave_error, "yes", 0, 0, 0,
     "refuse writes after a snapshot has failed, if there are save points"},
    {"load-mode", "", &Settings::load_mode, "serve", 0, 0, 0,
     "what clients get while the file is loaded: serve (answers), or wait (LOADING)"},
    {"rdb-skip-unknown", "", &Settings::rdb_skip_unknown, "yes", 0, 0, 0,
     "skip values of modules in a file, instead of ending the load"},
    {"rdb-load-damaged", "", &Settings::rdb_load_damaged, "yes", 0, 0, 0,
     "load what precedes the damage of a file, instead of ending the daemon"},
    {"shutdown-on-sigterm", "", &Settings::shutdown_on_sigterm, "default", kMultiWord, 0, 0,
     "how SIGTERM stops the daemon, as SHUTDOWN: default, or some of save, nosave, now and force"},
    {"shutdown-on-sigint", "", &Settings::shutdown_on_sigint, "default", kMultiWord, 0, 0,
     "the same for SIGINT"},

    {"tracking-table-max-keys", "", &Settings::tracking_table_max_keys, "1000000", 0, 0, kNoMax,
     "most keys that are remembered for CLIENT TRACKING, 0 for no limit"},
    {"notify-keyspace-events", "", &Settings::notify_keyspace_events, "", 0, 0, 0,
     "classes of changes that are published, as letters; empty for none"},

    {"dir", "", &Settings::dir, "./", kProtected, 0, 0, "working directory"},
    {"pidfile", "", &Settings::pidfile, "", kFixed, 0, 0, "file to write the process id to"},
    {"logfile", "", &Settings::logfile, "", kFixed, 0, 0, "file to log to, empty for standard output"},
    {"loglevel", "", &Settings::loglevel, "notice", 0, 0, 0, "how much is logged"},
    {"syslog-enabled", "", &Settings::syslog_enabled, "no", kFixed, 0, 0, "log to the system's log, too"},
    {"syslog-ident", "", &Settings::syslog_ident, "mayfly", kFixed, 0, 0,
     "the name that the system's log shows"},
    {"syslog-facility", "", &Settings::syslog_facility, "local0", kFixed, 0, 0,
     "where the system's log files the lines: user, or local0 to local7"},
    {"supervised", "", &Settings::supervised, "no", kFixed, 0, 0,
     "service manager that is told of start and end: systemd, upstart, auto or no"},
    {"slowlog-log-slower-than", "", &Settings::slowlog_log_slower_than_us, "10000", 0, -1, kNoMax,
     "calls that take at least this many us are kept for SLOWLOG, 0 for every call, -1 for none"},
    {"slowlog-max-len", "", &Settings::slowlog_max_len, "128", 0, 0, kNoMax, "calls that SLOWLOG keeps"},
    {"latency-monitor-threshold", "", &Settings::latency_monitor_threshold_ms, "0", 0, 0, kNoMax,
     "work that holds the server up for at least this many ms is a sample for LATENCY, 0 for none"},
    {"latency-tracking", "", &Settings::latency_tracking, "yes", 0, 0, 0,
     "keep a histogram of each command's time"},
    {"latency-tracking-info-percentiles", "", &Settings::latency_percentiles, "50 99 99.9", kMultiWord, 0, 0,
     "percentiles that INFO latencystats reports"},
    {"crash-log-enabled", "", &Settings::crash_log_enabled, "yes", 0, 0, 0,
     "write a backtrace to the log if the daemon crashes"},
    {"enable-debug-command", "", &Settings::enable_debug_command, "no", kFixed, 0, 0,
     "who may use DEBUG: no, yes or local"},
    {"rename-command", "", &Settings::renamings, "", kNoConfig | kMultiWord, 0, 0,
     "a command and its new name; \"\" takes the command away"},
};

const Option* FindIn(std::span<const Option> options, std::string_view name) noexcept {
  for (const Option& option : options) {
    if (SameIgnoringCase(option.name, name)) return &option;
    if (!option.alias.empty() && SameIgnoringCase(option.alias, name)) return &option;
  }
  return nullptr;
}

}  // namespace

std::span<const Option> MayflyOptions() noexcept { return kMayflyOptions; }

const Option* FindOption(std::string_view name) noexcept {
  const Option* option = FindIn(MayflyOptions(), name);
  return option != nullptr ? option : FindIn(RedisOptions(), name);
}

const Option* FindOption(const Target& member) noexcept {
  for (const Option& option : MayflyOptions()) {
    if (option.target == member) return &option;
  }
  return nullptr;
}

}  // namespace mayfly::config
