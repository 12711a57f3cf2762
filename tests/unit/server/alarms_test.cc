#include "server/hubs/alarms.h"

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

class Part final : private Alarms::Alarm {
 public:
  Part(Alarms& alarms, std::function<void()> work) : Alarm(alarms), work_(std::move(work)) {}

 private:
  uint64_t NextWake() const noexcept override { return 1; }
  void OnWake(Now, Log*) override { work_(); }

  std::function<void()> work_;
};

}  // namespace

TEST_CASE("a part may end other parts and make new ones while all are called") {
  Alarms alarms;
  std::vector<std::unique_ptr<Part>> made;
  int ended_calls = 0;
  int made_calls = 0;
  std::unique_ptr<Part> before = std::make_unique<Part>(alarms, [&] { ++ended_calls; });
  std::unique_ptr<Part> after;
  const Part middle(alarms, [&] {
    before.reset();
    after.reset();
    while (made.size() < 100) made.push_back(std::make_unique<Part>(alarms, [&] { ++made_calls; }));
  });
  after = std::make_unique<Part>(alarms, [&] { ++ended_calls; });
  alarms.Wake({}, nullptr);
  CHECK(ended_calls == 1);  // the one before, in its turn
  made_calls = 0;
  alarms.Wake({}, nullptr);
  CHECK(made_calls == 100);
  CHECK(alarms.NextWake() == 1);
}

}  // namespace mayfly
