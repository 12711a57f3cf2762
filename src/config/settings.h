// The values of the options with their types. The hot paths read `settings.maxmemory_policy` and never parse a text.
//
// Every member belongs to one row of the option table (option_table.cc), which names the member by pointer. The initial
// values here are the defaults of the table; a test compares the two. Units are part of the names. Written by Options only.
// Loop thread only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/eviction_policy.h"

namespace mayfly::config {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning, kNothing };

// The clients that may use DEBUG.
enum class DebugCommand : uint8_t { kNo, kYes, kLocal };

// Whether TLS clients need a certificate; kOptional: not needed, but a client's certificate must be valid.
enum class TlsAuthClients : uint8_t { kNo, kYes, kOptional };

// The service manager that receives the daemon's state. kAuto: the service manager named by the environment.
enum class Supervised : uint8_t { kUpstart, kSystemd, kAuto, kNo };

// The facility of the daemon's lines in the system's log.
enum class SyslogFacility : uint8_t {
  kUser,
  kLocal0,
  kLocal1,
  kLocal2,
  kLocal3,
  kLocal4,
  kLocal5,
  kLocal6,
  kLocal7
};

// The channels that a new user may use.
enum class PubSubDefault : uint8_t { kAllChannels, kResetChannels };

// A line `user NAME rule ...`. This floor does not know the meaning of rules.
struct UserLine {
  std::string name;
  std::vector<std::string> rules;
  std::string blame = {};  // the file and line, or flag, at the beginning of an error message

  bool operator==(const UserLine& other) const { return name == other.name && rules == other.rules; }
};

// kEmulated: one daemon plays a whole cluster.
enum class ClusterMode : uint8_t { kNo, kEmulated };

// The name of a node in redirections for clients of a cluster. kUnknown: the name that the client already uses.
enum class EndpointType : uint8_t { kIp, kHostname, kUnknown };

// Letters, digits, hyphens and dots, or nothing.
struct HostName {
  std::string text;

  bool operator==(const HostName&) const = default;
};

// One address to listen on. `*` is every IPv4 and `::*` every IPv6 address.
struct BindAddress {
  std::string host;
  bool may_be_missing = false;  // written with a leading '-': no error when the machine lacks it

  bool operator==(const BindAddress&) const = default;
};

// The value as set, and the resulting bytes on this machine.
struct MaxMemory {
  enum class Request : uint8_t { kAuto, kPercent, kBytes };
  // kAuto leaves a quarter, but at least kAutoReserve, since the program, the allocator's caches and the buffers of clients
  // do not shrink with the memory; with less than twice kAutoReserve, kAuto leaves half.
  static constexpr uint64_t kAutoPercent = 75;
  static constexpr uint64_t kAutoReserve = 32ULL << 20;
  // With less memory than kAutoLeast, buffers may take more than kAuto leaves.
  static constexpr uint64_t kAutoLeast = 48ULL << 20;

  Request request = Request::kAuto;
  uint64_t amount = kAutoPercent;  // percent of the machine's or cgroup's memory, or bytes
  uint64_t bytes = 0;              // in force; 0 = no limit

  // Computes `bytes`. A percentage is taken of `memory_bytes`; 0: unknown memory, no limit.
  void Resolve(uint64_t memory_bytes) noexcept {
    bytes = request == Request::kBytes ? amount : memory_bytes / 100 * amount;
    if (request == Request::kAuto && memory_bytes - bytes < kAutoReserve)
      bytes = memory_bytes > 2 * kAutoReserve ? memory_bytes - kAutoReserve : memory_bytes / 2;
  }
  bool operator==(const MaxMemory&) const = default;
};

// The limit for the memory of all clients together: bytes, or a percentage of maxmemory.
struct ClientMemory {
  // A smaller limit counts as kLeastBytes, as in Redis: with less, nobody could connect to raise the limit.
  static constexpr uint64_t kLeastBytes = 128 * 1024;
  static constexpr uint64_t kNoLimit = UINT64_MAX;

  uint64_t bytes = 0;    // 0: no limit, unless `percent` is set
  uint64_t percent = 0;  // 0: `bytes` is the limit

  // The bytes in force, or kNoLimit. As in Redis, a percentage of no maxmemory is no limit.
  uint64_t LimitFor(const MaxMemory& maxmemory) const noexcept {
    constexpr uint64_t kWhole = 100;
    const uint64_t limit = percent == 0 ? bytes : maxmemory.bytes / kWhole * percent;
    if (limit == 0) return kNoLimit;
    return limit < kLeastBytes ? kLeastBytes : limit;
  }
  bool operator==(const ClientMemory&) const = default;
};

// A client is closed when its unsent replies reach `hard_bytes`, or stay above `soft_bytes` for
// `soft_seconds`. 0 = no limit.
struct OutputLimit {
  uint64_t hard_bytes = 0;
  uint64_t soft_bytes = 0;
  int64_t soft_seconds = 0;

  bool operator==(const OutputLimit&) const = default;
};

struct OutputLimits {
  static constexpr uint64_t kMegabyte = 1ULL << 20;

  OutputLimit normal;
  OutputLimit replica{256 * kMegabyte, 64 * kMegabyte, 60};
  OutputLimit pubsub{32 * kMegabyte, 8 * kMegabyte, 60};

  bool operator==(const OutputLimits&) const = default;
};

// Permission bits of a file, in the form of chmod; 0 = unchanged.
struct FileMode {
  uint32_t bits = 0;

  bool operator==(const FileMode&) const = default;
};

// A path kept in absolute form: the path stays right when the working directory changes.
struct Directory {
  std::string path = "./";

  bool operator==(const Directory&) const = default;
};

// Classes of keyspace events, each a letter.
struct EventClasses {
  static constexpr std::string_view kInA = "g$lshzxetd";  // the classes covered by A
  static constexpr std::string_view kBesideA = "nKEm";

  // Each letter once and in Redis's order; A instead of all the classes that A covers.
  std::string letters;

  bool Has(char letter) const noexcept {
    if (letters.find(letter) != std::string::npos) return true;
    return kInA.find(letter) != std::string_view::npos && letters.starts_with('A');
  }
  bool operator==(const EventClasses&) const = default;
};

// A command with a new name; with an empty `to` the command has no name and cannot be sent. This floor does not know the
// names of commands.
struct Renaming {
  std::string from;
  std::string to;
  std::string blame = {};  // the file and line, variable or flag, at the beginning of an error message

  bool operator==(const Renaming& other) const { return from == other.from && to == other.to; }
};

// A time to live: a number of seconds, or with a unit (ms, s, m, h, d).
struct Duration {
  uint64_t ms = 0;  // 0: none

  bool operator==(const Duration&) const = default;
};

// The TTLs for keys that match a pattern. Options for all keys fill in the missing parts.
struct TtlRule {
  std::string pattern;
  std::optional<Duration> default_ttl = {};
  std::optional<Duration> max_ttl = {};
  std::optional<int64_t> jitter_percent = {};
  bool required = false;
  std::string stream = {};  // where the keys go at their deadlines; empty: nowhere

  bool operator==(const TtlRule&) const = default;
};

// A tenant: the keys with a common prefix. 0: no limit, no own default TTL.
struct NamespaceTerms {
  std::string name;
  std::string prefix;
  uint64_t maxmemory_bytes = 0;
  uint64_t maxkeys = 0;
  Duration default_ttl = {};

  bool operator==(const NamespaceTerms&) const = default;
};

// A snapshot is due when at least `changes` requests wrote and `seconds` have passed since the last snapshot.
struct SavePoint {
  int64_t seconds = 1;
  int64_t changes = 0;

  bool operator==(const SavePoint&) const = default;
};

// What a signal asks of a stop, as the words of SHUTDOWN do. None: a snapshot is saved if there are save points.
struct ShutdownFlags {
  bool save = false;
  bool nosave = false;
  bool now = false;
  bool force = false;

  bool operator==(const ShutdownFlags&) const = default;
};

// What clients get while the file is loaded. kServe: answers, and a key that is not there yet is a miss. kWait: LOADING.
enum class LoadMode : uint8_t { kServe, kWait };

// Where the master is; no host: this server follows none.
struct MasterAddress {
  std::string host;
  uint16_t port = 0;

  bool operator==(const MasterAddress&) const = default;
};

struct Settings {
  // Addresses, and clients allowed to connect.
  int64_t port = 6379;
  std::vector<BindAddress> bind{{"*", false}, {"::*", true}};
  std::string unixsocket;
  FileMode unixsocketperm;
  int64_t tcp_backlog = 4096;
  int64_t timeout_seconds = 0;
  int64_t tcp_keepalive_seconds = 300;
  bool protected_mode = true;
  std::string requirepass;
  int64_t metrics_port = 0;
  std::vector<BindAddress> metrics_bind{{"127.0.0.1", false}, {"::1", true}};
  std::string metrics_hosts;  // names between spaces

  // TLS: the port, the files, the offers to clients and the demands on clients. tls_client_...: this server's own as a client of
  // other servers.
  int64_t tls_port = 0;
  std::string tls_cert_file;
  std::string tls_key_file;
  std::string tls_key_file_pass;
  std::string tls_client_cert_file;
  std::string tls_client_key_file;
  std::string tls_client_key_file_pass;
  std::string tls_dh_params_file;
  std::string tls_ca_cert_file;
  std::string tls_ca_cert_dir;
  TlsAuthClients tls_auth_clients = TlsAuthClients::kYes;
  std::string tls_protocols;
  std::string tls_ciphers;
  std::string tls_ciphersuites;
  bool tls_prefer_server_ciphers = false;
  bool tls_replication = false;
  bool tls_cluster = false;
  bool tls_session_caching = true;
  int64_t tls_session_cache_size = 20'480;
  int64_t tls_session_cache_timeout_seconds = 300;

  // Users.
  std::vector<UserLine> users;
  std::string aclfile;
  int64_t acllog_max_len = 128;
  PubSubDefault acl_pubsub_default = PubSubDefault::kResetChannels;

  // Limits of clients.
  int64_t maxclients = 10'000;
  uint64_t proto_max_bulk_len = 512ULL << 20;
  uint64_t client_query_buffer_limit = 1ULL << 30;
  OutputLimits client_output_buffer_limit;
  ClientMemory maxmemory_clients;

  // Memory and keys.
  int64_t databases = 16;
  MaxMemory maxmemory;
  EvictionPolicy maxmemory_policy = EvictionPolicy::kVolatileLru;
  int64_t maxmemory_samples = 5;
  int64_t lfu_log_factor = 10;
  int64_t lfu_decay_time_minutes = 1;
  int64_t maxkeys = 0;
  int64_t miss_ring_entries = 65'536;
  bool shadow_list = false;
  bool huge_pages = false;
  bool activedefrag = true;
  uint64_t active_defrag_ignore_bytes = 16ULL << 20;
  int64_t active_defrag_threshold_lower = 5;
  int64_t active_defrag_threshold_upper = 100;
  int64_t active_defrag_cycle_min = 1;
  int64_t active_defrag_cycle_max = 25;
  std::vector<NamespaceTerms> namespaces;

  // More than one machine, or processor.
  int64_t shards = 0;
  bool cluster_enabled = false;
  ClusterMode cluster_mode = ClusterMode::kNo;
  std::string cluster_config_file = "nodes.conf";
  std::string cluster_announce_ip;
  std::string cluster_announce_human_nodename;
  int64_t cluster_announce_port = 0;
  int64_t cluster_announce_tls_port = 0;
  HostName cluster_announce_hostname;
  EndpointType cluster_preferred_endpoint_type = EndpointType::kIp;
  bool cluster_require_full_coverage = false;
  bool cluster_allow_reads_when_down = false;
  bool cluster_allow_pubsubshard_when_down = true;

  // The limits up to which values are stored packed. Redis has the same limits, and OBJECT ENCODING shows their effect.
  int64_t hash_max_listpack_entries = 512;
  uint64_t hash_max_listpack_value = 64;
  int64_t list_max_listpack_size = -2;  // elements of a node; negative: -1 to -5 stand for 4 to 64 KB
  int64_t set_max_intset_entries = 512;
  int64_t set_max_listpack_entries = 128;
  uint64_t set_max_listpack_value = 64;
  int64_t zset_max_listpack_entries = 128;
  uint64_t zset_max_listpack_value = 64;
  uint64_t hll_sparse_max_bytes = 3000;
  uint64_t stream_node_max_bytes = 4096;
  int64_t stream_node_max_entries = 100;

  // Scripts.
  int64_t busy_reply_threshold_ms = 5000;
  int64_t shutdown_timeout_s = 10;

  // Expiry.
  int64_t expire_resolution_ms = 1;
  int64_t expire_slice_us = 100;
  Duration default_ttl;
  Duration max_ttl;
  bool ttl_required = false;
  int64_t ttl_jitter_percent = 0;
  std::vector<TtlRule> ttl_rules;  // the first rule that matches counts
  uint64_t expire_log_size = 0;
  uint64_t expire_log_values = 1024;

  // Snapshots.
  std::vector<SavePoint> save;  // empty: no snapshot unless a client asks for it
  std::string dbfilename = "dump.rdb";
  bool rdbcompression = true;
  bool rdbchecksum = true;
  bool stop_writes_on_bgsave_error = true;
  LoadMode load_mode = LoadMode::kServe;
  bool rdb_skip_unknown = true;
  bool rdb_load_damaged = true;
  ShutdownFlags shutdown_on_sigterm;
  ShutdownFlags shutdown_on_sigint;

  // Replication.
  MasterAddress replicaof;
  std::string masterauth;
  std::string masteruser;
  bool replica_read_only = true;
  bool replica_serve_stale_data = true;
  bool replica_ignore_maxmemory = true;
  int64_t repl_timeout_s = 60;
  int64_t replica_priority = 100;
  bool replica_announced = true;
  std::string replica_announce_ip;
  int64_t replica_announce_port = 0;
  int64_t min_replicas_to_write = 0;
  int64_t min_replicas_max_lag_s = 10;
  uint64_t repl_backlog_bytes = uint64_t{1} << 20;
  int64_t repl_backlog_ttl_s = 3600;
  int64_t repl_ping_period_s = 10;

  // Messages to clients.
  EventClasses notify_keyspace_events;
  int64_t tracking_table_max_keys = 1'000'000;

  // The process and its reports.
  LogLevel loglevel = LogLevel::kNotice;
  std::string logfile;
  std::string pidfile;
  Directory dir;
  int64_t slowlog_log_slower_than_us = 10'000;  // negative: nothing is logged
  int64_t slowlog_max_len = 128;
  int64_t latency_monitor_threshold_ms = 0;  // 0: nothing is watched
  bool latency_tracking = true;
  std::vector<double> latency_percentiles{50, 99, 99.9};
  bool crash_log_enabled = true;
  DebugCommand enable_debug_command = DebugCommand::kNo;
  std::vector<Renaming> renamings;  // in the order of application

  // Further reports of the process.
  bool syslog_enabled = false;
  std::string syslog_ident = "mayfly";
  SyslogFacility syslog_facility = SyslogFacility::kLocal0;
  Supervised supervised = Supervised::kNo;

  bool operator==(const Settings&) const = default;
};

}  // namespace mayfly::config
