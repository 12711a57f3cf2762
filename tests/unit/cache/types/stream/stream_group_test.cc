#include "cache/types/stream/stream_group.h"

#include <map>
#include <random>
#include <string>

#include "cache/types/stream/stream_groups.h"
#include "support/catch.h"

namespace mayfly {
namespace {

struct HeldEntry {
  std::string consumer;
  int64_t ms;
  uint32_t count;
};
using GroupModel = std::map<StreamId, HeldEntry>;

bool SameGroup(const StreamGroup& group, const GroupModel& model) {
  bool same = group.pending() == model.size();
  group.deliveries().ForFrom({}, [&](StreamId id, const Delivery& delivery) {
    const auto held = model.find(id);
    same = same && held != model.end() && held->second.ms == delivery.ms &&
           held->second.count == delivery.count && held->second.consumer == group.ConsumerOf(delivery).name;
    return same;
  });
  return same;
}

}  // namespace

TEST_CASE("a group knows what each consumer holds, whatever is delivered, claimed and acknowledged") {
  std::mt19937_64 random(34);
  StreamGroup::Account account;
  StreamGroup group("g", {}, 0, account);
  GroupModel model;
  for (int step = 0; step < 20'000; ++step) {
    const StreamId id{random() % 300, random() % 5};
    const std::string name = "consumer " + std::to_string(random() % 7) + std::string(random() % 7 * 8, '.');
    const auto roll = random() % 100;
    StreamConsumer* consumer = group.FindConsumer(name);
    if (roll < 50) {
      if (consumer == nullptr) consumer = &group.AddConsumer(name, step);
      const HeldEntry held{name, step, static_cast<uint32_t>(random() % 9)};
      group.Deliver(id, *consumer, held.ms, held.count);
      model[id] = held;
    } else if (roll < 99) {
      CHECK(group.Acknowledge(id) == (model.erase(id) != 0));
    } else if (consumer != nullptr) {
      const auto gone = std::erase_if(model, [&](const auto& held) { return held.second.consumer == name; });
      CHECK(group.RemoveConsumer(*consumer) == gone);
    }
    if (step % 500 == 0) REQUIRE((group.Validate() && SameGroup(group, model)));
  }
  CHECK(account.bytes == group.Bytes());
  CHECK(account.pending == group.pending());
  const auto copy = group.Clone(account);
  CHECK(account.bytes == group.Bytes() + copy->Bytes());
  CHECK(account.pending == group.pending() + copy->pending());
  REQUIRE((copy->Validate() && SameGroup(*copy, model)));
  while (!copy->FreeSome(10)) {
  }
  CHECK((copy->pending() == 0 && copy->consumers() == 0));
  REQUIRE((group.Validate() && SameGroup(group, model)));
}

TEST_CASE("a consumer takes the number of one that has gone, without a search") {
  constexpr uint32_t kConsumers = 200'000;
  StreamGroup::Account account;
  StreamGroup group("g", {}, 0, account);
  for (uint32_t i = 0; i < kConsumers; ++i) REQUIRE(group.AddConsumer(std::to_string(i), 0).number == i);
  for (const char* name : {"7", "50000"}) group.RemoveConsumer(*group.FindConsumer(name));
  REQUIRE(group.Validate());
  const auto copy = group.Clone(account);
  REQUIRE(copy->Validate());
  for (StreamGroup* of : {&group, copy.get()}) {
    CHECK(of->AddConsumer("a", 0).number == 50'000);
    CHECK(of->AddConsumer("b", 0).number == 7);
    CHECK(of->AddConsumer("c", 0).number == kConsumers);
    CHECK(of->Validate());
  }
}

TEST_CASE("a pending entry takes less than 34 bytes; it takes 84 in redis-server") {
  constexpr uint64_t kEntries = 1'000'000;
  StreamGroup::Account account;
  StreamGroup group("g", {}, 0, account);
  StreamConsumer& consumer = group.AddConsumer("worker", 0);
  const uint64_t before = group.Bytes();
  for (uint64_t i = 0; i < kEntries; ++i)
    group.Deliver({1'700'000'000'000 + i / 100, i % 100}, consumer, 1, 1);
  CHECK(group.Bytes() - before < kEntries * 34);
}

}  // namespace mayfly
