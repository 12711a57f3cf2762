#include "exec/metrics/metric_table.h"

namespace mayfly {
namespace {

constexpr Metric::Kind kGauge = Metric::Kind::kGauge;
constexpr Metric::Kind kCounter = Metric::Kind::kCounter;
constexpr double kMsPerS = 1e3;
constexpr double kUsPerS = 1e6;
constexpr std::string_view kMisses = "Reads of absent keys, by why the key was not there.";
constexpr std::string_view kClosed = "Clients closed for what they made the server hold.";
constexpr std::string_view kHandshakes = "TLS handshakes by their end.";
constexpr std::string_view kCpu = "Processor time of the process.";

constexpr Metric kMetrics[] = {
    {"uptime_in_seconds", "", "uptime_seconds", kGauge, "Time since the start."},

    {"connected_clients", "", "clients", kGauge, "Clients that are connected."},
    {"maxclients", "", "clients_max", kGauge, "Most clients at one time."},
    {"blocked_clients", "", "clients_blocked", kGauge, "Clients that wait in a blocking command."},
    {"tracking_clients", "", "clients_tracking", kGauge, "Clients that use client-side caching."},
    {"pubsub_clients", "", "clients_subscribed", kGauge, "Clients that subscribe to a channel or pattern."},
    {"watching_clients", "", "clients_watching", kGauge, "Clients that watch a key."},
    {"total_watched_keys", "", "watched_keys", kGauge, "Keys that clients watch."},
    {"leases", "", "leases", kGauge, "Keys whose value a client computes after TAKE."},

    {"used_memory", "", "memory_used_bytes", kGauge, "Memory that the allocator has handed out."},
    {"used_memory_rss", "", "memory_resident_bytes", kGauge, "Resident memory of the process."},
    {"used_memory_peak", "", "memory_peak_bytes", kGauge, "The most used memory so far."},
    {"used_memory_overhead", "", "memory_overhead_bytes", kGauge, "Used memory beside keys and values."},
    {"used_memory_startup", "", "memory_startup_bytes", kGauge, "Used memory at the start."},
    {"used_memory_dataset", "", "memory_dataset_bytes", kGauge, "Used memory of keys and values."},
    {"allocator_allocated", "", "allocator_allocated_bytes", kGauge,
     "Bytes that the allocator has handed out."},
    {"allocator_active", "", "allocator_active_bytes", kGauge, "Bytes of pages with something in use."},
    {"allocator_resident", "", "allocator_resident_bytes", kGauge,
     "Bytes of the allocator's resident pages."},
    {"allocator_muzzy", "", "allocator_muzzy_bytes", kGauge, "Bytes that the kernel may take back."},
    {"total_system_memory", "", "system_memory_bytes", kGauge, "Memory of the machine."},
    {"number_of_cached_scripts", "", "scripts_cached", kGauge, "Scripts of EVAL that are kept."},
    {"number_of_functions", "", "functions", kGauge, "Functions that are loaded."},
    {"number_of_libraries", "", "function_libraries", kGauge, "Libraries of functions that are loaded."},
    {"used_memory_vm_total", "", "memory_lua_bytes", kGauge, "Memory of Lua."},
    {"used_memory_scripts", "", "memory_scripts_bytes", kGauge, "Memory of the scripts' texts."},
    {"maxmemory", "", "memory_max_bytes", kGauge, "The limit of used memory, 0 for none."},
    {"maxmemory_in_force", "", "memory_max_in_force_bytes", kGauge,
     "The limit that evictions go by, which is lower while resident memory is high."},
    {"mem_fragmentation_ratio", "", "memory_fragmentation_ratio", kGauge, "Resident memory by used memory."},
    {"mem_not_counted_for_evict", "", "memory_not_evictable_bytes", kGauge,
     "Used memory that causes no evictions."},
    {"mem_clients_normal", "", "memory_clients_bytes", kGauge, "Memory of clients' requests and replies."},
    {"lazyfree_pending_objects", "", "flushed_keys_pending", kGauge, "Flushed keys that are not freed yet."},
    {"mem_spare_reply_chunks", "", "memory_spare_reply_chunks_bytes", kGauge,
     "Memory kept for the next replies."},
    {"flushed_pending_bytes", "", "flushed_pending_bytes", kGauge, "Flushed bytes that are not freed yet."},
    {"mem_miss_ring", "", "memory_miss_ring_bytes", kGauge, "Memory of the ring of keys that went."},
    {"mem_shadow_list", "", "memory_shadow_list_bytes", kGauge, "Memory of the shadow list."},
    {"mem_stale_values", "", "memory_stale_values_bytes", kGauge, "Memory of stale values."},
    {"mem_ghost_ring", "", "memory_ghost_ring_bytes", kGauge, "Memory of S3-FIFO's ghosts."},
    {"mem_expire_log", "", "memory_expire_log_bytes", kGauge, "Memory of the log of keys that are gone."},

    {"total_connections_received", "", "connections_total", kCounter, "Connections that were accepted."},
    {"total_commands_processed", "", "commands_processed_total", kCounter, "Commands that ran."},
    {"total_net_input_bytes", "", "network_receive_bytes_total", kCounter, "Bytes received from clients."},
    {"total_net_output_bytes", "", "network_transmit_bytes_total", kCounter, "Bytes sent to clients."},
    {"rejected_connections", "", "connections_rejected_total", kCounter, "Connections that were refused."},
    {"expired_subkeys", "", "expired_members_total", kCounter, "Fields and members that expired."},
    {"expired_keys", "", "expired_keys_total", kCounter, "Keys that expired."},
    {"expired_time_cap_reached_count", "", "expiry_full_slices_total", kCounter,
     "Slices of expiry that ended while more keys were due."},
    {"evicted_keys", "", "evicted_keys_total", kCounter, "Keys that were evicted."},
    {"invalidated_keys", "", "invalidated_keys_total", kCounter, "Keys that went by their tags."},
    {"keyspace_hits", "", "keyspace_hits_total", kCounter, "Reads of keys that were there."},
    {"keyspace_misses_expired", "", "keyspace_misses_total", kCounter, kMisses, 1, "reason=\"expired\""},
    {"keyspace_misses_evicted", "", "keyspace_misses_total", kCounter, kMisses, 1, "reason=\"evicted\""},
    {"keyspace_misses_deleted", "", "keyspace_misses_total", kCounter, kMisses, 1, "reason=\"deleted\""},
    {"keyspace_misses_invalidated", "", "keyspace_misses_total", kCounter, kMisses, 1,
     "reason=\"invalidated\""},
    {"keyspace_misses_cold", "", "keyspace_misses_total", kCounter, kMisses, 1, "reason=\"cold\""},
    {"lru_tail_age_ms", "", "coldest_key_idle_seconds", kGauge,
     "Time since the last access of the key that would be evicted next.", kMsPerS},
    {"hits_at_twice_the_memory", "", "keyspace_hits_at_twice_the_memory_total", kCounter,
     "Reads that would have been hits with twice the memory."},
    {"pubsub_channels", "", "pubsub_channels", kGauge, "Channels with subscribers."},
    {"pubsub_patterns", "", "pubsub_patterns", kGauge, "Patterns with subscribers."},
    {"pubsubshard_channels", "", "pubsub_shard_channels", kGauge, "Shard channels with subscribers."},
    {"active_defrag_hits", "", "defrag_moved_entries_total", kCounter,
     "Entries that were moved to denser memory."},
    {"active_defrag_misses", "", "defrag_left_entries_total", kCounter,
     "Entries that were looked at and left where they are."},
    {"total_active_defrag_time", "", "defrag_seconds_total", kCounter, "Time spent on moving entries.",
     kMsPerS},
    {"tracking_total_keys", "", "tracking_keys", kGauge, "Keys remembered for client-side caching."},
    {"tracking_total_items", "", "tracking_items", kGauge, "Pairs of client and key of client-side caching."},
    {"tracking_total_prefixes", "", "tracking_prefixes", kGauge, "Prefixes of client-side caching."},
    {"leases_granted", "", "leases_granted_total", kCounter, "Leases that TAKE has granted."},
    {"stale_served", "", "stale_served_total", kCounter, "Stale values that TAKE has replied."},
    {"stale_evicted", "", "stale_evicted_total", kCounter, "Stale values that were evicted."},
    {"total_error_replies", "", "error_replies_total", kCounter, "Replies that were errors."},
    {"client_query_buffer_limit_disconnections", "", "clients_closed_total", kCounter, kClosed, 1,
     "reason=\"query_buffer\""},
    {"client_output_buffer_limit_disconnections", "", "clients_closed_total", kCounter, kClosed, 1,
     "reason=\"output_buffer\""},
    {"evicted_clients", "", "clients_closed_total", kCounter, kClosed, 1, "reason=\"maxmemory_clients\""},
    {"acl_access_denied_auth", "", "failed_logins_total", kCounter, "Logins with a wrong password."},
    {"eventloop_cycles", "", "loop_turns_total", kCounter, "Turns of the event loop."},
    {"loop_turn_max_us", "", "loop_turn_max_seconds", kGauge, "The longest turn of the event loop.", kUsPerS},

    {"tls_server_cert_expires_in_seconds", "", "tls_certificate_expires_seconds", kGauge,
     "Time until the server's certificate expires; negative when it has."},
    {"tls_connections", "", "tls_clients", kGauge, "Clients that are connected by TLS."},
    {"tls_handshakes", "", "tls_handshakes_total", kCounter, kHandshakes, 1, "result=\"done\""},
    {"tls_handshakes_failed", "", "tls_handshakes_total", kCounter, kHandshakes, 1, "result=\"failed\""},
    {"tls_sessions_resumed", "", "tls_sessions_resumed_total", kCounter,
     "Handshakes that went on with a session from before."},

    {"expire_lag_max_us", "", "expiry_lag_max_seconds", kGauge,
     "The longest time from a deadline until the key was freed.", kUsPerS},
    {"expire_backlog", "", "expiry_backlog_keys", kGauge, "Keys that are due and not freed yet."},
    {"stale_values", "", "stale_values", kGauge, "Values of expired keys that TAKE may still reply."},
    {"expire_burst_max", "", "expiry_burst_max_keys", kGauge, "The most keys that expired in one slice."},
    {"wheel_wakeups", "", "wheel_wakeups_total", kCounter, "Times that the timer woke the loop for expiry."},
    {"clock_steps", "", "clock_steps_total", kCounter, "Times that the wall clock was set."},

    {"used_cpu_sys", "", "cpu_seconds_total", kCounter, kCpu, 1, "mode=\"system\""},
    {"used_cpu_user", "", "cpu_seconds_total", kCounter, kCpu, 1, "mode=\"user\""},

    {"cmdstat_", "calls", "command_calls_total", kCounter, "Calls of each command."},
    {"cmdstat_", "usec", "command_time_seconds_total", kCounter, "Time in each command.", kUsPerS},
    {"cmdstat_", "rejected_calls", "command_rejected_total", kCounter, "Calls refused before they ran."},
    {"cmdstat_", "failed_calls", "command_failed_total", kCounter, "Calls that replied with an error."},
    {"errorstat_", "count", "errors_total", kCounter, "Error replies by their first word."},
    {"unknowncmd_", "count", "unknown_commands_total", kCounter, "Requests for commands that do not exist."},

    {"db", "keys", "db_keys", kGauge, "Keys of each database."},
    {"db", "expires", "db_expiring_keys", kGauge, "Keys with a time to live."},
    {"db", "avg_ttl", "db_ttl_mean_seconds", kGauge, "An estimate of the mean time to live.", kMsPerS},
    {"db", "subexpiry", "db_keys_with_expiring_members", kGauge,
     "Keys with members that have a time to live."},

    {"namespaces", "", "namespaces", kGauge, "Namespaces that are declared."},
    {"ns_", "keys", "namespace_keys", kGauge, "Keys of each namespace."},
    {"ns_", "memory", "namespace_memory_bytes", kGauge, "Memory of the keys and values of each namespace."},
    {"ns_", "maxmemory", "namespace_memory_max_bytes", kGauge, "The limit of that memory, 0 for none."},
    {"ns_", "maxkeys", "namespace_keys_max", kGauge, "Most keys of each namespace, 0 for no limit."},
    {"ns_", "hits", "namespace_hits_total", kCounter, "Reads of keys that were there."},
    {"ns_", "misses", "namespace_misses_total", kCounter, "Reads of keys that were not there."},
    {"ns_", "evicted", "namespace_evicted_keys_total", kCounter, "Keys that were evicted."},
    {"ns_", "expired", "namespace_expired_keys_total", kCounter, "Keys that expired."},
};

}  // namespace

std::span<const Metric> Metrics() noexcept { return kMetrics; }

}  // namespace mayfly
