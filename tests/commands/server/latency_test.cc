// LATENCY: the samples of what held the server up, and the histograms. How long work takes, the test says.
#include "support/command_test.h"
#include "support/stepped_cycles.h"

namespace mayfly::testing {
namespace {

constexpr auto kUs = static_cast<uint64_t>(LooplessServer::kAnyCyclesPerUs);
constexpr uint64_t kMs = 1000;

class LatencyTest : public CommandTest {
 public:
  LatencyTest() { server().changes.Listen(slow_, ~uint32_t{0}); }
  ~LatencyTest() { server().changes.Unlisten(slow_); }

  // A request that changes one key, and takes that long for it.
  Reply RunFor(uint64_t us, const Words& words) {
    slow_.set_each(us * kUs);
    Reply reply = Run(words);
    slow_.set_each(0);
    return reply;
  }
  Reply Latest(const std::string& name, int64_t at_s, int64_t ms, int64_t max_ms) {
    return Array({Bulk(name), Integer(at_s), Integer(ms), Integer(max_ms)});
  }
  int64_t WallS() { return WallMs() / 1000; }

 private:
  SlowChanges slow_;
};

// What changes this key takes longer than it should.
class Stall final : public ChangeListener {
 public:
  Stall(TestServer& server, std::string key, uint64_t cycles)
      : server_(server), key_(std::move(key)), cycles_(cycles) {
    server_.changes.Listen(*this, ~uint32_t{0});
  }
  ~Stall() override { server_.changes.Unlisten(*this); }
  void OnChange(const Change& change) override {
    if (change.key == key_) SteppedCycles::Advance(cycles_);
  }

 private:
  TestServer& server_;
  const std::string key_;
  const uint64_t cycles_;
};

const char* const kThreshold = "latency-monitor-threshold";

}  // namespace

TEST_CASE_METHOD(LatencyTest, "nothing is a sample until a threshold is set") {
  RunFor(1'000 * kMs, {"INCR", "n"});
  CHECK(Run({"LATENCY", "LATEST"}) == Array({}));
  CHECK(Run({"LATENCY", "DOCTOR"}).text.starts_with("Nothing is watched."));
  SetOption(kThreshold, "5");
  RunFor(5 * kMs - 1, {"INCR", "n"});
  CHECK(Run({"LATENCY", "LATEST"}) == Array({}));
  CHECK(Run({"LATENCY", "DOCTOR"}).text.starts_with("Nothing has held the server up"));
}

TEST_CASE_METHOD(LatencyTest,
                 "slow calls are samples of two events, by whether their command is a fast one") {
  SetOption(kThreshold, "5");
  const int64_t first = WallS();
  RunFor(9 * kMs, {"INCR", "n"});
  RunFor(6 * kMs, {"SET", "k", "v"});
  AdvanceTime(2'000);
  RunFor(7 * kMs + 999, {"INCR", "n"});
  CHECK(Run({"LATENCY", "LATEST"}) ==
        Array({Latest("command", first, 6, 6), Latest("fast-command", first + 2, 7, 9)}));
  CHECK(Run({"LATENCY", "HISTORY", "fast-command"}) ==
        Array({Array({Integer(first), Integer(9)}), Array({Integer(first + 2), Integer(7)})}));
  CHECK(Run({"LATENCY", "HISTORY", "Command"}) == Array({}));
}

TEST_CASE_METHOD(LatencyTest,
                 "a stall among many calls of one command is one sample, without the others' time") {
  std::string requests;
  for (int i = 0; i < 49; ++i) requests += "INCRBY n 1\r\n";
  for (int i = 0; i < 20; ++i) RunRaw(requests);
  SetOption(kThreshold, "5");
  // The other 49 take 8 ms / 1030 each on average, as far as anybody knows.
  const Stall stall(server(), "stalls", 8 * kMs * kUs);
  RunRaw(requests + "INCRBY stalls 1\r\n");
  CHECK(Run({"LATENCY", "LATEST"}) == Array({Latest("fast-command", WallS(), 7, 7)}));
}

TEST_CASE_METHOD(LatencyTest, "a call that waited is a sample of its own event when it is woken") {
  SetOption(kThreshold, "5");
  TestClient& waiter = Connect();
  waiter.Run({"BLPOP", "list", "0"});
  RunFor(6 * kMs, {"RPUSH", "list", "a"});
  const LatencyMonitor::Events& events = server().latency_monitor.events();
  REQUIRE(events.contains("command-unblocking"));
  CHECK(events.contains("fast-command"));
  CHECK_FALSE(events.contains("command"));
}

TEST_CASE_METHOD(LatencyTest, "LATENCY RESET forgets events and answers how many") {
  SetOption(kThreshold, "1");
  RunFor(9 * kMs, {"INCR", "n"});
  RunFor(9 * kMs, {"SET", "k", "v"});
  CHECK(Run({"LATENCY", "RESET", "none", "COMMAND"}) == Integer(1));
  CHECK(Run({"LATENCY", "RESET"}) == Integer(1));
  CHECK(Run({"LATENCY", "RESET"}) == Integer(0));
  CHECK(Run({"LATENCY", "LATEST"}) == Array({}));
}

TEST_CASE_METHOD(LatencyTest, "LATENCY GRAPH draws an event that is there") {
  SetOption(kThreshold, "1");
  RunFor(3 * kMs, {"INCR", "n"});
  const std::string graph = "fast-command - high 3 ms, low 3 ms (all time high 3 ms)\n" +
                            std::string(80, '-') + "\n \n \n \n_\n \n0\ns\n";
  CHECK(Run({"LATENCY", "GRAPH", "fast-command"}) == Bulk(graph));
  UseResp3();
  CHECK(Run({"LATENCY", "GRAPH", "fast-command"}) == Verbatim("txt:" + graph));
  CHECK(Run({"LATENCY", "GRAPH", "FAST-command"}) ==
        Error("ERR No samples available for event 'FAST-command'"));
}

TEST_CASE_METHOD(LatencyTest, "LATENCY DOCTOR says what happened and what helps") {
  SetOption(kThreshold, "5");
  RunFor(10 * kMs, {"SET", "k", "v"});
  AdvanceTime(1'000);
  RunFor(20 * kMs, {"SET", "k", "v"});
  AdvanceTime(9'000);
  const auto doctor = [this] { return Run({"LATENCY", "DOCTOR"}).text; };
  CHECK(doctor() ==
        "What held the server up:\n"
        " * command: 2 samples, one every 5.00 s; mean 15 ms, mean deviation 5 ms, longest ever 20 ms\n"
        "What helps:\n"
        " * The slow log leaves out some of these calls. CONFIG SET slowlog-log-slower-than 5000 makes it "
        "keep all "
        "of them.\n");
  SetOption("slowlog-log-slower-than", "5000");
  CHECK(doctor().find("SLOWLOG GET shows which") != std::string::npos);
  SetOption("slowlog-log-slower-than", "-1");
  CHECK(doctor().find("The slow log is off") != std::string::npos);
  RunFor(5 * kMs, {"INCR", "n"});
  CHECK(doctor().find("intrinsic-latency") != std::string::npos);
}

TEST_CASE_METHOD(LatencyTest, "eviction that takes long is a sample") {
  SetOption("maxmemory-policy", "allkeys-lru");
  for (int i = 0; i < 100; ++i) Run({"SET", "key:" + std::to_string(i), "v"});
  SetOption(kThreshold, "5");
  SetOption("maxkeys", "50");
  RunFor(6 * kMs, {"SET", "k", "v"});
  const Reply latest = Run({"LATENCY", "LATEST"});
  REQUIRE_FALSE(latest.elements.empty());
  constexpr int64_t kEvicted = 51;
  CHECK(latest.elements.back() == Latest("eviction-cycle", WallS(), 6 * kEvicted, 6 * kEvicted));
}

// ---- histograms

TEST_CASE_METHOD(LatencyTest, "LATENCY HISTOGRAM shows how many calls took how long, from the first on") {
  for (int i = 0; i < 3; ++i) RunFor(1, {"SET", "k", "v"});
  RunFor(30, {"SET", "k", "v"});
  RunFor(500, {"INCR", "n"});
  const Reply set = Array({Bulk("calls"), Integer(4), Bulk("histogram_usec"),
                           Array({Integer(1), Integer(3), Integer(33), Integer(4)})});
  const Reply incr =
      Array({Bulk("calls"), Integer(1), Bulk("histogram_usec"), Array({Integer(528), Integer(1)})});
  CHECK(Run({"LATENCY", "HISTOGRAM", "set"}) == Array({Bulk("set"), set}));
  CHECK(Run({"LATENCY", "HISTOGRAM", "INCR", "nosuch", "set"}) ==
        Array({Bulk("incr"), incr, Bulk("set"), set}));
  CHECK(Run({"LATENCY", "HISTOGRAM", "append"}) == Array({}));
  UseResp3();
  const Reply map = Run({"LATENCY", "HISTOGRAM", "set"});
  REQUIRE(map.kind == Reply::Kind::kMap);
  REQUIRE(map.elements.at(1).kind == Reply::Kind::kMap);
  const Reply& buckets = map.elements[1].elements.at(3);
  CHECK(buckets.kind == Reply::Kind::kMap);
  CHECK(buckets.elements == std::vector<Reply>{Integer(1), Integer(3), Integer(33), Integer(4)});
}

TEST_CASE_METHOD(LatencyTest, "a container stands for its subcommands, and no name for every command") {
  Run({"CLIENT", "ID"});
  Run({"CLIENT", "GETNAME"});
  Run({"PING"});
  const auto names = [](const Reply& reply) {
    Words found;
    for (size_t i = 0; i < reply.elements.size(); i += 2) found.push_back(reply.elements[i].text);
    return found;
  };
  CHECK(names(Run({"LATENCY", "HISTOGRAM", "client"})) == Words{"client|getname", "client|id"});
  CHECK(names(Run({"LATENCY", "HISTOGRAM", "client|ID"})) == Words{"client|id"});
  CHECK(names(Run({"LATENCY", "HISTOGRAM"})) ==
        Words{"client|getname", "client|id", "latency|histogram", "ping"});
  Run({"CONFIG", "RESETSTAT"});
  CHECK(names(Run({"LATENCY", "HISTOGRAM"})) == Words{"config|resetstat"});
  SetOption("latency-tracking", "no");
  Run({"INCR", "n"});
  CHECK(names(Run({"LATENCY", "HISTOGRAM"})).empty());
}

TEST_CASE_METHOD(LatencyTest, "a call that waited is in the histogram when it has ended") {
  TestClient& waiter = Connect();
  waiter.Run({"BLPOP", "list", "0"});
  CHECK(Run({"LATENCY", "HISTOGRAM", "blpop"}) == Array({}));
  CHECK(server().commands.Find("blpop")->calls.calls == 1);
  Run({"RPUSH", "list", "a"});
  CHECK(Run({"LATENCY", "HISTOGRAM", "blpop"}).elements.at(1).elements.at(1) == Integer(1));
  CHECK(server().commands.Find("blpop")->calls.calls == 1);
  CHECK(Run({"LATENCY", "HELP"}).kind == Reply::Kind::kArray);
}

}  // namespace mayfly::testing
