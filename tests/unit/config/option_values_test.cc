// Each option set to another value than its default: it is in force, CONFIG GET answers it, and no other
// option has changed.
#include <map>
#include <set>

#include "support/catch.h"
#include "unit/config/load.h"

namespace mayfly::config {
namespace {

struct Example {
  std::string name;
  std::string value;
  std::string answer;                   // of CONFIG GET
  bool (*in_force)(const Settings& s);  // reads the member of Settings that the server reads
};

const Example kExamples[] = {
    {"bind", "127.0.0.1 -::1", "127.0.0.1 -::1",
     [](const Settings& s) {
       return s.bind == std::vector<BindAddress>{{"127.0.0.1", false}, {"::1", true}};
     }},
    {"port", "7000", "7000", [](const Settings& s) { return s.port == 7000; }},
    {"tcp-backlog", "7", "7", [](const Settings& s) { return s.tcp_backlog == 7; }},
    {"unixsocket", "/x", "/x", [](const Settings& s) { return s.unixsocket == "/x"; }},
    {"unixsocketperm", "640", "640", [](const Settings& s) { return s.unixsocketperm.bits == 0640; }},
    {"tcp-keepalive", "8", "8", [](const Settings& s) { return s.tcp_keepalive_seconds == 8; }},
    {"timeout", "9", "9", [](const Settings& s) { return s.timeout_seconds == 9; }},
    {"protected-mode", "NO", "no", [](const Settings& s) { return !s.protected_mode; }},
    {"requirepass", "a b", "a b", [](const Settings& s) { return s.requirepass == "a b"; }},
    {"aclfile", "/u", "/u", [](const Settings& s) { return s.aclfile == "/u"; }},
    {"acllog-max-len", "33", "33", [](const Settings& s) { return s.acllog_max_len == 33; }},
    {"acl-pubsub-default", "AllChannels", "allchannels",
     [](const Settings& s) { return s.acl_pubsub_default == PubSubDefault::kAllChannels; }},
    {"metrics-port", "9121", "9121", [](const Settings& s) { return s.metrics_port == 9121; }},
    {"metrics-bind", "* -::*", "* -::*",
     [](const Settings& s) {
       return s.metrics_bind == std::vector<BindAddress>{{"*", false}, {"::*", true}};
     }},
    {"metrics-hosts", "a b", "a b", [](const Settings& s) { return s.metrics_hosts == "a b"; }},
    {"tls-port", "7001", "7001", [](const Settings& s) { return s.tls_port == 7001; }},
    {"tls-cert-file", "/c", "/c", [](const Settings& s) { return s.tls_cert_file == "/c"; }},
    {"tls-key-file", "/k", "/k", [](const Settings& s) { return s.tls_key_file == "/k"; }},
    {"tls-key-file-pass", "a b", "a b", [](const Settings& s) { return s.tls_key_file_pass == "a b"; }},
    {"tls-client-cert-file", "/cc", "/cc", [](const Settings& s) { return s.tls_client_cert_file == "/cc"; }},
    {"tls-client-key-file", "/ck", "/ck", [](const Settings& s) { return s.tls_client_key_file == "/ck"; }},
    {"tls-client-key-file-pass", "c d", "c d",
     [](const Settings& s) { return s.tls_client_key_file_pass == "c d"; }},
    {"tls-replication", "yes", "yes", [](const Settings& s) { return s.tls_replication; }},
    {"tls-cluster", "yes", "yes", [](const Settings& s) { return s.tls_cluster; }},
    {"tls-dh-params-file", "/d", "/d", [](const Settings& s) { return s.tls_dh_params_file == "/d"; }},
    {"tls-ca-cert-file", "/a", "/a", [](const Settings& s) { return s.tls_ca_cert_file == "/a"; }},
    {"tls-ca-cert-dir", "/as", "/as", [](const Settings& s) { return s.tls_ca_cert_dir == "/as"; }},
    {"tls-auth-clients", "Optional", "optional",
     [](const Settings& s) { return s.tls_auth_clients == TlsAuthClients::kOptional; }},
    {"tls-protocols", "TLSv1.3", "TLSv1.3", [](const Settings& s) { return s.tls_protocols == "TLSv1.3"; }},
    {"tls-ciphers", "HIGH", "HIGH", [](const Settings& s) { return s.tls_ciphers == "HIGH"; }},
    {"tls-ciphersuites", "TLS_AES_128_GCM_SHA256", "TLS_AES_128_GCM_SHA256",
     [](const Settings& s) { return s.tls_ciphersuites == "TLS_AES_128_GCM_SHA256"; }},
    {"tls-prefer-server-ciphers", "yes", "yes",
     [](const Settings& s) { return s.tls_prefer_server_ciphers; }},
    {"tls-session-caching", "no", "no", [](const Settings& s) { return !s.tls_session_caching; }},
    {"tls-session-cache-size", "34", "34", [](const Settings& s) { return s.tls_session_cache_size == 34; }},
    {"tls-session-cache-timeout", "35", "35",
     [](const Settings& s) { return s.tls_session_cache_timeout_seconds == 35; }},
    {"maxclients", "11", "11", [](const Settings& s) { return s.maxclients == 11; }},
    {"proto-max-bulk-len", "2mb", "2097152",
     [](const Settings& s) { return s.proto_max_bulk_len == 2 << 20; }},
    {"client-query-buffer-limit", "3mb", "3145728",
     [](const Settings& s) { return s.client_query_buffer_limit == 3 << 20; }},
    {"client-output-buffer-limit", "normal 1 2 3 replica 4 5 6 pubsub 7 8 9",
     "normal 1 2 3 slave 4 5 6 pubsub 7 8 9",
     [](const Settings& s) {
       return s.client_output_buffer_limit == OutputLimits{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
     }},
    {"maxmemory-clients", "5%", "5%",
     [](const Settings& s) {
       return s.maxmemory_clients == ClientMemory{.bytes = 0, .percent = 5} &&
              s.maxmemory_clients.LimitFor({.bytes = 100 << 20}) == 5 * ((100 << 20) / 100);
     }},
    {"databases", "12", "12", [](const Settings& s) { return s.databases == 12; }},
    {"maxmemory", "13kb", "13312", [](const Settings& s) { return s.maxmemory.bytes == 13312; }},
    {"maxmemory-policy", "allkeys-Random", "allkeys-random",
     [](const Settings& s) { return s.maxmemory_policy == EvictionPolicy::kAllKeysRandom; }},
    {"maxmemory-samples", "14", "14", [](const Settings& s) { return s.maxmemory_samples == 14; }},
    {"lfu-log-factor", "15", "15", [](const Settings& s) { return s.lfu_log_factor == 15; }},
    {"lfu-decay-time", "16", "16", [](const Settings& s) { return s.lfu_decay_time_minutes == 16; }},
    {"maxkeys", "17", "17", [](const Settings& s) { return s.maxkeys == 17; }},
    {"miss-ring-entries", "171", "171", [](const Settings& s) { return s.miss_ring_entries == 171; }},
    {"default-ttl", "90", "90", [](const Settings& s) { return s.default_ttl.ms == 90'000; }},
    {"max-ttl", "1500MS", "1500ms", [](const Settings& s) { return s.max_ttl.ms == 1500; }},
    {"ttl-required", "yes", "yes", [](const Settings& s) { return s.ttl_required; }},
    {"ttl-jitter", "5", "5", [](const Settings& s) { return s.ttl_jitter_percent == 5; }},
    {"ttl-rule", "a:* Default 30m jitter 5 b:* MAX 1d required",
     "a:* default 1800 jitter 5 b:* max 86400 required",
     [](const Settings& s) {
       return s.ttl_rules == std::vector<TtlRule>{
                                 {.pattern = "a:*", .default_ttl = Duration{1'800'000}, .jitter_percent = 5},
                                 {.pattern = "b:*", .max_ttl = Duration{86'400'000}, .required = true}};
     }},
    {"expire-log-size", "64mb", "67108864", [](const Settings& s) { return s.expire_log_size == 64 << 20; }},
    {"expire-log-values", "2kb", "2048", [](const Settings& s) { return s.expire_log_values == 2048; }},
    {"namespace", "a prefix a# maxmemory 1mb b MAXKEYS 1k Default-TTL 2m",
     "a prefix a# maxmemory 1048576 b prefix b: maxkeys 1000 default-ttl 120",
     [](const Settings& s) {
       return s.namespaces ==
              std::vector<NamespaceTerms>{
                  {.name = "a", .prefix = "a#", .maxmemory_bytes = 1 << 20},
                  {.name = "b", .prefix = "b:", .maxkeys = 1000, .default_ttl = Duration{120'000}}};
     }},
    {"shards", "2", "2", [](const Settings& s) { return s.shards == 2; }},
    {"cluster-enabled", "yes", "yes", [](const Settings& s) { return s.cluster_enabled; }},
    {"cluster-mode", "emulated", "emulated",
     [](const Settings& s) { return s.cluster_mode == ClusterMode::kEmulated; }},
    {"cluster-config-file", "/etc/mayfly/cluster.conf", "/etc/mayfly/cluster.conf",
     [](const Settings& s) { return s.cluster_config_file == "/etc/mayfly/cluster.conf"; }},
    {"cluster-announce-ip", "10.0.0.1", "10.0.0.1",
     [](const Settings& s) { return s.cluster_announce_ip == "10.0.0.1"; }},
    {"cluster-announce-port", "7001", "7001",
     [](const Settings& s) { return s.cluster_announce_port == 7001; }},
    {"cluster-announce-tls-port", "7100", "7100",
     [](const Settings& s) { return s.cluster_announce_tls_port == 7100; }},
    {"cluster-announce-hostname", "a-b.C9", "a-b.C9",
     [](const Settings& s) { return s.cluster_announce_hostname.text == "a-b.C9"; }},
    {"cluster-preferred-endpoint-type", "Unknown-Endpoint", "unknown-endpoint",
     [](const Settings& s) { return s.cluster_preferred_endpoint_type == EndpointType::kUnknown; }},
    {"cluster-announce-human-nodename", "one", "one",
     [](const Settings& s) { return s.cluster_announce_human_nodename == "one"; }},
    {"cluster-require-full-coverage", "yes", "yes",
     [](const Settings& s) { return s.cluster_require_full_coverage; }},
    {"cluster-allow-reads-when-down", "yes", "yes",
     [](const Settings& s) { return s.cluster_allow_reads_when_down; }},
    {"cluster-allow-pubsubshard-when-down", "no", "no",
     [](const Settings& s) { return !s.cluster_allow_pubsubshard_when_down; }},
    {"shadow-list", "yes", "yes", [](const Settings& s) { return s.shadow_list; }},
    {"huge-pages", "yes", "yes", [](const Settings& s) { return s.huge_pages; }},
    {"activedefrag", "no", "no", [](const Settings& s) { return !s.activedefrag; }},
    {"active-defrag-ignore-bytes", "1mb", "1048576",
     [](const Settings& s) { return s.active_defrag_ignore_bytes == 1 << 20; }},
    {"active-defrag-threshold-lower", "7", "7",
     [](const Settings& s) { return s.active_defrag_threshold_lower == 7; }},
    {"active-defrag-threshold-upper", "80", "80",
     [](const Settings& s) { return s.active_defrag_threshold_upper == 80; }},
    {"active-defrag-cycle-min", "2", "2", [](const Settings& s) { return s.active_defrag_cycle_min == 2; }},
    {"active-defrag-cycle-max", "50", "50",
     [](const Settings& s) { return s.active_defrag_cycle_max == 50; }},
    {"notify-keyspace-events", "KEx", "xKE",
     [](const Settings& s) {
       return s.notify_keyspace_events.Has('x') && s.notify_keyspace_events.Has('E') &&
              !s.notify_keyspace_events.Has('g');
     }},
    {"tracking-table-max-keys", "31", "31",
     [](const Settings& s) { return s.tracking_table_max_keys == 31; }},
    {"hash-max-listpack-entries", "21", "21",
     [](const Settings& s) { return s.hash_max_listpack_entries == 21; }},
    {"hash-max-listpack-value", "1kb", "1024",
     [](const Settings& s) { return s.hash_max_listpack_value == 1024; }},
    {"list-max-listpack-size", "-3", "-3", [](const Settings& s) { return s.list_max_listpack_size == -3; }},
    {"set-max-intset-entries", "22", "22", [](const Settings& s) { return s.set_max_intset_entries == 22; }},
    {"set-max-listpack-entries", "23", "23",
     [](const Settings& s) { return s.set_max_listpack_entries == 23; }},
    {"set-max-listpack-value", "24", "24", [](const Settings& s) { return s.set_max_listpack_value == 24; }},
    {"zset-max-listpack-entries", "25", "25",
     [](const Settings& s) { return s.zset_max_listpack_entries == 25; }},
    {"zset-max-listpack-value", "26", "26",
     [](const Settings& s) { return s.zset_max_listpack_value == 26; }},
    {"hll-sparse-max-bytes", "27", "27", [](const Settings& s) { return s.hll_sparse_max_bytes == 27; }},
    {"stream-node-max-bytes", "28", "28", [](const Settings& s) { return s.stream_node_max_bytes == 28; }},
    {"stream-node-max-entries", "29", "29",
     [](const Settings& s) { return s.stream_node_max_entries == 29; }},
    {"expire-resolution-ms", "18", "18", [](const Settings& s) { return s.expire_resolution_ms == 18; }},
    {"busy-reply-threshold", "31", "31", [](const Settings& s) { return s.busy_reply_threshold_ms == 31; }},
    {"shutdown-timeout", "37", "37", [](const Settings& s) { return s.shutdown_timeout_s == 37; }},
    {"expire-slice-us", "190", "190", [](const Settings& s) { return s.expire_slice_us == 190; }},
    {"dir", "/data", "/data", [](const Settings& s) { return s.dir.path == "/data"; }},
    {"pidfile", "/p", "/p", [](const Settings& s) { return s.pidfile == "/p"; }},
    {"logfile", "/l", "/l", [](const Settings& s) { return s.logfile == "/l"; }},
    {"loglevel", "WARNING", "warning", [](const Settings& s) { return s.loglevel == LogLevel::kWarning; }},
    {"syslog-enabled", "yes", "yes", [](const Settings& s) { return s.syslog_enabled; }},
    {"syslog-ident", "sessions", "sessions", [](const Settings& s) { return s.syslog_ident == "sessions"; }},
    {"syslog-facility", "LOCAL3", "local3",
     [](const Settings& s) { return s.syslog_facility == SyslogFacility::kLocal3; }},
    {"supervised", "systemd", "systemd",
     [](const Settings& s) { return s.supervised == Supervised::kSystemd; }},
    {"save", "900 1 +300 010", "900 1 300 10",
     [](const Settings& s) { return s.save == std::vector<SavePoint>{{900, 1}, {300, 10}}; }},
    {"dbfilename", "a.rdb", "a.rdb", [](const Settings& s) { return s.dbfilename == "a.rdb"; }},
    {"rdbcompression", "no", "no", [](const Settings& s) { return !s.rdbcompression; }},
    {"rdbchecksum", "no", "no", [](const Settings& s) { return !s.rdbchecksum; }},
    {"stop-writes-on-bgsave-error", "no", "no",
     [](const Settings& s) { return !s.stop_writes_on_bgsave_error; }},
    {"load-mode", "Wait", "wait", [](const Settings& s) { return s.load_mode == LoadMode::kWait; }},
    {"rdb-skip-unknown", "no", "no", [](const Settings& s) { return !s.rdb_skip_unknown; }},
    {"replicaof", "10.0.0.1 6379", "10.0.0.1 6379",
     [](const Settings& s) { return s.replicaof == MasterAddress{"10.0.0.1", 6379}; }},
    {"masterauth", "a b", "a b", [](const Settings& s) { return s.masterauth == "a b"; }},
    {"masteruser", "bob", "bob", [](const Settings& s) { return s.masteruser == "bob"; }},
    {"replica-read-only", "no", "no", [](const Settings& s) { return !s.replica_read_only; }},
    {"replica-serve-stale-data", "no", "no", [](const Settings& s) { return !s.replica_serve_stale_data; }},
    {"replica-ignore-maxmemory", "no", "no", [](const Settings& s) { return !s.replica_ignore_maxmemory; }},
    {"repl-timeout", "5", "5", [](const Settings& s) { return s.repl_timeout_s == 5; }},
    {"replica-priority", "7", "7", [](const Settings& s) { return s.replica_priority == 7; }},
    {"replica-announced", "no", "no", [](const Settings& s) { return !s.replica_announced; }},
    {"replica-announce-ip", "10.0.0.2", "10.0.0.2",
     [](const Settings& s) { return s.replica_announce_ip == "10.0.0.2"; }},
    {"replica-announce-port", "7000", "7000",
     [](const Settings& s) { return s.replica_announce_port == 7000; }},
    {"min-replicas-to-write", "1", "1", [](const Settings& s) { return s.min_replicas_to_write == 1; }},
    {"min-replicas-max-lag", "2", "2", [](const Settings& s) { return s.min_replicas_max_lag_s == 2; }},
    {"repl-backlog-size", "16mb", "16777216",
     [](const Settings& s) { return s.repl_backlog_bytes == uint64_t{16} << 20; }},
    {"repl-backlog-ttl", "60", "60", [](const Settings& s) { return s.repl_backlog_ttl_s == 60; }},
    {"repl-ping-replica-period", "3", "3", [](const Settings& s) { return s.repl_ping_period_s == 3; }},
    {"rdb-load-damaged", "no", "no", [](const Settings& s) { return !s.rdb_load_damaged; }},
    {"shutdown-on-sigterm", "FORCE nosave default", "nosave force",
     [](const Settings& s) { return s.shutdown_on_sigterm == ShutdownFlags{.nosave = true, .force = true}; }},
    {"shutdown-on-sigint", "now save", "save now",
     [](const Settings& s) { return s.shutdown_on_sigint == ShutdownFlags{.save = true, .now = true}; }},
    {"slowlog-log-slower-than", "-1", "-1",
     [](const Settings& s) { return s.slowlog_log_slower_than_us == -1; }},
    {"slowlog-max-len", "30", "30", [](const Settings& s) { return s.slowlog_max_len == 30; }},
    {"latency-monitor-threshold", "31", "31",
     [](const Settings& s) { return s.latency_monitor_threshold_ms == 31; }},
    {"latency-tracking", "no", "no", [](const Settings& s) { return !s.latency_tracking; }},
    {"latency-tracking-info-percentiles", "20 99.5", "20 99.5",
     [](const Settings& s) { return s.latency_percentiles == std::vector<double>{20, 99.5}; }},
    {"crash-log-enabled", "no", "no", [](const Settings& s) { return !s.crash_log_enabled; }},
    {"enable-debug-command", "local", "local",
     [](const Settings& s) { return s.enable_debug_command == DebugCommand::kLocal; }},
};

// What CONFIG GET answers for all options but this one.
std::map<std::string, std::string> OthersThan(const std::string& name, const Loaded& loaded) {
  std::map<std::string, std::string> answers;
  for (const auto& [other, answer] : loaded.options.Match("*")) {
    if (FindOption(other) != FindOption(name)) answers[other] = answer;
  }
  return answers;
}

void CheckInForce(const Example& example, const Loaded& loaded, const Loaded& fresh) {
  INFO(example.name);
  CHECK(loaded.error == "");
  CHECK(example.in_force(loaded.options.settings()));
  CHECK(loaded.Get(example.name) == example.answer);
  CHECK(OthersThan(example.name, loaded) == OthersThan(example.name, fresh));
}

// A value of a Redis option that it accepts and that is not its default.
std::string OtherValue(const Option& option) {
  const std::string text(option.default_text);
  switch (std::get<Foreign>(option.target)) {
    case Foreign::kYesNo:
      return text == "yes" ? "no" : "yes";
    case Foreign::kInteger:
    case Foreign::kBytes:
      return std::to_string(std::stoll(text) + 1);
    case Foreign::kChoice:
      for (const std::string& choice : SplitAtSpaces(option.choices)) {
        if (choice != text) return choice;
      }
      return "";
    case Foreign::kOomScores:
      return "1 2 3";
    case Foreign::kTitleTemplate:
      return "{port}";
    case Foreign::kText:
      return "a b";
    default:
      return "other";
  }
}

}  // namespace

TEST_CASE("every option has an example of another value than its default") {
  std::set<std::string> examples;
  const TestFiles files;
  const Loaded fresh(files, {});
  for (const Example& example : kExamples) {
    INFO(example.name);
    CHECK(examples.insert(example.name).second);
    CHECK_FALSE(example.in_force(fresh.options.settings()));
    CHECK(fresh.Get(example.name) != example.answer);
  }
  for (const Option& option : MayflyOptions()) {
    INFO(option.name);
    CHECK((examples.contains(std::string(option.name)) || option.Has(kNoConfig)));
  }
}

TEST_CASE("an option that a file, a variable or a flag sets is in force, and no other has changed") {
  TestFiles files;
  const Loaded fresh(files, {});
  for (const Example& example : kExamples) {
    const bool several = FindOption(example.name)->Has(kMultiWord);
    files.Put("/a.conf", example.name + " " + (several ? example.value : QuoteWord(example.value)) + "\n");
    std::string variable = "MAYFLY_";
    for (const char c : example.name) variable += c == '-' ? '_' : static_cast<char>(c - ('a' - 'A'));
    CheckInForce(example, Loaded(files, {"/a.conf"}), fresh);
    CheckInForce(example, Loaded(files, {}, {variable + "=" + example.value}), fresh);
    CheckInForce(example, Loaded(files, {"--" + example.name, example.value}), fresh);
  }
}

TEST_CASE(
    "an option that CONFIG SET changes is in force, its followers are called, and no other has changed") {
  const TestFiles files;
  const Loaded fresh(files, {});
  for (const Example& example : kExamples) {
    const Option& option = *FindOption(example.name);
    Loaded loaded(files, {});
    std::vector<std::string> heard;
    FollowEach(loaded.options, [&](const Settings& settings, const Option& changed) {
      heard.emplace_back(changed.name);
      CHECK(example.in_force(settings));
    });
    INFO(example.name);
    if (MayBeSet(option)) {
      CHECK(loaded.Set({{example.name, example.value}}) == "");
      CHECK(heard == std::vector<std::string>{example.name});
      CheckInForce(example, loaded, fresh);
    } else {
      const std::string reason =
          option.Has(kProtected) ? "can't set protected config" : "can't set immutable config";
      CHECK(loaded.Set({{example.name, example.value}}) ==
            "CONFIG SET failed (possibly related to argument '" + example.name + "') - " + reason);
      CHECK(heard.empty());
      CHECK(loaded.options.settings() == fresh.options.settings());
    }
  }
}

TEST_CASE("an option that only Redis knows is answered as it was set, and changes nothing else") {
  const TestFiles files;
  const Loaded fresh(files, {});
  for (const Option& option : RedisOptions()) {
    if (option.Has(kRefused) || option.Has(kInert)) continue;
    const std::string name(option.name);
    const std::string value = OtherValue(option);
    CAPTURE(name, value);
    const Loaded started(files, {"--" + name, value});
    CHECK(started.error == "");
    const bool shown = !option.Has(kNoConfig);
    CHECK(started.Get(name) == (shown ? value : "(unknown)"));
    CHECK(value != fresh.Get(name));
    CHECK(started.warnings.size() == 1);
    CHECK(started.options.settings() == fresh.options.settings());
    CHECK(OthersThan(name, started) == OthersThan(name, fresh));
    if (!option.alias.empty()) CHECK(started.Get(std::string(option.alias)) == value);

    Loaded loaded(files, {});
    if (!shown || !MayBeSet(option)) {
      CHECK(loaded.Set({{name, value}}) != "");
      CHECK(loaded.Get(name) == fresh.Get(name));
      continue;
    }
    CHECK(loaded.Set({{option.alias.empty() ? name : std::string(option.alias), value}}) == "");
    CHECK(loaded.Get(name) == value);
    CHECK(loaded.warnings.size() == 1);
    CHECK(loaded.options.settings() == fresh.options.settings());
    CHECK(OthersThan(name, loaded) == OthersThan(name, fresh));
  }
}

}  // namespace mayfly::config
