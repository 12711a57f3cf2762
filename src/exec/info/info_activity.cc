// Sections of INFO about activity: counters, timeliness, expiry, keys.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "cache/keyspace/sampling.h"
#include "config/sources/options.h"
#include "exec/info/identity.h"
#include "exec/info/info_sections.h"
#include "exec/info/ttl_walk.h"
#include "server/figures/link_figures.h"
#include "server/figures/rates.h"
#include "server/figures/replica_figures.h"
#include "server/figures/save_figures.h"
#include "server/figures/stats.h"
#include "server/watch/event_log.h"
#include "server/watch/pubsub.h"
#include "server/watch/tracking.h"

namespace mayfly::info {
namespace {

// The mean of a few random keys: Redis's figure is an estimate too.
int64_t MeanTtlMs(const Keyspace& keyspace, std::mt19937_64& random, Now now) {
  constexpr int kSamples = 8;
  int64_t sum_ms = 0;
  for (int i = 0; i < kSamples; ++i) {
    const Entry* entry = Sampling(keyspace).RandomOf(Keyspace::kExpiring, random);
    if (entry == nullptr) return 0;
    sum_ms += std::max<int64_t>(TtlMs(*entry, now), 0) / kSamples;
  }
  return sum_ms;
}

// The share of keys past their deadline among the keys with a TTL.
double StalePercent(const Databases& databases, Now now) {
  size_t expiring = 0;
  for (unsigned i = 0; i < databases.count(); ++i) expiring += databases.At(i).expiring();
  return expiring == 0 ? 0
                       : 100.0 * static_cast<double>(databases.Backlog(now)) / static_cast<double>(expiring);
}

void MissFields(InfoSink& sink, const Stats& stats) {
  sink.Field("keyspace_misses_expired", stats.MissesOf(MissReason::kExpired));
  sink.Field("keyspace_misses_evicted", stats.MissesOf(MissReason::kEvicted));
  sink.Field("keyspace_misses_deleted", stats.MissesOf(MissReason::kDeleted));
  sink.Field("keyspace_misses_invalidated", stats.MissesOf(MissReason::kInvalidated));
  sink.Field("keyspace_misses_cold", stats.MissesOf(MissReason::kCold));
}

// True if the lists are in the order of use.
bool IsByRecency(EvictionPolicy policy) noexcept {
  switch (policy) {
    case EvictionPolicy::kAllKeysSieve:
    case EvictionPolicy::kAllKeysS3Fifo:
    case EvictionPolicy::kVolatileS3Fifo:
    case EvictionPolicy::kAllKeysLfu:
    case EvictionPolicy::kVolatileLfu:
      return false;
    default:
      return true;
  }
}

// True if keys without a TTL may be evicted, or if nothing may be.
bool IncludesLasting(const config::Settings& settings) noexcept {
  const EvictionPolicy policy = settings.maxmemory_policy;
  const bool is_volatile = policy == EvictionPolicy::kVolatileLru || policy == EvictionPolicy::kVolatileTtl ||
                           policy == EvictionPolicy::kVolatileRandom;
  return !is_volatile || settings.maxkeys != 0;
}

// Answers whether the cache is too small: the life of unused keys, and the effect of more memory.
void SizeFields(InfoSink& sink, Server& server, Now now) {
  const config::Settings& settings = server.options.settings();
  const Histogram& evicted_age_ms = server.databases.expiry_stats().evicted_age_ms;
  if (IsByRecency(settings.maxmemory_policy)) {
    const Entry* tail = server.databases.quotas().Oldest(IncludesLasting(settings), now);
    sink.Field("lru_tail_age_ms", tail != nullptr ? Entry::IdleMs(tail->stamp(), now.mono_ms) : 0);
  }
  sink.Field("evicted_age_ms_p50", evicted_age_ms.Percentile(0.5));
  sink.Field("evicted_age_ms_p99", evicted_age_ms.Percentile(0.99));
  if (server.databases.shadow().on())
    sink.Field("hits_at_twice_the_memory", server.stats.keyspace_hits + server.stats.shadow_hits);
}

// The seconds from `mono_ms` to now.
int64_t SecondsSince(uint64_t mono_ms, Now now) noexcept {
  return static_cast<int64_t>(now.mono_ms - mono_ms) / kMsPerSecond;
}

// Shown only during a load, as in Redis. In the first second the rest is guessed to take a second.
void LoadingFields(InfoSink& sink, const SaveFigures& saves, Now now) {
  const auto total = static_cast<double>(saves.load_file_bytes);
  const auto done = static_cast<double>(std::min(saves.load_done_bytes, saves.load_file_bytes));
  const int64_t elapsed_s = SecondsSince(saves.load_began_mono_ms, now);
  const bool known = elapsed_s > 0 && done > 0;
  sink.Field("loading_start_time", now.WallOf(saves.load_began_mono_ms) / kMsPerSecond);
  sink.Field("loading_total_bytes", saves.load_file_bytes);
  sink.Field("loading_loaded_bytes", saves.load_done_bytes);
  sink.Fixed("loading_loaded_perc", total > 0 ? 100.0 * done / total : 0, 2);
  sink.Field("loading_eta_seconds",
             known ? std::llround(static_cast<double>(elapsed_s) * (total - done) / done) : 1);
}

}  // namespace

// Redis's fields about memory that is copied during a save are missing: nothing is copied here.
void PersistenceSection(InfoSink& sink, Server& server, Now now) {
  const SaveFigures& saves = server.stats.saves;
  const bool running = saves.running_since_mono_ms != 0;
  // Clients wait for the end of `loading`: ioredis sends nothing before. async_loading means in Redis, too, that clients are served.
  const bool clients_wait = (server.modes & BitOf(Mode::kLoading)) != 0;
  sink.Field("loading", clients_wait ? 1 : 0);
  sink.Field("async_loading", saves.loading && !clients_wait ? 1 : 0);
  sink.Field("current_save_keys_processed", running ? saves.keys_done : 0);
  sink.Field("current_save_keys_total", running ? saves.keys_total : 0);
  sink.Field("rdb_changes_since_last_save", server.databases.changes().by_clients() - saves.changes_at_save);
  sink.Field("rdb_bgsave_in_progress", running ? 1 : 0);
  sink.Field("rdb_last_save_time", server.stats.LastSaveS(now));
  sink.Field("rdb_last_bgsave_status", saves.last_ok ? "ok" : "err");
  sink.Field("rdb_last_bgsave_time_sec", saves.last_took_s);
  sink.Field("rdb_current_bgsave_time_sec", running ? SecondsSince(saves.running_since_mono_ms, now) : -1);
  sink.Field("rdb_saves", saves.saves);
  sink.Field("rdb_last_save_keys", saves.last_keys);
  sink.Field("rdb_last_save_bytes", saves.last_bytes);
  sink.Field("rdb_last_load_keys_expired", saves.load_expired);
  sink.Field("rdb_last_load_keys_loaded", saves.load_keys);
  sink.Field("rdb_last_load_keys_skipped", saves.load_skipped);
  sink.Field("rdb_last_load_bytes", saves.load_done_bytes);
  sink.Field("rdb_last_load_time_sec", saves.load_took_ms / kMsPerSecond);
  sink.Field("aof_enabled", 0);
  sink.Field("aof_rewrite_in_progress", 0);
  sink.Field("aof_last_bgrewrite_status", "ok");
  sink.Field("aof_last_write_status", "ok");
  if (saves.loading) LoadingFields(sink, saves, now);
}

// Valkey 9.1 has a section with this name and the certificate's field.
void TlsSection(InfoSink& sink, Server& server, Now now) {
  constexpr int64_t kMsPerS = 1000;
  const TlsFigures& tls = server.stats.tls;
  if (tls.certificate_expires_s != 0)
    sink.Field("tls_server_cert_expires_in_seconds", tls.certificate_expires_s - now.wall_ms / kMsPerS);
  sink.Field("tls_connections", tls.connections);
  sink.Field("tls_handshakes", tls.handshakes);
  sink.Field("tls_handshakes_failed", tls.handshakes_failed);
  sink.Field("tls_sessions_resumed", tls.resumed);
}

void StatsSection(InfoSink& sink, Server& server, Now now) {
  constexpr double kKilo = 1024;
  const Stats& stats = server.stats;
  const ExpiryStats& expiry = server.databases.expiry_stats();
  const Rates::PerSecond rates = server.rates.At(now.mono_ms, RateTotals(stats));
  server.rates.Sample(now.mono_ms, RateTotals(stats));
  sink.Field("total_connections_received", stats.connections_received);
  sink.Field("total_commands_processed", stats.commands_processed);
  sink.Field("instantaneous_ops_per_sec", std::llround(rates.commands));
  sink.Field("total_net_input_bytes", stats.net_input_bytes);
  sink.Field("total_net_output_bytes", stats.net_output_bytes);
  sink.Fixed("instantaneous_input_kbps", rates.input_bytes / kKilo, 2);
  sink.Fixed("instantaneous_output_kbps", rates.output_bytes / kKilo, 2);
  sink.Field("rejected_connections", stats.connections_rejected);
  sink.Field("sync_full", server.followers.full_syncs);
  sink.Field("sync_partial_ok", server.followers.partial_syncs);
  sink.Field("sync_partial_err", server.followers.refused_syncs);
  sink.Field("expired_subkeys", expiry.expired_members);
  sink.Field("expired_keys", expiry.expired_keys);
  if (sink.Wants("expired_stale_perc"))
    sink.Fixed("expired_stale_perc", StalePercent(server.databases, now), 2);
  sink.Field("expired_time_cap_reached_count", expiry.full_slices);
  sink.Field("evicted_keys", expiry.evicted_keys);
  sink.Field("invalidated_keys", expiry.invalidated_keys);
  sink.Field("evicted_clients", stats.evicted_clients);
  sink.Field("keyspace_hits", stats.keyspace_hits);
  sink.Field("keyspace_misses", stats.keyspace_misses);
  MissFields(sink, stats);
  SizeFields(sink, server, now);
  sink.Field("pubsub_channels", server.pubsub.topics(TopicKind::kChannel).size());
  sink.Field("pubsub_patterns", server.pubsub.topics(TopicKind::kPattern).size());
  sink.Field("pubsubshard_channels", server.pubsub.topics(TopicKind::kShardChannel).size());
  sink.Field("latest_fork_usec", 0);
  sink.Field("total_forks", 0);
  sink.Field("migrate_cached_sockets", stats.idle_outgoing);
  sink.Field("active_defrag_hits", stats.defrag_moved);
  sink.Field("active_defrag_misses", stats.defrag_left);
  sink.Field("active_defrag_key_hits", stats.defrag_moved);
  sink.Field("active_defrag_key_misses", stats.defrag_left);
  sink.Field("total_active_defrag_time", stats.defrag_total_ms);
  sink.Field("current_active_defrag_time", stats.defrag_percent != 0 ? stats.defrag_ms : 0);
  sink.Field("tracking_total_keys", server.tracking.keys());
  sink.Field("tracking_total_items", server.tracking.items());
  sink.Field("tracking_total_prefixes", server.tracking.prefixes());
  sink.Field("leases_granted", stats.leases_granted);
  sink.Field("stale_served", stats.stale_served);
  sink.Field("stale_evicted", expiry.evicted_stale);
  sink.Field("unexpected_error_replies", 0);
  sink.Field("total_error_replies", stats.error_replies);
  sink.Field("client_query_buffer_limit_disconnections", stats.query_limit_disconnections);
  sink.Field("client_output_buffer_limit_disconnections", stats.output_limit_disconnections);
  sink.Field("acl_access_denied_auth", stats.failed_logins);
  sink.Field("acl_access_denied_cmd", stats.denied_commands);
  sink.Field("acl_access_denied_key", stats.denied_keys);
  sink.Field("acl_access_denied_channel", stats.denied_channels);
  sink.Field("eventloop_cycles", stats.loop_turns);
  sink.Field("loop_turn_max_us", stats.loop_turn_max_us);
}

void ExpirySection(InfoSink& sink, Server& server, Now now) {
  const ExpiryStats& stats = server.databases.expiry_stats();
  sink.Field("expire_lag_p50_us", stats.lag_us.Percentile(0.5));
  sink.Field("expire_lag_p99_us", stats.lag_us.Percentile(0.99));
  sink.Field("expire_lag_p999_us", stats.lag_us.Percentile(0.999));
  sink.Field("expire_lag_max_us", stats.lag_us.max());
  sink.Field("expire_backlog", server.databases.Backlog(now));
  sink.Field("stale_values", server.databases.stale_values());
  sink.Field("tasks_waiting", server.databases.total_tasks());
  sink.Field("tasks_late", server.databases.ready_tasks());
  sink.Field("tasks_delivered", stats.tasks_delivered);
  sink.Field("tasks_refused", stats.tasks_refused);
  sink.Field("expire_burst_max", stats.burst_max);
  sink.Field("wheel_wakeups", stats.wheel_wakeups);
  sink.Field("clock_steps", stats.clock_steps);
  sink.Field("expire_log_dropped", server.event_log.ring().dropped());
  sink.Field("expire_log_overrun", server.event_log.ring().overrun());
}

void TtlHistSection(InfoSink& sink, Server& server, Now now) {
  TtlWalk& walk = TtlWalk::Of(server);
  const TtlWalk::Result& last = walk.Ask(now);
  sink.Field("ttlhist_age_ms", last.known ? static_cast<int64_t>(now.mono_ms - last.began_mono_ms) : -1);
  sink.Field("ttlhist_in_progress", walk.in_progress() ? 1 : 0);
  if (!last.known) return;
  const auto show = [&](std::string_view range, const TtlHistogram::Sum& sum) {
    const InfoMember members[] = {{"keys", sum.keys}, {"bytes", sum.bytes}};
    sink.Group({"ttl_", "range", range}, members);
  };
  for (size_t i = 0; i < TtlHistogram::kExpiring; ++i)
    show(TtlHistogram::kRanges[i].name, last.histogram.In(i));
  show("none", last.histogram.lasting());
}

void TransferFields(InfoSink& sink, const LinkFigures& link, Now now) {
  const auto done = static_cast<int64_t>(link.transfer_bytes);
  sink.Field("master_sync_total_bytes", std::max<int64_t>(link.transfer_total, 0));
  sink.Field("master_sync_read_bytes", done);
  sink.Field("master_sync_left_bytes", link.transfer_total < 0 ? -1 : link.transfer_total - done);
  sink.Field("master_sync_last_io_seconds_ago", SecondsSince(link.heard_mono_ms, now));
}

// With Redis's names.
void ReplicaFields(InfoSink& sink, const LinkFigures& link, const config::Settings& settings, Now now) {
  const bool syncs =
      link.state == LinkFigures::State::kTransfer || link.state == LinkFigures::State::kLoading;
  sink.Field("master_host", link.host);
  sink.Field("master_port", link.port);
  sink.Field("master_link_status", link.up() ? "up" : "down");
  sink.Field("master_last_io_seconds_ago", link.up() ? SecondsSince(link.heard_mono_ms, now) : -1);
  sink.Field("master_sync_in_progress", syncs ? 1 : 0);
  sink.Field("slave_read_repl_offset", link.offset);
  sink.Field("slave_repl_offset", link.offset);
  if (syncs) TransferFields(sink, link, now);
  if (!link.up()) sink.Field("master_link_down_since_seconds", SecondsSince(link.down_since_mono_ms, now));
  sink.Field("master_full_syncs", link.full_syncs);
  sink.Field("master_partial_syncs", link.partial_syncs);
  sink.Field("master_failed_commands", link.failures);
  sink.Field("slave_priority", settings.replica_priority);
  sink.Field("slave_read_only", settings.replica_read_only ? 1 : 0);
  sink.Field("replica_announced", settings.replica_announced ? 1 : 0);
}

void ReplicaLines(InfoSink& sink, const Server& server, Now now) {
  const std::vector<ReplicaFigures::Line>& lines = server.followers.lines;
  sink.Field("connected_slaves", lines.size());
  const config::Settings& settings = server.options.settings();
  const auto lag_s = [&](const ReplicaFigures::Line& line) {
    return line.online ? (now.mono_ms - line.heard_mono_ms) / kMsPerSecond : 0;
  };
  if (settings.min_replicas_to_write != 0 && settings.min_replicas_max_lag_s != 0)
    sink.Field("min_slaves_good_slaves", std::ranges::count_if(lines, [&](const ReplicaFigures::Line& line) {
                 return line.online && lag_s(line) <= static_cast<uint64_t>(settings.min_replicas_max_lag_s);
               }));
  for (size_t i = 0; i < lines.size(); ++i) {
    const ReplicaFigures::Line& line = lines[i];
    const InfoMember members[] = {{"ip", line.address},
                                  {"port", line.port},
                                  {"state", line.state},
                                  {"offset", line.offset},
                                  {"lag", lag_s(line)}};
    sink.Group({"slave", "replica", std::to_string(i)}, members);
  }
}

void ReplicationSection(InfoSink& sink, Server& server, Now now) {
  const LinkFigures& link = server.link;
  const ReplicaFigures& figures = server.followers;
  sink.Field("role", link.follows() ? "slave" : "master");
  if (link.follows()) ReplicaFields(sink, link, server.options.settings(), now);
  ReplicaLines(sink, server, now);
  sink.Field("master_failover_state", figures.failover);
  const std::string& history = link.follows() ? link.history : figures.history;
  sink.Field("master_replid", history.empty() ? server.run_id : history);
  const bool continues = !figures.old_history.empty();
  sink.Field("master_replid2", continues ? figures.old_history : std::string(server.run_id.size(), '0'));
  sink.Field("master_repl_offset", link.follows() ? link.offset : figures.offset);
  sink.Field("second_repl_offset", continues ? figures.old_offset + 1 : -1);
  sink.Field("repl_backlog_active", figures.active ? 1 : 0);
  sink.Field("repl_backlog_size", server.options.settings().repl_backlog_bytes);
  sink.Field("repl_backlog_first_byte_offset", figures.active ? figures.backlog_begin + 1 : 0);
  sink.Field("repl_backlog_histlen", figures.active ? figures.offset - figures.backlog_begin : 0);
}

void ModulesSection(InfoSink&, Server&, Now) {}

void ClusterSection(InfoSink& sink, Server& server, Now) {
  sink.Field("cluster_enabled", server.cluster != nullptr ? 1 : 0);
}

void KeyspaceSection(InfoSink& sink, Server& server, Now now) {
  for (unsigned i = 0; i < server.databases.count(); ++i) {
    const Keyspace& keyspace = server.databases.At(i);
    if (keyspace.size() == 0) continue;
    const InfoMember members[] = {{"keys", keyspace.size()},
                                  {"expires", keyspace.expiring()},
                                  {"avg_ttl", MeanTtlMs(keyspace, server.random, now)},
                                  {"subexpiry", keyspace.lifetimes().deadlines().with_timed_members()}};
    sink.Group({"db", "db", std::to_string(i)}, members);
  }
}

// The lines' names have a common prefix, so a namespace may have the name of a field.
void NamespacesSection(InfoSink& sink, Server& server, Now) {
  const Namespaces& namespaces = server.databases.namespaces();
  sink.Field("namespaces", namespaces.active().size());
  sink.Field("namespace_memory_promised", namespaces.promises_bytes() ? 1 : 0);
  for (const auto& space : namespaces.active()) {
    const InfoMember members[] = {{"prefix", space->prefix()},       {"keys", space->keys()},
                                  {"memory", space->bytes()},        {"maxmemory", space->limits().bytes},
                                  {"maxkeys", space->limits().keys}, {"hits", space->stats.hits},
                                  {"misses", space->stats.misses},   {"evicted", space->stats.evicted},
                                  {"expired", space->stats.expired}};
    sink.Group({"ns_", "namespace", space->name()}, members);
  }
}

}  // namespace mayfly::info
