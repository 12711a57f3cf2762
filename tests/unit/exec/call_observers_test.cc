// Who is told of calls.
#include "exec/observe/call_observers.h"

#include <string>
#include <vector>

#include "support/catch.h"
#include "support/command_test.h"

namespace mayfly::testing {
namespace {

class Names final : public CallObserver {
 public:
  void OnCall(const Call& call) override {
    names.push_back(call.row->full_name);
    if (call.origin == Origin::kWoken) names.back() += ", woken";
  }
  std::vector<std::string> names;
};

}  // namespace

TEST_CASE_METHOD(CommandTest, "an observer is told of every call that runs, of inner ones first") {
  Names observer;
  server().executor.observers().Add(observer);
  Run({"KEEP", "k", "1"});
  Run({"FETCH", "k"});
  Run({"ALL", "KEEP", "a", "1", ";", "FETCH", "a"});
  Run({"KEEP", "too few"});
  CHECK(observer.names == std::vector<std::string>{"keep", "fetch", "keep", "fetch", "all"});
  server().executor.observers().Remove(observer);
  Run({"FETCH", "k"});
  CHECK(observer.names.size() == 5);
  CHECK(server().server.modes == 0);
}

TEST_CASE_METHOD(CommandTest, "an observer is told of a call when it begins to wait, and when it has ended") {
  Names observer;
  server().executor.observers().Add(observer);
  TestClient& waiter = Connect();
  waiter.Run({"GRAB", "k", "0"});
  Run({"KEEP", "k", "v"});
  CHECK(waiter.Received() == std::vector<Reply>{Bulk("v")});
  CHECK(observer.names == std::vector<std::string>{"grab", "keep", "grab, woken"});
  server().executor.observers().Remove(observer);
}

TEST_CASE_METHOD(CommandTest, "an observer may remove itself while it is told of a call") {
  struct Once final : CallObserver {
    explicit Once(CallObservers& all) : observers(all) {}
    void OnCall(const Call&) override {
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

}  // namespace mayfly::testing
