#include <algorithm>

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

TEST_CASE_METHOD(InfoTest, "INFO tells its sections in Redis's order, with Expiry among them") {
  const std::vector<std::string> usual{"Server",  "Clients", "Memory",      "Persistence",
                                       "Stats",   "Expiry",  "Replication", "CPU",
                                       "Modules", "Cluster", "Keyspace"};
  CHECK(Titles() == usual);
  CHECK(Titles({"default"}) == usual);
  std::vector<std::string> all = usual;
  all.insert(all.begin() + 9, "Commandstats");
  CHECK(Titles({"all"}) == all);
  CHECK(Titles({"EVERYTHING"}) == all);
}

TEST_CASE_METHOD(InfoTest, "INFO tells the sections asked for, each once, whatever the case") {
  CHECK(Titles({"memory", "SERVER", "Memory", "nosuch"}) == std::vector<std::string>{"Server", "Memory"});
  CHECK(Titles({"commandstats", "default"}).size() == 12);
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

TEST_CASE_METHOD(InfoTest, "what clients decide by has the value that they expect") {
  CHECK(Field("redis_version") == "7.2.4");
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

TEST_CASE_METHOD(InfoTest, "a tool that searches for the first occurrence finds the right field") {
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

TEST_CASE_METHOD(InfoTest, "Keyspace tells the databases that hold keys, and how many of them expire") {
  CHECK(Run({"INFO", "keyspace"}) == Bulk("# Keyspace\r\n"));
  Run({"SET", "a", "1"});
  Run({"SET", "b", "1", "PX", "1000"});
  Run({"SELECT", "9"});
  Run({"SET", "c", "1"});
  CHECK(Text({"keyspace"}) ==
        "# Keyspace\r\ndb0:keys=2,expires=1,avg_ttl=1000\r\ndb9:keys=1,expires=0,avg_ttl=0\r\n");
}

TEST_CASE_METHOD(InfoTest, "Commandstats tells calls, refusals and failures of each command that was seen") {
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
}

TEST_CASE_METHOD(InfoTest, "Expiry tells how late keys were freed, how many at once, and what still waits") {
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
  for (const char* name : {"expire_lag_p99_us", "expire_lag_p999_us", "expire_burst_max", "wheel_wakeups"})
    CHECK(Field(name, "expiry") != "absent");
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

TEST_CASE_METHOD(InfoTest, "the rate of commands is that of the last moments") {
  Field("instantaneous_ops_per_sec");
  LetTimePass(1000);
  for (int i = 0; i < 499; ++i) Run({"PING"});
  CHECK(Field("instantaneous_ops_per_sec") == "500");
}

}  // namespace mayfly::testing
