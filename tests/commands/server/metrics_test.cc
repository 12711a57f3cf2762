// The pages of the metrics port, from a server with commands, errors and keys: what they say, and that no number of INFO
// is forgotten.
#include <algorithm>
#include <set>
#include <string>
#include <type_traits>

#include "exec/info/info_sections.h"
#include "exec/metrics/metrics_page.h"
#include "exec/metrics/status_json.h"
#include "exec/metrics/status_text.h"
#include "server/figures/link_figures.h"
#include "server/figures/replica_figures.h"
#include "support/command_test.h"
#include "support/prometheus.h"

namespace mayfly::testing {
namespace {

using std::string_literals::operator""s;

class MetricsTest : public CommandTest {
 public:
  std::string Build(Page& page) {
    while (page.BuildSome(server().clock.Read())) {
    }
    return page.Take();
  }
  std::string Scrape() {
    MetricsPage page(server().server);
    return Build(page);
  }
  std::string Summary() { return StatusText(server().server, server().clock.Read()); }
  std::string Status(bool stopping = false) {
    StatusJson page(server().server, stopping);
    return Build(page);
  }
};

// Takes note of the numbers that have no row in the table of metrics.
class Forgotten final : public InfoSink {
 public:
  void Section(std::string_view) override {}
  void Field(std::string_view name, const InfoValue& value) override { Look(name, "", value); }
  void Bytes(std::string_view name, uint64_t bytes) override { Look(name, "", bytes); }
  void Group(const InfoLabel& label, std::span<const InfoMember> members) override {
    for (const InfoMember& member : members) Look(label.prefix, member.name, member.value);
  }
  size_t memory() const noexcept override { return 0; }

  std::set<std::string> names;

 private:
  void Look(std::string_view field, std::string_view member, const InfoValue& value) {
    if (std::holds_alternative<std::string_view>(value.kinds())) return;
    const auto rows = Metrics();
    const bool known = std::any_of(rows.begin(), rows.end(), [&](const Metric& metric) {
      return metric.field == field && metric.member == member;
    });
    if (!known) names.insert(std::string(field) + std::string(member));
  }
};

// Numbers of INFO that are no metrics: constants, figures that follow from others, and those that histograms replace. A
// name stands for all that begin with it.
constexpr std::string_view kLeftOut[] = {
    // constants, and what is told by labels or by Prometheus itself
    "redis_git_",
    "arch_bits",
    "process_id",
    "tcp_port",
    "server_time_usec",
    "uptime_in_days",
    "io_threads_active",
    "cluster_",
    "total_blocking_keys",
    "mem_replication_backlog",
    "mem_total_replication_buffers",
    "mem_cluster_links",
    "mem_aof_buffer",
    "active_defrag_running",
    "active_defrag_key_",
    "current_active_defrag_time",
    "aof_",
    "latest_fork_usec",
    "total_forks",
    "unexpected_error_replies",
    "acl_access_denied_cmd",
    "acl_access_denied_key",
    "acl_access_denied_channel",
    "second_repl_offset",
    "repl_",
    "namespace_memory_promised",
    // shares and differences of what is there
    "used_memory_peak_perc",
    "used_memory_dataset_perc",
    "allocator_frag_",
    "allocator_rss_",
    "rss_overhead_",
    "mem_fragmentation_bytes",
    "used_memory_lua",
    "used_memory_vm_eval",
    "used_memory_vm_functions",
    "used_memory_scripts_eval",
    "used_memory_functions",
    "instantaneous_",
    "keyspace_misses",
    "cmdstat_usec_per_call",
    "used_cpu_sys_",
    "used_cpu_user_",
    // percentiles: histograms are there, or would be
    "expire_lag_p",
    "evicted_age_ms_",
    "latency_percentiles_usec_",
    // what takes a walk through all clients or keys
    "client_recent_max_",
    "expired_stale_perc",
    "ttlhist_",
    "ttl_",
    // how far a save or a load has come
    "current_save_keys_",
    "rdb_current_bgsave_time_sec",
    "loading_start_time",
    "loading_loaded_perc",
    "loading_eta_seconds",
};

}  // namespace

TEST_CASE_METHOD(MetricsTest, "every number of INFO is a metric, or is left out by name") {
  Run({"SET", "k", "v", "EX", "10"});
  Run({"NOSUCH"});
  SetOption("shadow-list", "yes");
  SetOption("namespace", "shop prefix shop: maxmemory 1mb");
  stats().saves.loading = true;
  Forgotten forgotten;
  constexpr std::string_view kAll[] = {"everything"};
  WriteInfo(forgotten, server().server, server().clock.Read(), kAll);
  for (const std::string_view name : kLeftOut) {
    INFO(name);
    CHECK(std::erase_if(forgotten.names, [&](const std::string& one) { return one.starts_with(name); }) != 0);
  }
  CHECK(forgotten.names == std::set<std::string>{});
}

TEST_CASE_METHOD(MetricsTest,
                 "the page for Prometheus tells of TLS, and of clients closed for maxmemory-clients") {
  stats().evicted_clients = 3;
  stats().tls = {.handshakes = 5,
                 .handshakes_failed = 2,
                 .resumed = 4,
                 .connections = 1,
                 .certificate_expires_s = WallMs() / 1000 + 60};
  const std::string page = Scrape();
  CHECK(ProblemOfPrometheus(page) == "");
  CHECK(HasLine(page, "mayfly_clients_closed_total{reason=\"maxmemory_clients\"} 3"));
  CHECK(HasLine(page, "mayfly_tls_clients 1"));
  CHECK(HasLine(page, "mayfly_tls_handshakes_total{result=\"done\"} 5"));
  CHECK(HasLine(page, "mayfly_tls_handshakes_total{result=\"failed\"} 2"));
  CHECK(HasLine(page, "mayfly_tls_sessions_resumed_total 4"));
  CHECK(HasLine(page, "mayfly_tls_certificate_expires_seconds 60"));
}

TEST_CASE_METHOD(MetricsTest, "the page for Prometheus tells of saves and of a load") {
  SaveFigures& saves = stats().saves;
  CHECK(HasLine(Scrape(), "mayfly_snapshot_last_info{status=\"ok\"} 1"));
  CHECK(HasLine(Scrape(), "mayfly_snapshot_last_duration_seconds -1"));
  CHECK(Scrape().find("mayfly_loading_file_bytes") == std::string::npos);
  for (int i = 0; i < 7; ++i) Run({"SET", "k", "v"});
  saves = {.saves = 3,
           .last_save_s = 1'700'000'000,
           .last_ok = false,
           .last_took_s = 4,
           .running_since_mono_ms = 1,
           .last_bytes = 500,
           .last_keys = 5,
           .last_problem = "",
           .loading = true,
           .load_file_bytes = 800,
           .load_done_bytes = 80,
           .load_keys = 8,
           .load_expired = 7,
           .load_skipped = 6,
           .load_took_ms = 9'000,
           .load_problem = ""};
  const std::string page = Scrape();
  CHECK(ProblemOfPrometheus(page) == "");
  for (const char* line :
       {"loading{clients=\"served\"} 1", "loading{clients=\"wait\"} 0", "snapshot_unsaved_changes 7",
        "snapshot_running 1", "snapshot_last_timestamp_seconds 1700000000",
        "snapshot_last_duration_seconds 4", "snapshots_total 3", "snapshot_last_keys 5",
        "snapshot_last_bytes 500", "snapshot_last_info{status=\"err\"} 1",
        "loaded_file_keys{result=\"loaded\"} 8", "loaded_file_keys{result=\"expired\"} 7",
        "loaded_file_keys{result=\"skipped\"} 6", "loaded_file_bytes 80", "loaded_file_duration_seconds 9",
        "loading_file_bytes 800", "loading_done_bytes 80"})
    CHECK(HasLine(page, "mayfly_" + std::string(line)));
}

TEST_CASE_METHOD(MetricsTest, "the page for Prometheus is well formed, and counts what happened") {
  Run({"SET", "a", "v"});
  Run({"SET", "b", "v", "EX", "100"});
  Run({"GET", "a"});
  Run({"GET", "absent"});
  Run({"CONFIG", "GET", "port"});
  Run({"NOSUCH"});
  Run({"SELECT", "3"});
  Run({"SADD", "s", "x"});
  const std::string page = Scrape();
  CHECK(ProblemOfPrometheus(page) == "");
  CHECK(HasLine(page, "mayfly_keyspace_hits_total 1"));
  CHECK(HasLine(page, "mayfly_keyspace_misses_total{reason=\"cold\"} 1"));
  CHECK(HasLine(page, "mayfly_command_calls_total{command=\"set\"} 2"));
  CHECK(HasLine(page, "mayfly_command_calls_total{command=\"config|get\"} 1"));
  CHECK(HasLine(page, "mayfly_errors_total{code=\"ERR\"} 1"));
  CHECK(HasLine(page, "mayfly_unknown_commands_total{command=\"nosuch\"} 1"));
  CHECK(HasLine(page, "mayfly_db_keys{db=\"0\"} 2"));
  CHECK(HasLine(page, "mayfly_db_expiring_keys{db=\"0\"} 1"));
  CHECK(HasLine(page, "mayfly_db_keys{db=\"3\"} 1"));
  CHECK(HasLine(page, "mayfly_command_duration_seconds_count{command=\"set\"} 2"));
  CHECK(HasLine(page, "mayfly_command_duration_seconds_bucket{command=\"set\",le=\"+Inf\"} 2"));
  CHECK(HasLine(page, "mayfly_eviction_policy_info{policy=\"volatile-lru\"} 1"));
  CHECK(HasLine(page, "# TYPE mayfly_expiry_lag_seconds histogram"));
}

TEST_CASE_METHOD(MetricsTest, "lag and times are in seconds, and bytes are bytes") {
  Run({"SET", "k", "v", "PX", "20"});
  LetTimePass(27);
  TurnWheels();
  const std::string page = Scrape();
  CHECK(HasLine(page, "mayfly_expired_keys_total 1"));
  CHECK(HasLine(page, "mayfly_expiry_lag_max_seconds 0.007"));
  CHECK(HasLine(page, "mayfly_expiry_lag_seconds_bucket{le=\"0.005\"} 0"));
  CHECK(HasLine(page, "mayfly_expiry_lag_seconds_bucket{le=\"0.01\"} 1"));
  CHECK(HasLine(page, "mayfly_expiry_lag_seconds_count 1"));
}

TEST_CASE_METHOD(MetricsTest, "namespaces have labels") {
  SetOption("namespace", "shop prefix shop: maxmemory 1mb");
  Run({"SET", "shop:1", "v"});
  Run({"GET", "shop:1"});
  const std::string page = Scrape();
  CHECK(HasLine(page, "mayfly_namespaces 1"));
  CHECK(HasLine(page, "mayfly_namespace_keys{namespace=\"shop\"} 1"));
  CHECK(HasLine(page, "mayfly_namespace_memory_max_bytes{namespace=\"shop\"} 1048576"));
  CHECK(HasLine(page, "mayfly_namespace_hits_total{namespace=\"shop\"} 1"));
}

TEST_CASE_METHOD(MetricsTest, "whatever error codes scripts invent, the page stays well formed") {
  for (const std::string& code :
       {"a\"b"s, "c\\d"s, "e:f"s, "e#f"s, "g\xFFh"s, "\"g\\xffh\""s, "{}"s, "\xC3\xBC"s, "i\x01j"s})
    Run({"EVAL", "return redis.error_reply(ARGV[1] .. ' text')", "0", code});
  Run({"x\"y\xFE\n"});
  const std::string page = Scrape();
  CHECK(ProblemOfPrometheus(page) == "");
  CHECK(HasLine(page, "mayfly_errors_total{code=\"a\\\"b\"} 1"));
  CHECK(HasLine(page, "mayfly_errors_total{code=\"e:f\"} 1"));
  CHECK(HasLine(page, "mayfly_errors_total{code=\"e#f\"} 1"));
}

TEST_CASE_METHOD(MetricsTest, "a page is built in many parts") {
  MetricsPage page(server().server);
  size_t parts = 1;
  while (page.BuildSome(server().clock.Read())) ++parts;
  CHECK(parts > server().commands.size() / 10);
  CHECK(page.memory() > 10'000);
}

TEST_CASE_METHOD(MetricsTest, "the status has figures, and names of keys that cannot leave their text") {
  const std::string hostile = "</script><img src=x onerror=alert(1)>\n\0\xFF\"'"s;
  Run({"SET", hostile, std::string(20'000, 'v'), "EX", "30"});
  Run({"SET", std::string(500, 'k'), std::string(40'000, 'v')});
  for (int i = 0; i < 1'000; ++i) Run({"GET", hostile});
  Run({"GET", "absent"});
  const std::string json = Status();
  CHECK(json.starts_with("{\"version\":\""));
  CHECK(json.ends_with("}"));
  CHECK(json.find('<') == std::string::npos);
  CHECK(std::all_of(json.begin(), json.end(), [](char c) { return c >= ' ' || c < 0; }));
  CHECK(json.find("\"hits\":1000,\"misses\":1,") != std::string::npos);
  CHECK(json.find("\"key\":\"\\\"\\u003c/script\\u003e\\u003cimg src=x "
                  "onerror=alert(1)\\u003e\\\\n\\\\x00\\\\xff\\\\\\\"'\\\"\"") != std::string::npos);
  CHECK(json.find(std::string(64, 'k') + "\\\"\xE2\x80\xA6 500 bytes\"") != std::string::npos);
  CHECK(json.find(std::string(65, 'k')) == std::string::npos);
  CHECK(json.find("{\"name\":\"10s_to_1m\",\"keys\":1,") != std::string::npos);
  CHECK(json.find("\"stopping\":false") != std::string::npos);
  CHECK(Status(true).find("\"stopping\":true") != std::string::npos);
}

TEST_CASE_METHOD(MetricsTest,
                 "the status tells of the last save and its problem, and how far a load has come") {
  CHECK(Status().find("\"save\":{\"running\":false,\"keys_done\":0,\"keys_total\":0,\"saved\":false,") !=
        std::string::npos);
  SaveFigures& saves = stats().saves;
  for (int i = 0; i < 7; ++i) Run({"SET", "k", "v"});
  saves = {.last_save_s = WallMs() / 1000 - 60,
           .running_since_mono_ms = 1,
           .keys_done = 3,
           .keys_total = 4,
           .last_bytes = 500,
           .last_keys = 5,
           .last_took_ms = 70,
           .last_problem = "the disk is \"full\"",
           .loading = true,
           .load_file_bytes = 800,
           .load_done_bytes = 80,
           .load_keys = 8,
           .load_expired = 7,
           .load_skipped = 6,
           .load_took_ms = 5,
           .load_problem = "damage"};
  const std::string status = Status();
  CHECK(status.find("\"save\":{\"running\":true,\"keys_done\":3,\"keys_total\":4,\"saved\":true,\"age_s\":60,"
                    "\"keys\":5,\"bytes\":500,\"took_ms\":70,\"changes\":7,"
                    "\"problem\":\"the disk is \\\"full\\\"\"}") != std::string::npos);
  CHECK(status.find(
            "\"load\":{\"running\":true,\"clients_wait\":false,\"file_bytes\":800,\"bytes\":80,\"keys\":8,"
            "\"expired\":7,\"skipped\":6,\"took_ms\":5,\"problem\":\"damage\"}") != std::string::npos);
}

TEST_CASE_METHOD(MetricsTest, "the status of a master has its replicas, and how far behind they are") {
  CHECK(Status().find(
            "\"replication\":{\"role\":\"master\",\"master\":{\"host\":\"\",\"port\":0,\"link\":\"none\","
            "\"heard_ms\":0,\"down_ms\":0,\"failed\":0},\"connected\":0,\"replicas\":[]}") !=
        std::string::npos);
  CHECK(Summary().find("role              master, no replica\n") != std::string::npos);
  AdvanceTime(9'000);
  const uint64_t heard = server().clock.Read().mono_ms - 3'000;
  std::vector<ReplicaFigures::Line>& lines = server().followers.lines;
  lines.resize(2);
  lines[0].address = "10.0.0.9";
  lines[0].port = 6379;
  lines[0].state = "online";
  lines[0].online = true;
  lines[0].heard_mono_ms = heard;
  lines[1].address = "</script>\xFF" + std::string(500, 'a');
  lines[1].state = "send_bulk";
  const std::string status = Status();
  CHECK(status.find("\"connected\":2,\"replicas\":[{\"host\":\"10.0.0.9\",\"port\":6379,\"state\":\"online\","
                    "\"online\":true,\"lag_s\":3},") != std::string::npos);
  CHECK(status.find("\"state\":\"send_bulk\",\"online\":false,\"lag_s\":0}]") != std::string::npos);
  CHECK(status.find('<') == std::string::npos);
  CHECK(status.find(std::string(64, 'a')) == std::string::npos);
  CHECK(Summary().find("role              master, 2 replicas, the longest lag is 3 s\n") !=
        std::string::npos);
  lines.resize(1);
  CHECK(Summary().find("role              master, 1 replica, the longest lag is 3 s\n") != std::string::npos);
  lines.resize(StatusJson::kShownReplicas + 5, lines.front());
  const std::string many = Status();
  CHECK(many.find("\"connected\":25,") != std::string::npos);
  size_t shown = 0;
  for (size_t at = many.find("\"lag_s\""); at != std::string::npos; at = many.find("\"lag_s\"", at + 1))
    ++shown;
  CHECK(shown == StatusJson::kShownReplicas);
}

TEST_CASE_METHOD(MetricsTest, "the status of a replica has its master, and how the link is") {
  AdvanceTime(9'000);
  const uint64_t now = server().clock.Read().mono_ms;
  LinkFigures& link = server().link;
  link.state = LinkFigures::State::kConnected;
  link.host = "10.0.0.7";
  link.port = 6380;
  link.heard_mono_ms = now - 400;
  link.failures = 2;
  const std::string begin =
      "\"replication\":{\"role\":\"replica\",\"master\":{\"host\":\"10.0.0.7\",\"port\":6380,";
  CHECK(Status().find(begin + "\"link\":\"up\",\"heard_ms\":400,\"down_ms\":0,\"failed\":2}") !=
        std::string::npos);
  CHECK(Summary().find("role              replica, the link to the master is up\n") != std::string::npos);
  link.state = LinkFigures::State::kTransfer;
  link.down_since_mono_ms = now - 5'000;
  CHECK(Status().find(begin + "\"link\":\"transfer\",\"heard_ms\":0,\"down_ms\":5000,") != std::string::npos);
  CHECK(Summary().find("role              replica, the link to the master is down\n") != std::string::npos);
  link = {};
}

TEST_CASE_METHOD(MetricsTest, "the status draws the wheel: a slot for each deadline, from now on") {
  Run({"SET", "k", "v", "PX", "5"});
  CHECK(Status().find("\"wheel\":[\"0000000000000020\",\"0000000000000000\",") != std::string::npos);
  AdvanceTime(3);
  CHECK(Status().find("\"wheel\":[\"0000000000000004\",") != std::string::npos);
  AdvanceTime(2);
  CHECK(Status().find("\"wheel\":[\"0000000000000000\",") != std::string::npos);
}

TEST_CASE_METHOD(MetricsTest, "the summary in words has no name that a client chose") {
  Run({"SET", "<b>", "v"});
  Run({"GET", "<b>"});
  const std::string text = StatusText(server().server, server().clock.Read());
  CHECK(text.find("keys              1\n") == 0);
  CHECK(text.find("hit ratio         100.0%\n") != std::string::npos);
  CHECK(text.find('<') == std::string::npos);
}

}  // namespace mayfly::testing
