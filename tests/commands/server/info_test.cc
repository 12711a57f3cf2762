#include <algorithm>
#include <cmath>

#include "server/acl/users.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// INFO as tools read it: sections and fields by name.
class InfoTest : public CommandTest {
 public:
  std::string Text(std::vector<std::string> words = {}) {
    words.insert(words.begin(), "INFO");
    const Reply reply = Run(words);
    REQUIRE(reply.kind == Reply::Kind::kBulk);
    return reply.text;
  }
  // The value of a field, as redis-cli finds it: the first text "name:" anywhere.
  std::string Field(const std::string& name, const std::string& section = "everything") {
    const std::string text = Text({section});
    const size_t at = text.find(name + ":");
    if (at == std::string::npos) return "absent";
    const size_t begin = at + name.size() + 1;
    return text.substr(begin, text.find('\r', begin) - begin);
  }
  std::vector<std::string> Titles(std::vector<std::string> words = {}) {
    const std::string text = Text(std::move(words));
    std::vector<std::string> titles;
    for (size_t at = 0; (at = text.find("# ", at)) != std::string::npos;) {
      at += 2;
      titles.push_back(text.substr(at, text.find('\r', at) - at));
    }
    return titles;
  }
};

}  // namespace

TEST_CASE_METHOD(InfoTest, "INFO shows its sections in Redis's order, with Expiry and TLS among them") {
  const std::vector<std::string> usual{"Server",     "Clients", "Memory",      "Persistence", "Stats",
                                       "Expiry",     "TLS",     "Replication", "CPU",         "Modules",
                                       "Errorstats", "Cluster", "Keyspace",    "Namespaces"};
  CHECK(Titles() == usual);
  CHECK(Titles({"default"}) == usual);
  std::vector<std::string> all = usual;
  all.insert(all.begin() + 10, "Commandstats");
  all.insert(all.begin() + 12, "Unknowncommands");
  all.insert(all.begin() + 13, "Latencystats");
  CHECK(Titles({"all"}) == all);
  all.insert(all.begin() + 6, "Ttlhist");
  CHECK(Titles({"EVERYTHING"}) == all);
}

TEST_CASE_METHOD(InfoTest, "INFO shows the sections that are named, each once, in any case") {
  CHECK(Titles({"memory", "SERVER", "Memory", "nosuch"}) == std::vector<std::string>{"Server", "Memory"});
  CHECK(Titles({"commandstats", "default"}).size() == 15);
  CHECK(Run({"INFO", "nosuch"}) == Bulk(""));
  CHECK(Run({"INFO", "cluster"}) == Bulk("# Cluster\r\ncluster_enabled:0\r\n"));
  CHECK(Run({"INFO", "modules", "cluster"}) == Bulk("# Modules\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n"));
}

TEST_CASE_METHOD(InfoTest, "INFO is verbatim text in RESP3") {
  UseResp3();
  CHECK(RunRaw("INFO cluster\r\n") == "=34\r\ntxt:# Cluster\r\ncluster_enabled:0\r\n\r\n");
  CHECK(RunRaw("INFO nosuch\r\n") == "=4\r\ntxt:\r\n");
}

TEST_CASE_METHOD(InfoTest, "every line of INFO is a title, a field or empty") {
  Run({"SET", "k", "v"});
  const std::string text = Text({"all"});
  size_t fields = 0;
  for (size_t at = 0; at < text.size();) {
    const size_t end = text.find("\r\n", at);
    REQUIRE(end != std::string::npos);
    const std::string line = text.substr(at, end - at);
    INFO(line);
    CHECK((line.empty() || line.substr(0, 2) == "# " || line.find(':') != std::string::npos));
    fields += line.find(':') != std::string::npos ? 1 : 0;
    at = end + 2;
  }
  CHECK(fields > 80);
}

TEST_CASE_METHOD(InfoTest, "fields by which clients decide have the values that they expect") {
  CHECK(Field("redis_version") == "7.4.0");
  CHECK(Field("redis_mode") == "standalone");
  CHECK(Field("run_id").size() == 40);
  CHECK(Field("role") == "master");
  CHECK(Field("connected_slaves") == "0");
  CHECK(Field("loading") == "0");
  CHECK(Field("cluster_enabled") == "0");
  CHECK(Field("aof_enabled") == "0");
  CHECK(Field("maxmemory_policy") == "volatile-lru");
  CHECK(Field("tcp_port") == "6379");
  // Names by which some tools would take us for another server.
  for (const char* other : {"valkey_version", "dragonfly_version", "garnet_version"})
    CHECK(Field(other) == "absent");
}

TEST_CASE_METHOD(InfoTest,
                 "the fields about loading and saving that redis-cli, exporters and dashboards read exist") {
  for (const char* name :
       {"async_loading", "rdb_changes_since_last_save", "rdb_bgsave_in_progress", "rdb_last_save_time",
        "rdb_last_bgsave_status", "aof_enabled", "aof_rewrite_in_progress", "aof_last_write_status"}) {
    INFO(name);
    CHECK(Field(name, "persistence") != "absent");
  }
  // As in Redis, only while something is loaded.
  CHECK(Field("loading_eta_seconds", "persistence") == "absent");
}

TEST_CASE_METHOD(InfoTest, "Persistence follows the saves") {
  SaveFigures& saves = stats().saves;
  CHECK(Field("rdb_last_bgsave_time_sec", "persistence") == "-1");
  CHECK(Field("rdb_current_bgsave_time_sec", "persistence") == "-1");
  AdvanceTime(1'000);
  for (int i = 0; i < 7; ++i) Run({"SET", "k", "v"});
  saves = {.saves = 2,
           .last_ok = false,
           .last_took_s = 3,
           .running_since_mono_ms = server().clock.Read().mono_ms,
           .keys_done = 40,
           .keys_total = 100,
           .last_bytes = 2'048,
           .last_keys = 90,
           .last_problem = "",
           .load_problem = ""};
  AdvanceTime(2'500);
  const std::pair<const char*, const char*> fields[] = {{"loading", "0"},
                                                        {"current_save_keys_processed", "40"},
                                                        {"current_save_keys_total", "100"},
                                                        {"rdb_changes_since_last_save", "7"},
                                                        {"rdb_bgsave_in_progress", "1"},
                                                        {"rdb_last_bgsave_status", "err"},
                                                        {"rdb_last_bgsave_time_sec", "3"},
                                                        {"rdb_current_bgsave_time_sec", "2"},
                                                        {"rdb_saves", "2"},
                                                        {"rdb_last_save_keys", "90"},
                                                        {"rdb_last_save_bytes", "2048"}};
  for (const auto& [name, value] : fields) {
    INFO(name);
    CHECK(Field(name, "persistence") == value);
  }
  saves.running_since_mono_ms = 0;
  CHECK(Field("current_save_keys_processed", "persistence") == "0");
  CHECK(Field("rdb_bgsave_in_progress", "persistence") == "0");
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Field("rdb_saves", "persistence") == "0");
  CHECK(Field("rdb_changes_since_last_save", "persistence") == "7");
  CHECK(Field("rdb_last_save_keys", "persistence") == "90");
}

TEST_CASE_METHOD(InfoTest, "Persistence tells how far a load has come and how long it still takes") {
  SaveFigures& saves = stats().saves;
  const std::string began = std::to_string(WallMs() / 1000);
  saves = {.last_problem = "",
           .loading = true,
           .load_began_mono_ms = server().clock.Read().mono_ms,
           .load_file_bytes = 3'000,
           .load_keys = 3,
           .load_expired = 2,
           .load_skipped = 1,
           .load_took_ms = 5'999,
           .load_problem = ""};
  CHECK(Field("loading_eta_seconds", "persistence") == "1");
  CHECK(Field("loading_loaded_perc", "persistence") == "0.00");
  AdvanceTime(2'000);
  saves.load_done_bytes = 1'000;
  const std::pair<const char*, std::string> fields[] = {{"async_loading", "1"},
                                                        {"loading_start_time", began},
                                                        {"loading_total_bytes", "3000"},
                                                        {"loading_loaded_bytes", "1000"},
                                                        {"loading_loaded_perc", "33.33"},
                                                        {"loading_eta_seconds", "4"},
                                                        {"rdb_last_load_keys_loaded", "3"},
                                                        {"rdb_last_load_keys_expired", "2"},
                                                        {"rdb_last_load_keys_skipped", "1"},
                                                        {"rdb_last_load_bytes", "1000"},
                                                        {"rdb_last_load_time_sec", "5"}};
  for (const auto& [name, value] : fields) {
    INFO(name);
    CHECK(Field(name, "persistence") == value);
  }
  saves.load_file_bytes = 0;  // of a pipe
  CHECK(Field("loading_loaded_perc", "persistence") == "0.00");
}

TEST_CASE_METHOD(InfoTest, "the first occurrence of a field's name is that field") {
  const std::string text = Text();
  for (const char* name : {"connected_clients:", "used_memory:", "used_memory_human:", "loading:",
                           "blocked_clients:", "total_commands_processed:", "instantaneous_ops_per_sec:"}) {
    INFO(name);
    const size_t at = text.find(name);
    REQUIRE(at != std::string::npos);
    CHECK(text[at - 1] == '\n');
  }
}

TEST_CASE_METHOD(InfoTest, "counters follow what happens") {
  Run({"SET", "k", "v"});
  Run({"GET", "k"});
  Run({"GET", "absent"});
  Run({"NOSUCH"});
  CHECK(Field("keyspace_hits") == "1");
  CHECK(Field("keyspace_misses") == "1");
  CHECK(Field("total_error_replies") == "1");
  CHECK(Field("connected_clients") == "1");
  Connect();
  CHECK(Field("connected_clients") == "2");
}

TEST_CASE_METHOD(InfoTest, "evicted keys are counted apart from expired ones, and commands by their number") {
  SetOption("maxmemory-policy", "allkeys-lru");
  SetOption("maxkeys", "2");
  for (const char* key : {"a", "b", "c"}) Run({"SET", key, "v"});
  SetOption("maxkeys", "0");
  for (const char* key : {"d", "e"}) Run({"SET", key, "v", "PX", "5"});
  AdvanceTime(5);
  CHECK(Field("evicted_keys", "stats") == "1");
  CHECK(Field("expired_keys", "stats") == "2");
  CHECK(Field("total_commands_processed", "stats") == "7");
  CHECK(Field("total_commands_processed", "stats") == "8");
}

TEST_CASE_METHOD(InfoTest, "Clients reports how many wait, and how large the largest buffers are") {
  TestClient& other = Connect();
  CHECK(Field("blocked_clients") == "0");
  Run({"CLIENT", "PAUSE", "10", "WRITE"});
  other.Run({"SET", "k", "v"});
  CHECK(Field("blocked_clients") == "1");
  AdvanceTime(10);
  CHECK(Field("blocked_clients") == "0");
  other.session().input_memory = 5000;
  CHECK(Field("client_recent_max_input_buffer") == "5000");
  other.session().output.Append(std::string(100'000, 'x'));
  CHECK(std::stoull(Field("client_recent_max_output_buffer")) >= 100'000);
}

TEST_CASE_METHOD(InfoTest, "Keyspace shows the databases that hold keys, and how many of these expire") {
  CHECK(Run({"INFO", "keyspace"}) == Bulk("# Keyspace\r\n"));
  Run({"SET", "a", "1"});
  Run({"SET", "b", "1", "PX", "1000"});
  Run({"SELECT", "9"});
  Run({"SET", "c", "1"});
  CHECK(Text({"keyspace"}) ==
        "# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=1000,subexpiry=0\r\n"
        "db9:keys=1,expires=0,avg_ttl=0,subexpiry=0\r\n");
}

TEST_CASE_METHOD(InfoTest,
                 "Commandstats reports calls, refusals and failures of each command that was called") {
  Run({"SET", "k", "v"});
  Run({"SET", "k"});
  Run({"INCR", "k"});
  Run({"CLIENT", "ID"});
  CHECK(Field("cmdstat_set", "commandstats").find("calls=1,usec=") == 0);
  CHECK(Field("cmdstat_set", "commandstats").find(",rejected_calls=1,failed_calls=0") != std::string::npos);
  CHECK(Field("cmdstat_incr", "commandstats").find(",rejected_calls=0,failed_calls=1") != std::string::npos);
  CHECK(Field("cmdstat_client|id", "commandstats").find("calls=1,") == 0);
  CHECK(Field("cmdstat_get", "commandstats") == "absent");
  CHECK(Field("cmdstat_set", "default") == "absent");
  Run({"APPEND", "k"});
  CHECK(Field("cmdstat_append", "commandstats").find("calls=0,") == 0);
  CHECK(Field("cmdstat_append", "commandstats").find(",rejected_calls=1,") != std::string::npos);
}

TEST_CASE_METHOD(InfoTest,
                 "each request of a pipeline counts as a command, also if it is like the one before") {
  const auto processed = [this] { return std::stoi(Field("total_commands_processed")); };
  const int before = processed();
  RunRaw("GET k\r\nGET k\r\nGET k\r\nSET k v\r\nGET k\r\nGET k\r\n");
  CHECK(processed() == before + 1 + 6);  // the INFO before, too
}

TEST_CASE_METHOD(InfoTest, "Errorstats counts the error replies of each code") {
  CHECK(Text({"errorstats"}) == "# Errorstats\r\n");
  SetOption("requirepass", "secret");
  RunRaw("GET k\r\nAUTH wrong\r\nHELLO 3 AUTH default wrong\r\nAUTH secret\r\n");
  Run({"NOSUCH"});
  Run({"SET", "k", "v"});
  Run({"INCR", "k"});
  CHECK(
      Text({"errorstats"}) ==
      "# Errorstats\r\nerrorstat_ERR:count=2\r\nerrorstat_NOAUTH:count=1\r\nerrorstat_WRONGPASS:count=2\r\n");
  CHECK(Field("total_error_replies") == "5");
  CHECK(Field("acl_access_denied_auth") == "2");
  RunRaw("*1\r\n$x\r\n");
  TestClient& other = Connect();
  other.session().LogIn(&server().server.users.default_user());
  CHECK(other.Run({"INFO", "errorstats"}).text.find("errorstat_ERR:count=3") != std::string::npos);
  CHECK(other.Run({"CONFIG", "RESETSTAT"}) == Ok());
  CHECK(other.Run({"INFO", "errorstats"}) == Bulk("# Errorstats\r\n"));
}

TEST_CASE_METHOD(InfoTest, "Latencystats shows the configured percentiles of each command that was called") {
  for (int i = 0; i < 3; ++i) Run({"CLIENT", "ID"});
  const std::string usual = Field("latency_percentiles_usec_client|id", "latencystats");
  CHECK(usual.find("p50=") == 0);
  CHECK(usual.find(",p99=") != std::string::npos);
  CHECK(usual.find(",p99.9=") != std::string::npos);
  CHECK(Field("latency_percentiles_usec_get", "latencystats") == "absent");
  SetOption("latency-tracking-info-percentiles", "12.5");
  CHECK(Field("latency_percentiles_usec_client|id", "latencystats").find("p12.5=") == 0);
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Field("latency_percentiles_usec_client|id", "latencystats") == "absent");
}

TEST_CASE_METHOD(InfoTest, "with latency-tracking off there are no percentiles") {
  for (int i = 0; i < 3; ++i) Run({"PING"});
  SetOption("latency-tracking", "no");
  for (int i = 0; i < 3; ++i) Run({"PING"});
  CHECK(Text({"latencystats"}) == "# Latencystats\r\n");
  SetOption("latency-tracking", "yes");
  for (int i = 0; i < 3; ++i) Run({"PING"});
  CHECK(Field("latency_percentiles_usec_ping", "latencystats") != "absent");
}

TEST_CASE_METHOD(InfoTest, "wrong percentiles are refused in Redis's words") {
  const std::string failed =
      "ERR CONFIG SET failed (possibly related to argument 'latency-tracking-info-percentiles') - ";
  const auto set = [&](const char* value) {
    return Run({"CONFIG", "SET", "latency-tracking-info-percentiles", value});
  };
  CHECK(set("abc") == Error(failed + "Invalid latency-tracking-info-percentiles parameters"));
  CHECK(set("50 101") ==
        Error(failed + "latency-tracking-info-percentiles parameters should sit between [0.0,100.0]"));
  CHECK(set("50 99.95 1e1") == Ok());
  CHECK(Run({"CONFIG", "GET", "latency-tracking-info-percentiles"}).elements.at(1) == Bulk("50 99.95 10"));
  CHECK(set("") == Ok());
  Run({"PING"});
  CHECK(Field("latency_percentiles_usec_ping", "latencystats") == "");
}

TEST_CASE_METHOD(InfoTest, "every field that tools read exists") {
  for (const char* name : {"redis_git_sha1",
                           "redis_git_dirty",
                           "redis_build_id",
                           "server_mode",
                           "hz",
                           "configured_hz",
                           "executable",
                           "config_file",
                           "tracking_clients",
                           "pubsub_clients",
                           "watching_clients",
                           "client_recent_max_input_buffer",
                           "client_recent_max_output_buffer",
                           "total_blocking_keys",
                           "used_memory_lua",
                           "used_memory_scripts",
                           "number_of_cached_scripts",
                           "lazyfree_pending_objects",
                           "mem_fragmentation_ratio",
                           "mem_huge_pages",
                           "expired_subkeys",
                           "evicted_clients",
                           "expired_stale_perc",
                           "expired_time_cap_reached_count",
                           "unexpected_error_replies",
                           "tracking_total_keys",
                           "tracking_total_items",
                           "tracking_total_prefixes",
                           "acl_access_denied_cmd",
                           "master_replid2",
                           "second_repl_offset",
                           "repl_backlog_size",
                           "pubsubshard_channels"}) {
    INFO(name);
    CHECK(Field(name) != "absent");
  }
  SetOption("maxmemory", "0");
  Run({"SET", "a", "v", "PX", "10"});
  Run({"SET", "b", "v", "PX", "100"});
  LetTimePass(10);
  CHECK(Field("expired_stale_perc") == "50.00");
  Run({"FLUSHALL"});
  CHECK(Field("lazyfree_pending_objects") == "2");
}

TEST_CASE_METHOD(InfoTest, "huge_pages tells whether keys may be in huge pages") {
  CHECK(Field("huge_pages") == "off");
  SetOption("huge-pages", "yes");
  CHECK((Field("huge_pages") == "on" || Field("huge_pages") == "refused"));
  CHECK(Field("mem_huge_pages") == "0");
}

TEST_CASE_METHOD(InfoTest, "Expiry reports how late keys were freed, and how many wait to be freed") {
  for (int i = 0; i < 100; ++i) Run({"SET", "k" + std::to_string(i), "v", "PX", "50"});
  Run({"SET", "later", "v", "PX", "60"});
  CHECK(Field("expire_backlog", "expiry") == "0");
  LetTimePass(53);
  CHECK(Field("expire_backlog", "expiry") == "100");
  CHECK(Field("expired_keys", "stats") == "0");
  TurnWheels();
  CHECK(Field("expire_backlog", "expiry") == "0");
  CHECK(Field("expired_keys", "stats") == "100");
  CHECK(Field("expire_lag_max_us", "expiry") == "3000");
  CHECK(Field("expire_lag_p50_us", "expiry") == "3000");
  CHECK(Field("clock_steps", "expiry") == "0");
  for (const char* name : {"expire_burst_max", "wheel_wakeups", "expire_log_dropped", "expire_log_overrun"})
    CHECK(Field(name, "expiry") != "absent");
}

TEST_CASE_METHOD(InfoTest, "members count in the lateness, but not in the backlog, which is of keys") {
  Run({"SADD", "s", "stays"});
  for (int i = 0; i < 100; ++i) Run({"SADDEX", "s", "1", "member " + std::to_string(i)});
  LetTimePass(1'003);
  CHECK(Field("expire_backlog", "expiry") == "0");
  TurnWheels();
  CHECK(Field("expired_subkeys", "stats") == "100");
  CHECK(Field("expired_keys", "stats") == "0");
  CHECK(Field("expire_lag_max_us", "expiry") == "3000");
  CHECK(Field("expire_lag_p50_us", "expiry") == "3000");
  // A value that goes as a whole, found by a command before the wheel comes.
  Run({"HSETEX", "h", "PX", "50", "FIELDS", "2", "f", "1", "g", "2"});
  LetTimePass(57);
  CHECK(Run({"EXISTS", "h"}) == Integer(0));
  CHECK(Field("expired_subkeys", "stats") == "102");
  CHECK(Field("expire_lag_max_us", "expiry") == "7000");
}

TEST_CASE_METHOD(InfoTest, "the percentiles of lateness are those of the keys that were freed") {
  // One key in a hundred is 40 ms late, one in five hundred 400 ms.
  for (int i = 0; i < 1000; ++i) {
    Run({"SET", "k", "v", "PX", "1"});
    AdvanceTime(i % 500 == 499 ? 401 : i % 100 == 98 ? 41 : 1);
  }
  CHECK(Field("expired_keys", "stats") == "1000");
  CHECK(Field("expire_lag_p50_us", "expiry") == "0");
  const auto near = [&](const std::string& name, uint64_t us) {
    const uint64_t value = std::stoull(Field(name, "expiry"));
    return value >= us && value <= us + us / 8;
  };
  CHECK(near("expire_lag_p99_us", 40'000));
  CHECK(near("expire_lag_p999_us", 400'000));
  CHECK(near("expire_lag_max_us", 400'000));
}

TEST_CASE_METHOD(InfoTest, "memory figures agree with each other") {
  const uint64_t used = std::stoull(Field("used_memory"));
  CHECK(std::stoull(Field("used_memory_peak")) >= used);
  CHECK(std::stoull(Field("used_memory_rss")) > 0);
  CHECK(std::stoull(Field("total_system_memory")) > std::stoull(Field("used_memory_rss")));
  CHECK(Run({"CONFIG", "SET", "maxmemory", "10gb"}) == Ok());
  CHECK(Field("maxmemory") == "10737418240");
  CHECK(Field("maxmemory_human") == "10.00G");
}

TEST_CASE_METHOD(InfoTest, "uptime counts from the start") {
  CHECK(Run({"CONFIG", "RESETSTAT"}) == Ok());
  stats().started_mono_ms = server().clock.Read().mono_ms;
  LetTimePass(90'061'999);
  CHECK(Field("uptime_in_seconds") == "90061");
  CHECK(Field("uptime_in_days") == "1");
}

TEST_CASE_METHOD(InfoTest, "the rate of commands is taken over the last seconds") {
  Field("instantaneous_ops_per_sec");
  LetTimePass(1000);
  for (int i = 0; i < 499; ++i) Run({"PING"});
  CHECK(Field("instantaneous_ops_per_sec") == "500");
  Run({"CONFIG", "RESETSTAT"});
  CHECK(Field("instantaneous_ops_per_sec") == "0");
  LetTimePass(1000);
  for (int i = 0; i < 9; ++i) Run({"PING"});
  CHECK(Field("instantaneous_ops_per_sec") == "10");
}

TEST_CASE_METHOD(InfoTest, "usec_per_call is usec divided by calls") {
  for (int i = 0; i < 4; ++i) Run({"COMMAND", "DOCS"});
  const std::string field = Field("cmdstat_command|docs", "commandstats");
  const auto number = [&](const std::string& name) {
    return std::stod(field.substr(field.find(name + "=") + name.size() + 1));
  };
  CHECK(number("calls") == 4);
  CHECK(number("usec") > 4);
  CHECK(std::abs(number("usec_per_call") * 4 - number("usec")) < 0.1);
}

TEST_CASE_METHOD(InfoTest, "each percentile of Latencystats is that of the calls") {
  Run({"PING"});
  Histogram& latency = *server().commands.Find("ping")->latency;
  latency = Histogram();
  constexpr auto kMicrosecond = static_cast<uint64_t>(LooplessServer::kAnyCyclesPerUs);
  latency.Add(kMicrosecond, 98);
  latency.Add(1000 * kMicrosecond, 2);
  const std::string field = Field("latency_percentiles_usec_ping", "latencystats");
  const auto near = [&](const std::string& name, double us) {
    const double value = std::stod(field.substr(field.find(name + "=") + name.size() + 1));
    return value >= us && value <= us * 1.125;
  };
  CHECK(near("p50", 1));
  CHECK(near("p99", 1000));
  CHECK(near("p99.9", 1000));
}

TEST_CASE_METHOD(InfoTest, "buffers of clients are overhead") {
  const uint64_t before = std::stoull(Field("used_memory_overhead"));
  stats().client_bytes += 1'000'000;
  CHECK(std::stoull(Field("used_memory_overhead")) == before + 1'000'000);
  stats().client_bytes -= 1'000'000;
}

}  // namespace mayfly::testing
