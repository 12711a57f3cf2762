// The sums of MEMORY STATS, what MEMORY DOCTOR says, and what the log says of limits that do not fit.
#include <cmath>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "base/log/log.h"
#include "commands/memory/failing_allocation.h"
#include "exec/memory/memory_warnings.h"
#include "support/command_test.h"
#include "support/folder.h"

namespace mayfly::testing {
namespace {

class MemoryReportTest : public CommandTest {
 public:
  MemoryReportTest() { UseResp3(); }

  std::map<std::string, Reply> Stats() {
    std::map<std::string, Reply> fields;
    const Reply stats = Run({"MEMORY", "STATS"});
    for (size_t i = 0; i + 1 < stats.elements.size(); i += 2)
      fields[stats.elements[i].text] = stats.elements[i + 1];
    CHECK(fields.size() * 2 == stats.elements.size());
    return fields;
  }
  bool Advises(const std::string& words) {
    return Run({"MEMORY", "DOCTOR"}).text.find(words) != std::string::npos;
  }
  void Fill(size_t keys) {
    for (size_t i = 0; i < keys; ++i) Run({"SET", "k" + std::to_string(i), std::string(16'000, 'x')});
  }
};

double NumberOf(const Reply& reply) { return std::stod(reply.text); }
bool Near(double a, double b) { return std::fabs(a - b) <= 0.01 * std::max(std::fabs(b), 0.01); }

// The lines of a log without their heads.
class LogFile {
 public:
  explicit LogFile(TestServer& server) : server_(server), log_(server.clock, Log::Level::kWarning, path_) {
    server_.server.log = &log_;
  }
  ~LogFile() { server_.server.log = nullptr; }
  std::vector<std::string> Lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line.substr(line.find("# ") + 2));
    return lines;
  }

 private:
  TestServer& server_;
  const Folder folder_;
  const std::string path_ = folder_ / "log";
  Log log_;
};

}  // namespace

TEST_CASE_METHOD(MemoryReportTest, "MEMORY STATS has Redis's fields in their order") {
  Run({"SET", "k", "v"});
  Run({"SELECT", "3"});
  Run({"SET", "k", "v"});
  std::vector<std::string> names;
  const Reply stats = Run({"MEMORY", "STATS"});
  for (size_t i = 0; i < stats.elements.size(); i += 2) names.push_back(stats.elements[i].text);
  CHECK(names == std::vector<std::string>{"peak.allocated",
                                          "total.allocated",
                                          "startup.allocated",
                                          "replication.backlog",
                                          "clients.slaves",
                                          "clients.normal",
                                          "cluster.links",
                                          "aof.buffer",
                                          "lua.caches",
                                          "functions.caches",
                                          "script.VMs",
                                          "db.0",
                                          "db.3",
                                          "overhead.db.hashtable.lut",
                                          "overhead.db.hashtable.rehashing",
                                          "overhead.total",
                                          "db.dict.rehashing.count",
                                          "keys.count",
                                          "keys.bytes-per-key",
                                          "dataset.bytes",
                                          "dataset.percentage",
                                          "peak.percentage",
                                          "allocator.allocated",
                                          "allocator.active",
                                          "allocator.resident",
                                          "allocator.muzzy",
                                          "allocator-fragmentation.ratio",
                                          "allocator-fragmentation.bytes",
                                          "allocator-rss.ratio",
                                          "allocator-rss.bytes",
                                          "rss-overhead.ratio",
                                          "rss-overhead.bytes",
                                          "fragmentation",
                                          "fragmentation.bytes"});
  for (const char* database : {"db.0", "db.3"}) {
    const Reply db = Stats()[database];
    REQUIRE(db.elements.size() == 4);
    CHECK(db.elements[0] == Bulk("overhead.hashtable.main"));
    CHECK(db.elements[2] == Bulk("overhead.hashtable.expires"));
    CHECK(db.elements[3] == Integer(0));
  }
}

TEST_CASE_METHOD(MemoryReportTest, "the ratios and differences of MEMORY STATS are those of its sums") {
  Fill(500);
  std::map<std::string, Reply> stats = Stats();
  const auto bytes = [&](const std::string& name) { return static_cast<double>(stats.at(name).integer); };
  const auto number = [&](const std::string& name) { return NumberOf(stats.at(name)); };
  const double allocated = bytes("allocator.allocated");
  const double active = bytes("allocator.active");
  const double resident = bytes("allocator.resident");
  const double total = bytes("total.allocated");
  const double since_start = total - bytes("startup.allocated");
  const double rss = bytes("rss-overhead.bytes") + resident;
  CHECK(bytes("allocator-fragmentation.bytes") == active - allocated);
  CHECK(Near(number("allocator-fragmentation.ratio"), active / allocated));
  CHECK(bytes("allocator-rss.bytes") == resident - active);
  CHECK(Near(number("allocator-rss.ratio"), resident / active));
  CHECK(Near(number("rss-overhead.ratio"), rss / resident));
  CHECK(bytes("fragmentation.bytes") == rss - total);
  CHECK(Near(number("fragmentation"), rss / total));
  CHECK(Near(number("dataset.percentage"), 100 * bytes("dataset.bytes") / since_start));
  CHECK(Near(number("peak.percentage"), 100 * total / bytes("peak.allocated")));
  CHECK(bytes("keys.count") == 500);
  CHECK(bytes("keys.bytes-per-key") == std::floor(since_start / 500));
  const Reply& db = stats.at("db.0");
  CHECK(static_cast<double>(db.elements[1].integer) > bytes("overhead.db.hashtable.lut"));
  CHECK(bytes("overhead.db.hashtable.lut") > 0);
  CHECK(bytes("overhead.total") >= bytes("startup.allocated") + static_cast<double>(db.elements[1].integer));
#ifndef MAYFLY_SANITIZE  // where only the heap's own bytes are counted
  CHECK(bytes("startup.allocated") > 0);
#endif
}

TEST_CASE_METHOD(MemoryReportTest, "MEMORY STATS tells what clients hold") {
  stats().held_bytes = 123'456;
  CHECK(Stats()["clients.normal"] == Integer(123'456));
  CHECK(Stats()["clients.slaves"] == Integer(0));
  stats().held_bytes = 0;
}

TEST_CASE_METHOD(MemoryReportTest, "MEMORY USAGE follows what a value of any type holds") {
  const std::vector<std::pair<std::vector<std::string>, std::vector<std::string>>> ways = {
      {{"APPEND", "k", "?"}, {"SET", "k", ""}},
      {{"RPUSH", "k", "?"}, {"LTRIM", "k", "0", "0"}},
      {{"SADD", "k", "?"}, {"SPOP", "k", "999"}},
      {{"HSET", "k", "?", "v"}, {}},
      {{"ZADD", "k", "1", "?"}, {"ZREMRANGEBYRANK", "k", "1", "-1"}},
      {{"XADD", "k", "*", "f", "?"}, {"XTRIM", "k", "MAXLEN", "1"}}};
  const auto usage = [&] { return Run({"MEMORY", "USAGE", "k"}).integer; };
  constexpr int kElements = 1000;
  for (const auto& [add, remove] : ways) {
    CAPTURE(add);
    Run({"DEL", "k"});
    for (int i = 0; i < kElements; ++i) {
      std::vector<std::string> request = add;
      for (std::string& word : request) {
        if (word == "?") word = std::to_string(i) + std::string(40, 'x');
      }
      Run(request);
      if (i == 0) CHECK(usage() < 2000);
      if (i == 9) CHECK(usage() > 400);
    }
    const int64_t full = usage();
    CHECK(full > kElements * 40);
    CHECK(full < kElements * 200);
    if (remove.empty()) continue;
    Run(remove);
    CHECK(usage() < full / 2);
  }
}

TEST_CASE_METHOD(MemoryReportTest, "MEMORY DOCTOR names clients with more than 200 KB each, and only then") {
  Fill(500);
  const std::string clients = " * Clients have ";
  stats().client_bytes = 200 * 1024;
  CHECK_FALSE(Advises(clients));
  stats().client_bytes = 200 * 1024 + 1;
  CHECK(Advises(clients + "200.00K of requests and replies waiting."));
  CHECK(Advises("What stands out:\n"));
  CHECK(Advises("CLIENT LIST tells who, client-output-buffer-limit closes them.\n"));
  Connect();
  CHECK_FALSE(Advises(clients));
  stats().client_bytes = 3'000'000;
  CHECK(Advises(clients + "2.86M"));
  stats().client_bytes = 0;
  CHECK_FALSE(Advises(clients));
}

TEST_CASE_METHOD(MemoryReportTest, "MEMORY DOCTOR's answer is a text, and has a last line end") {
  for (const size_t keys : {1, 800}) {
    Fill(keys);
    const Reply advice = Run({"MEMORY", "DOCTOR"});
    CHECK(advice.text.ends_with(".\n"));
    CHECK(advice.text.find("\n\n") == std::string::npos);
  }
}

TEST_CASE_METHOD(MemoryReportTest, "the log warns of a maxmemory that does not fit, and of nothing else") {
  const LogFile log(server());
  SetOption("maxmemory", "100");
  REQUIRE(log.Lines().size() == 1);
  CHECK(log.Lines()[0] == "maxmemory is 100B: a number without a unit is bytes. Megabytes are written 100mb");
  SetOption("maxmemory", "0");
  SetOption("maxkeys", "5");
  CHECK(log.Lines().size() == 1);
}

TEST_CASE_METHOD(MemoryReportTest, "the log warns of namespaces that are promised more than there is") {
  const LogFile log(server());
  SetOption("maxkeys", "100");
  Run({"CONFIG", "SET", "namespace", "a maxkeys 60 b maxkeys 40"});
  CHECK(log.Lines().empty());
  SetOption("maxkeys", "99");
  const std::string line =
      "the maxkeys limits of the namespaces are 100 together, and maxkeys is 99: they bound the namespaces, "
      "but promise them nothing";
  CHECK(log.Lines() == std::vector<std::string>{line});
  Run({"NAMESPACE", "SET", "b", "maxkeys", "41"});
  CHECK(log.Lines().size() == 2);
  Run({"NAMESPACE", "DEL", "b"});
  CHECK(log.Lines().size() == 2);
}

TEST_CASE_METHOD(MemoryReportTest, "without memory for the warnings the log says so") {
  Run({"CONFIG", "SET", "namespace", "a maxkeys 60 b maxkeys 40"});
  SetOption("maxkeys", "99");
  SetOption("maxmemory", "100");
  const LogFile log(server());
  {
    const FailingAllocation failing(1);
    WarnOfMemory(server().server);
  }
  CHECK(AllocationFailed());
  CHECK(log.Lines() == std::vector<std::string>{"no memory to look at maxmemory"});
  {
    const FailingAllocation failing(1);
    WarnOfNamespaces(server().server);
  }
  CHECK(AllocationFailed());
  CHECK(log.Lines().back() == "no memory to look at the limits of namespaces");
  SetOption("maxmemory", "0");
}

}  // namespace mayfly::testing
