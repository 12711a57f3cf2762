// The part of Executor that follows the options.
#include <algorithm>

#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/acl/user_changes.h"
#include "exec/call/command_table.h"
#include "exec/dispatch/executor.h"
#include "exec/memory/cache_options.h"
#include "exec/memory/memory_warnings.h"
#include "server/cluster/cluster.h"
#include "server/watch/event_log.h"
#include "server/watch/notifier.h"
#include "server/watch/tracking.h"

namespace mayfly {
namespace {

// The table of CLIENT TRACKING takes at most this part of what clients' unread output may take.
constexpr uint64_t kTrackingPart = 4;

}  // namespace

void Executor::FollowOptions() {
  using config::Settings;
  config::Options& options = server_.options;
  FollowRequirePass(server_);
  FollowEvictionPolicy(server_);
  FollowMissRing(server_);
  FollowTtlRules(server_);
  FollowNamespaces(server_);
  FollowStreamLimits(server_);
  options.FollowFromNow([this](const Settings&) { gate_.Promise(); }, &Settings::maxmemory,
                        &Settings::maxkeys, &Settings::namespaces);
  options.Follow([this](const Settings&) { gate_.Rebase(); }, &Settings::maxmemory, &Settings::maxkeys);
  options.Follow([this](const Settings&) { WarnOfMemory(server_); }, &Settings::maxmemory);
  options.Follow([this](const Settings&) { WarnOfNamespaces(server_); }, &Settings::maxkeys,
                 &Settings::namespaces);
  options.FollowFromNow(
      [this](const Settings& settings) { server_.databases.heap().UseHugePages(settings.huge_pages); },
      &Settings::huge_pages);
  options.FollowFromNow(
      [this](const Settings& settings) { server_.notifier.Follow(settings.notify_keyspace_events); },
      &Settings::notify_keyspace_events);
  options.FollowFromNow([this](const Settings& settings) { TrackLatency(settings); },
                        &Settings::latency_tracking);
  options.FollowFromNow([this](const Settings&) { LookForSlowCalls(); },
                        &Settings::slowlog_log_slower_than_us, &Settings::slowlog_max_len,
                        &Settings::latency_monitor_threshold_ms);
  options.FollowFromNow([this](const Settings& settings) { SetLimits(settings); }, &Settings::maxmemory,
                        &Settings::maxmemory_clients, &Settings::client_output_buffer_limit,
                        &Settings::proto_max_bulk_len, &Settings::tracking_table_max_keys);
  options.FollowFromNow(
      [this](const Settings& settings) {
        server_.databases.shadow().Follow(
            settings.shadow_list,
            {.bytes = settings.maxmemory.bytes, .keys = static_cast<uint64_t>(settings.maxkeys)});
      },
      &Settings::shadow_list, &Settings::maxmemory, &Settings::maxkeys);
  options.FollowFromNow(
      [this](const Settings& settings) {
        server_.event_log.Follow(settings.expire_log_size, settings.expire_log_values);
      },
      &Settings::expire_log_size, &Settings::expire_log_values);
  options.Follow(
      [this](const Settings& settings) {
        if (server_.cluster != nullptr) server_.cluster->Follow(settings);
      },
      &Settings::cluster_require_full_coverage, &Settings::cluster_allow_reads_when_down,
      &Settings::cluster_allow_pubsubshard_when_down);
}

void Executor::TrackLatency(const config::Settings& settings) noexcept {
  track_latency_ = settings.latency_tracking;
  if (!track_latency_) server_.commands.ForgetLatencies();
}

void Executor::LookForSlowCalls() noexcept {
  slow_calls_.FollowOptions();
  late_cycles_ = std::min(old_clock_cycles_ + 1, slow_calls_.least_cycles());
  batch_limits_.small_bytes = slow_calls_.RecordsAlone(now_) ? 0 : Batch::kSmallBytes;
}

void Executor::SetLimits(const config::Settings& settings) noexcept {
  output_pool_ = OutputPool::Of(settings.maxmemory, server_.options.memory_bytes());
  output_pool_.most_held_bytes = settings.maxmemory_clients.LimitFor(settings.maxmemory);
  const uint64_t hard = settings.client_output_buffer_limit.normal.hard_bytes;
  const uint64_t most = output_pool_.most_bytes;
  server_.sessions.output_limits = {.most = hard == 0 ? most : std::min(hard, most),
                                    .most_of_subscriber = most};
  batch_limits_.max_bulk = settings.proto_max_bulk_len;
  batch_limits_.output = server_.sessions.output_limits;
  server_.tracking.Limit(static_cast<size_t>(settings.tracking_table_max_keys), most / kTrackingPart);
}

}  // namespace mayfly
