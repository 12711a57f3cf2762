// Sections of INFO about the process: clients, memory, processor time.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cache/keyspace/databases.h"
#include "config/sources/options.h"
#include "exec/info/identity.h"
#include "exec/info/info_sections.h"
#include "exec/info/memory_report.h"
#include "exec/memory/memory_meter.h"
#include "exec/memory/resident_guard.h"
#include "server/clients/sessions.h"
#include "server/figures/process_usage.h"
#include "server/figures/replica_figures.h"
#include "server/figures/stats.h"
#include "server/waiting/leases.h"
#include "server/waiting/parking.h"
#include "server/watch/event_log.h"
#include "server/watch/pubsub.h"
#include "server/watch/tracking.h"
#include "server/watch/watched_keys.h"

#include <sys/utsname.h>

namespace mayfly::info {
namespace {

std::string OperatingSystem() {
  utsname name{};
  if (uname(&name) != 0) return "unknown";
  return std::string(name.sysname) + " " + name.release + " " + name.machine;
}

std::string Executable() {
  char path[PATH_MAX];
  const ssize_t size = readlink("/proc/self/exe", path, sizeof path);
  return size > 0 ? std::string(path, static_cast<size_t>(size)) : std::string();
}

std::string AllocatorName() {
#ifdef JEMALLOC_VERSION
  const std::string_view version = JEMALLOC_VERSION;
  return "jemalloc-" + std::string(version.substr(0, version.find('-')));
#else
  return "libc";
#endif
}

void FragmentationFields(InfoSink& sink, uint64_t used, uint64_t resident) {
  sink.Fixed("mem_fragmentation_ratio", Ratio(resident, used), 2);
  sink.Field("mem_fragmentation_bytes", static_cast<int64_t>(resident) - static_cast<int64_t>(used));
}

// Of all clients, at this moment.
void LargestBuffers(InfoSink& sink, const Sessions& sessions) {
  constexpr std::string_view kInput = "client_recent_max_input_buffer";
  constexpr std::string_view kOutput = "client_recent_max_output_buffer";
  if (!sink.Wants(kInput) && !sink.Wants(kOutput)) return;
  uint64_t input = 0, output = 0;
  for (const auto& [id, session] : sessions.by_id()) {
    input = std::max(input, session->input_memory);
    output = std::max<uint64_t>(output, session->output.memory());
  }
  sink.Field(kInput, input);
  sink.Field(kOutput, output);
}

std::string_view NameOf(HugePages state) {
  switch (state) {
    case HugePages::kOff:
      return "off";
    case HugePages::kRefused:
      return "refused";
    case HugePages::kOn:
      return "on";
  }
  return "";
}

// The bytes handed out by the allocator, the bytes of the pages in use, and the bytes held from the kernel.
void AllocatorFields(InfoSink& sink, const MemoryReport& report) {
  const AllocatorBytes& bytes = report.allocator;
  sink.Field("allocator_allocated", bytes.allocated);
  sink.Field("allocator_active", bytes.active);
  sink.Field("allocator_resident", bytes.resident);
  sink.Field("allocator_muzzy", bytes.muzzy);
  sink.Fixed("allocator_frag_ratio", Ratio(bytes.active, bytes.allocated), 2);
  sink.Field("allocator_frag_bytes", Above(bytes.active, bytes.allocated));
  sink.Fixed("allocator_rss_ratio", Ratio(bytes.resident, bytes.active), 2);
  sink.Field("allocator_rss_bytes", Above(bytes.resident, bytes.active));
  sink.Fixed("rss_overhead_ratio", Ratio(report.resident, bytes.resident), 2);
  sink.Field("rss_overhead_bytes",
             static_cast<int64_t>(report.resident) - static_cast<int64_t>(bytes.resident));
}

// used_memory_lua is the older name of Lua's part.
void ScriptFields(InfoSink& sink, const ScriptFigures& scripts) {
  sink.Bytes("used_memory_lua", scripts.eval_heap_bytes);
  sink.Field("used_memory_vm_eval", scripts.eval_heap_bytes);
  sink.Field("used_memory_scripts_eval", scripts.cached_bytes);
  sink.Field("number_of_cached_scripts", scripts.cached);
  sink.Field("number_of_functions", scripts.functions);
  sink.Field("number_of_libraries", scripts.libraries);
  sink.Field("used_memory_vm_functions", scripts.function_heap_bytes);
  sink.Bytes("used_memory_vm_total", scripts.heap_bytes());
  sink.Field("used_memory_functions", scripts.library_bytes);
  sink.Bytes("used_memory_scripts", scripts.cached_bytes + scripts.library_bytes);
}

}  // namespace

void ServerSection(InfoSink& sink, Server& server, Now now) {
  constexpr uint64_t kDaySeconds = 24 * 60 * 60;
  const uint64_t uptime_seconds = (now.mono_ms - server.stats.started_mono_ms) / kMsPerSecond;
  sink.Field("redis_version", kRedisVersion);
  // As of a Redis that was built without .git: the build ID tells builds apart.
  sink.Field("redis_git_sha1", "00000000");
  sink.Field("redis_git_dirty", 0);
  sink.Field("mayfly_version", kMayflyVersion);
  sink.Field("redis_build_id", server.build_id);
  sink.Field("redis_mode", ModeOf(server));
  sink.Field("server_mode", ModeOf(server));
  sink.Field("os", OperatingSystem());
  sink.Field("arch_bits", sizeof(void*) * CHAR_BIT);
  sink.Field("process_id", getpid());
  sink.Field("run_id", server.run_id);
  const config::Settings& settings = server.options.settings();
  sink.Field("tcp_port", settings.port != 0 ? settings.port : settings.tls_port);
  sink.Field("server_time_usec", now.wall_ms * 1000);
  sink.Field("uptime_in_seconds", uptime_seconds);
  sink.Field("uptime_in_days", uptime_seconds / kDaySeconds);
  sink.Field("hz", server.options.Get("hz").value_or(""));
  sink.Field("configured_hz", server.options.Get("hz").value_or(""));
  sink.Field("executable", Executable());
  sink.Field("config_file", server.options.conf_file());
  sink.Field("availability_zone", "");
  sink.Field("io_threads_active", 0);
  if (const uint64_t stop_mono_ms = server.followers.stop_mono_ms; stop_mono_ms != 0)
    sink.Field("shutdown_in_milliseconds", stop_mono_ms - std::min(stop_mono_ms, now.mono_ms));
}

void ClientsSection(InfoSink& sink, Server& server, Now) {
  sink.Field("connected_clients", server.sessions.size());
  sink.Field("cluster_connections", 0);
  sink.Field("maxclients", server.options.settings().maxclients);
  LargestBuffers(sink, server.sessions);
  sink.Field("blocked_clients", server.parking.blocked());
  sink.Field("tracking_clients", server.tracking.clients());
  sink.Field("pubsub_clients", server.pubsub.clients());
  sink.Field("watching_clients", server.watched_keys.clients());
  sink.Field("total_watched_keys", server.watched_keys.keys());
  sink.Field("total_blocking_keys", 0);
  sink.Field("leases", server.leases.size());
}

void MemorySection(InfoSink& sink, Server& server, Now) {
  const MemoryReport report = ReportMemory(server, sink.memory());
  sink.Bytes("used_memory", report.used);
  sink.Bytes("used_memory_rss", report.resident);
  sink.Bytes("used_memory_peak", report.peak);
  sink.Fixed("used_memory_peak_perc", report.PeakPercent(), 2, "%");
  sink.Field("used_memory_overhead", report.overhead);
  sink.Field("used_memory_startup", report.at_start);
  sink.Field("used_memory_dataset", report.dataset);
  sink.Fixed("used_memory_dataset_perc", report.DatasetPercent(), 2, "%");
  AllocatorFields(sink, report);
  sink.Bytes("total_system_memory", MachineMemoryBytes());
  ScriptFields(sink, server.stats.scripts);
  sink.Bytes("maxmemory", server.options.settings().maxmemory.bytes);
  sink.Field("maxmemory_in_force", server.resident.Allowed(server.options.settings().maxmemory.bytes));
  sink.Field("maxmemory_policy", server.options.Get("maxmemory-policy").value_or(""));
  FragmentationFields(sink, report.used, report.resident);
  sink.Field("mem_not_counted_for_evict", server.memory.NotEvictable());
  sink.Field("mem_replication_backlog", report.backlog);
  sink.Field("mem_total_replication_buffers", report.backlog + report.replicas);
  sink.Field("mem_clients_slaves", report.replicas);
  sink.Field("mem_clients_normal", report.normal_clients);
  sink.Field("mem_cluster_links", 0);
  sink.Field("mem_aof_buffer", 0);
  sink.Field("mem_allocator", AllocatorName());
  if (sink.Wants("huge_pages")) sink.Field("huge_pages", NameOf(server.databases.heap().huge_pages()));
  sink.Field("mem_huge_pages", server.databases.heap().HugeBytes());
  sink.Field("active_defrag_running", server.stats.defrag_percent);
  sink.Field("lazyfree_pending_objects", server.databases.waiting_keys());
  sink.Field("mem_spare_reply_chunks", report.spare_chunks);
  sink.Field("flushed_pending_bytes", server.databases.waiting_bytes());
  sink.Field("mem_miss_ring", server.databases.miss_ring_bytes());
  sink.Field("mem_shadow_list", server.databases.shadow().memory());
  sink.Field("mem_stale_values", server.databases.stale_bytes());
  sink.Field("mem_ghost_ring", server.databases.ghosts().bytes());
  sink.Field("mem_expire_log", server.event_log.ring().bytes());
}

void CpuSection(InfoSink& sink, Server&, Now) {
  constexpr int kMicroseconds = 6;
  const CpuSeconds process = UsedCpu(CpuOf::kProcess);
  const CpuSeconds children = UsedCpu(CpuOf::kChildren);
  const CpuSeconds thread = UsedCpu(CpuOf::kThisThread);
  sink.Fixed("used_cpu_sys", process.system, kMicroseconds);
  sink.Fixed("used_cpu_user", process.user, kMicroseconds);
  sink.Fixed("used_cpu_sys_children", children.system, kMicroseconds);
  sink.Fixed("used_cpu_user_children", children.user, kMicroseconds);
  sink.Fixed("used_cpu_sys_main_thread", thread.system, kMicroseconds);
  sink.Fixed("used_cpu_user_main_thread", thread.user, kMicroseconds);
}

}  // namespace mayfly::info
