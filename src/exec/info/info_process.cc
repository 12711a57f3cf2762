// INFO: the process, its clients, its memory, its processor time.
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <string>
#include <string_view>

#include "cache/databases.h"
#include "config/options.h"
#include "exec/dispatch/memory_meter.h"
#include "exec/dispatch/resident_guard.h"
#include "exec/info/identity.h"
#include "exec/info/info_sections.h"
#include "exec/info/memory_report.h"
#include "server/parking.h"
#include "server/process_usage.h"
#include "server/sessions.h"
#include "server/stats.h"

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

void FragmentationFields(InfoText& text, uint64_t used, uint64_t resident) {
  text.Fixed("mem_fragmentation_ratio", Ratio(resident, used), 2);
  text.Field("mem_fragmentation_bytes", static_cast<int64_t>(resident) - static_cast<int64_t>(used));
}

// 16 hexadecimal digits that differ between versions.
std::string BuildId() {
  constexpr uint64_t kOffset = 0xCBF29CE484222325, kPrime = 0x100000001B3;  // FNV-1a
  uint64_t id = kOffset;
  for (const char c : kMayflyVersion) id = (id ^ static_cast<unsigned char>(c)) * kPrime;
  char text[2 * sizeof id + 1];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(id));
  return text;
}

// Of all clients, at this moment.
void LargestBuffers(InfoText& text, const Sessions& sessions) {
  uint64_t input = 0, output = 0;
  for (const auto& [id, session] : sessions.by_id()) {
    input = std::max(input, session->input_memory);
    output = std::max<uint64_t>(output, session->output.memory());
  }
  text.Field("client_recent_max_input_buffer", input);
  text.Field("client_recent_max_output_buffer", output);
}

// The bytes that the allocator has handed out, the pages that these take, and those that the kernel holds.
void AllocatorFields(InfoText& text, const MemoryReport& report) {
  const AllocatorBytes& bytes = report.allocator;
  text.Field("allocator_allocated", bytes.allocated);
  text.Field("allocator_active", bytes.active);
  text.Field("allocator_resident", bytes.resident);
  text.Field("allocator_muzzy", bytes.muzzy);
  text.Fixed("allocator_frag_ratio", Ratio(bytes.active, bytes.allocated), 2);
  text.Field("allocator_frag_bytes", Above(bytes.active, bytes.allocated));
  text.Fixed("allocator_rss_ratio", Ratio(bytes.resident, bytes.active), 2);
  text.Field("allocator_rss_bytes", Above(bytes.resident, bytes.active));
  text.Fixed("rss_overhead_ratio", Ratio(report.resident, bytes.resident), 2);
  text.Field("rss_overhead_bytes",
             static_cast<int64_t>(report.resident) - static_cast<int64_t>(bytes.resident));
}

}  // namespace

void ServerSection(InfoText& text, Server& server, Now now) {
  constexpr uint64_t kDaySeconds = 24 * 60 * 60;
  const uint64_t uptime_seconds = (now.mono_ms - server.stats.started_mono_ms) / 1000;
  text.Field("redis_version", kRedisVersion);
  text.Field("mayfly_version", kMayflyVersion);
  text.Field("redis_build_id", BuildId());
  text.Field("redis_mode", kServerMode);
  text.Field("server_mode", kServerMode);
  text.Field("os", OperatingSystem());
  text.Field("arch_bits", sizeof(void*) * CHAR_BIT);
  text.Field("process_id", getpid());
  text.Field("run_id", server.run_id);
  text.Field("tcp_port", server.options.settings().port);
  text.Field("server_time_usec", now.wall_ms * 1000);
  text.Field("uptime_in_seconds", uptime_seconds);
  text.Field("uptime_in_days", uptime_seconds / kDaySeconds);
  text.Field("hz", server.options.Get("hz").value_or(""));
  text.Field("configured_hz", server.options.Get("hz").value_or(""));
  text.Field("executable", Executable());
  text.Field("config_file", server.options.conf_file());
  text.Field("availability_zone", "");
  text.Field("io_threads_active", 0);
}

void ClientsSection(InfoText& text, Server& server, Now) {
  text.Field("connected_clients", server.sessions.size());
  text.Field("cluster_connections", 0);
  text.Field("maxclients", server.options.settings().maxclients);
  LargestBuffers(text, server.sessions);
  text.Field("blocked_clients", server.parking.blocked());
  text.Field("tracking_clients", 0);
  text.Field("pubsub_clients", 0);
  text.Field("watching_clients", 0);
  text.Field("total_watched_keys", 0);
  text.Field("total_blocking_keys", 0);
}

void MemorySection(InfoText& text, Server& server, Now) {
  const MemoryReport report = ReportMemory(server, text.memory());
  text.Bytes("used_memory", report.used);
  text.Bytes("used_memory_rss", report.resident);
  text.Bytes("used_memory_peak", report.peak);
  text.Fixed("used_memory_peak_perc", report.PeakPercent(), 2, "%");
  text.Field("used_memory_overhead", report.overhead);
  text.Field("used_memory_startup", report.at_start);
  text.Field("used_memory_dataset", report.dataset);
  text.Fixed("used_memory_dataset_perc", report.DatasetPercent(), 2, "%");
  AllocatorFields(text, report);
  text.Bytes("total_system_memory", MachineMemoryBytes());
  text.Bytes("used_memory_lua", 0);
  text.Bytes("used_memory_scripts", 0);
  text.Field("number_of_cached_scripts", 0);
  text.Field("number_of_functions", 0);
  text.Field("number_of_libraries", 0);
  text.Bytes("maxmemory", server.options.settings().maxmemory.bytes);
  text.Field("maxmemory_in_force", server.resident.Allowed(server.options.settings().maxmemory.bytes));
  text.Field("maxmemory_policy", server.options.Get("maxmemory-policy").value_or(""));
  FragmentationFields(text, report.used, report.resident);
  text.Field("mem_not_counted_for_evict", server.memory.NotEvictable());
  text.Field("mem_replication_backlog", 0);
  text.Field("mem_total_replication_buffers", 0);
  text.Field("mem_clients_slaves", 0);
  text.Field("mem_clients_normal", report.clients);
  text.Field("mem_cluster_links", 0);
  text.Field("mem_aof_buffer", 0);
  text.Field("mem_allocator", AllocatorName());
  text.Field("active_defrag_running", 0);
  text.Field("lazyfree_pending_objects", server.databases.waiting_keys());
  text.Field("mem_spare_reply_chunks", report.spare_chunks);
  text.Field("flushed_pending_bytes", server.databases.waiting_bytes());
}

void CpuSection(InfoText& text, Server&, Now) {
  constexpr int kMicroseconds = 6;
  const CpuSeconds process = UsedCpu(CpuOf::kProcess);
  const CpuSeconds children = UsedCpu(CpuOf::kChildren);
  const CpuSeconds thread = UsedCpu(CpuOf::kThisThread);
  text.Fixed("used_cpu_sys", process.system, kMicroseconds);
  text.Fixed("used_cpu_user", process.user, kMicroseconds);
  text.Fixed("used_cpu_sys_children", children.system, kMicroseconds);
  text.Fixed("used_cpu_user_children", children.user, kMicroseconds);
  text.Fixed("used_cpu_sys_main_thread", thread.system, kMicroseconds);
  text.Fixed("used_cpu_user_main_thread", thread.user, kMicroseconds);
}

}  // namespace mayfly::info
