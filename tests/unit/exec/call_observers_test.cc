// Who is told of calls: a second server that is kept equal by what it is told.
#include "exec/observe/call_observers.h"

#include <random>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "exec/values/dataset_digest.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

// Runs on a server of its own whatever has changed something.
class Replica : public CallObserver {
 public:
  void OnCall(const Call& call, const CallReport& report) override {
    names.push_back(call.row->full_name);
    if (report.changes == 0 || call.row->full_name == "all") return;
    const std::vector<std::string> words =
        report.instead.empty() ? std::vector<std::string>(call.arguments.begin(), call.arguments.end())
                               : report.instead;
    passed_on.push_back(words);
    client.Run(words);
  }
  TestServer server;
  TestClient client{server};
  std::vector<std::string> names;
  std::vector<std::vector<std::string>> passed_on;
};

std::string DigestOf(TestServer& server) {
  return HexOf(DigestOfAll(server.databases, server.executor.now()));
}

}  // namespace

TEST_CASE_METHOD(CommandTest, "an observer is told what changed something, and what to run in its place") {
  Replica replica;
  server().executor.observers().Add(replica);
  Run({"KEEP", "k", "1"});
  Run({"ADD", "k", "4"});
  Run({"FETCH", "k"});
  Run({"ALL", "KEEP", "a", "1", ";", "FETCH", "a"});
  Run({"KEEP", "too few"});
  CHECK(replica.names == std::vector<std::string>{"keep", "add", "fetch", "keep", "fetch", "all"});
  CHECK(replica.passed_on ==
        std::vector<std::vector<std::string>>{{"KEEP", "k", "1"}, {"KEEP", "k", "5"}, {"KEEP", "a", "1"}});
  server().executor.observers().Remove(replica);
  Run({"FETCH", "k"});
  CHECK(replica.names.size() == 6);
  CHECK(server().server.modes == 0);
}

TEST_CASE_METHOD(CommandTest, "a call that waits is reported when it begins to wait, and when it has ended") {
  struct Waits final : CallObserver {
    void OnCall(const Call& call, const CallReport& report) override {
      seen.push_back(call.row->full_name + (report.waits ? " waits" : ""));
      if (call.origin == Origin::kWoken) seen.back() += ", woken";
    }
    std::vector<std::string> seen;
  } observer;
  server().executor.observers().Add(observer);
  TestClient& waiter = Connect();
  waiter.Run({"GRAB", "k", "0"});
  Run({"KEEP", "k", "v"});
  CHECK(waiter.Received() == std::vector<Reply>{Bulk("v")});
  CHECK(observer.seen == std::vector<std::string>{"grab waits", "keep", "grab, woken"});
  server().executor.observers().Remove(observer);
}

TEST_CASE_METHOD(CommandTest, "an observer may remove itself while it is told of a call") {
  struct Once final : CallObserver {
    explicit Once(CallObservers& all) : observers(all) {}
    void OnCall(const Call&, const CallReport&) override {
      ++calls;
      observers.Remove(*this);
    }
    int calls = 0;
    CallObservers& observers;
  };
  CallObservers& all = server().executor.observers();
  Once first(all), second(all);
  all.Add(first);
  all.Add(second);
  Run({"NOW"});
  Run({"NOW"});
  CHECK(first.calls == 1);
  CHECK(second.calls == 1);
  CHECK(server().server.modes == 0);
}

TEST_CASE_METHOD(CommandTest, "a second server that is told of all changes stays equal") {
  Replica replica;
  server().executor.observers().Add(replica);
  TestClient& waiter = Connect();
  std::mt19937 random(11);
  const auto key = [&] { return "k" + std::to_string(random() % 8); };
  for (int step = 0; step < 2000; ++step) {
    switch (random() % 5) {
      case 0:
        Run({"KEEP", key(), std::to_string(step)});
        break;
      case 1:
        Run({"ADD", key(), "3"});
        break;
      case 2:
        Run({"MOVE-TO", key(), "k8"});
        break;
      case 3:
        Run({"ALL", "ADD", key(), "1", ";", "FETCH", "k1", ";", "KEEP", key(), "x"});
        break;
      default:
        if (waiter.session().parked == nullptr) waiter.Run({"GRAB", key(), "0"});
    }
    waiter.Received();
    REQUIRE(DigestOf(server()) == DigestOf(replica.server));
  }
  server().executor.observers().Remove(replica);
}

}  // namespace mayfly::testing
