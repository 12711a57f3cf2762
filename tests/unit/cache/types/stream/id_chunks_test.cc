#include "cache/types/stream/id_chunks.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

struct NoPayload {};
using ModelledIds = IdChunks<uint64_t>;
using IdModel = std::map<StreamId, uint64_t>;

bool SameIds(const ModelledIds& ids, const IdModel& model) {
  auto next = model.begin();
  bool same = ids.size() == model.size();
  ids.ForFrom({}, [&](StreamId id, uint64_t payload) {
    same = same && next != model.end() && next->first == id && next->second == payload;
    if (next != model.end()) ++next;
    return true;
  });
  if (model.empty()) return same;
  return same && next == model.end() && ids.First() == model.begin()->first &&
         ids.Last() == model.rbegin()->first;
}

// IDs near each other and far away, with short and with long sequences.
StreamId RandomStreamId(std::mt19937_64& random) {
  constexpr uint64_t kFar = uint64_t{1} << 33;
  constexpr uint64_t kLong = uint64_t{3} << 31;
  return {random() % 50 + (random() % 8) / 6 * kFar, random() % 40 + (random() % 8) / 6 * kLong};
}

}  // namespace

TEST_CASE("a set of ids does what a map does, whatever comes and goes") {
  std::mt19937_64 random(20261126);
  for (int round = 0; round < 30; ++round) {
    ModelledIds ids;
    IdModel model;
    for (int step = 0; step < 3000; ++step) {
      const StreamId id = RandomStreamId(random);
      // Grows in the first half, and shrinks in the second.
      const bool inserts = random() % 4 < (step < 1500 ? 3U : 1U);
      if (!inserts) {
        CHECK(ids.Erase(id) == (model.erase(id) != 0));
      } else if (ids.Find(id) != nullptr) {
        REQUIRE(model.contains(id));
        CHECK(ids.Update(id, model[id] = random()));
      } else {
        CHECK_FALSE(ids.Update(id, 0));
        const uint64_t payload = random();
        CHECK(model.emplace(id, payload).second);
        ids.Insert(id, payload);
      }
      if (step % 100 == 0) REQUIRE((ids.Validate() && SameIds(ids, model)));
    }
    REQUIRE((ids.Validate() && SameIds(ids, model)));
    const ModelledIds copy = ids.Clone();
    CHECK((copy.Validate() && SameIds(copy, model)));
    const StreamId low = RandomStreamId(random);
    std::vector<StreamId> from;
    ids.ForFrom(low, [&](StreamId id, uint64_t) { return from.push_back(id), from.size() < 10; });
    auto next = model.lower_bound(low);
    for (const StreamId id : from) CHECK((next != model.end() && next++->first == id));
    CHECK((from.size() == 10 || next == model.end()));
    while (!ids.FreeSome(100)) CHECK(ids.Validate());
    CHECK((ids.Validate() && ids.Bytes() == 0));
  }
}

TEST_CASE("a set of ids drops all that a function names, and stays a set") {
  std::mt19937_64 random(34);
  for (int round = 0; round < 50; ++round) {
    ModelledIds ids;
    IdModel model;
    for (int i = 0; i < 700; ++i) {
      const StreamId id = RandomStreamId(random);
      if (model.emplace(id, i).second) ids.Insert(id, static_cast<uint64_t>(i));
      if (i % 3 == 0 && !model.empty()) {
        const StreamId first = model.begin()->first;
        ids.Erase(first);
        model.erase(first);
      }
    }
    const uint64_t keeps = random() % 4;
    const auto goes = [&](uint64_t payload) { return payload % 3 >= keeps; };
    const size_t erased = ids.EraseIf([&](StreamId, uint64_t payload) { return goes(payload); });
    CHECK(erased == std::erase_if(model, [&](const auto& held) { return goes(held.second); }));
    REQUIRE((ids.Validate() && SameIds(ids, model)));
    if (model.contains({7, 7})) continue;
    ids.Insert({7, 7}, 1);
    model[{7, 7}] = 1;
    REQUIRE((ids.Validate() && SameIds(ids, model)));
  }
}

struct Ranked {
  int64_t Rank() const noexcept { return rank; }
  int64_t rank;
  uint64_t other;
};

TEST_CASE("a set of ids finds those with the lowest ranks, whatever comes and goes") {
  std::mt19937_64 random(84);
  IdChunks<Ranked> ids;
  std::map<StreamId, int64_t> model;
  for (int step = 0; step < 20'000; ++step) {
    const StreamId id = RandomStreamId(random);
    const auto rank = static_cast<int64_t>(random() % 500) + step / 10;
    if (step % 5 == 4) {
      CHECK(ids.Erase(id) == (model.erase(id) != 0));
    } else {
      model[id] = rank;
      if (!ids.Update(id, {rank, 0})) ids.Insert(id, {rank, 0});
    }
    if (step % 100 != 0 || model.empty()) continue;
    std::vector<std::pair<int64_t, StreamId>> expected;
    for (const auto& [known, its_rank] : model) expected.emplace_back(its_rank, known);
    std::sort(expected.begin(), expected.end());
    CHECK(ids.LowestRank() == expected[0].first);
    const int64_t most = expected[random() % expected.size()].first;
    const size_t count = random() % 40;
    std::vector<StreamId> lowest;
    for (const auto& [its_rank, known] : expected) {
      if (its_rank <= most && (count == 0 || lowest.size() < count)) lowest.push_back(known);
    }
    CHECK(ids.LowestRanked(most, count) == lowest);
    REQUIRE(ids.Validate());
  }
}

TEST_CASE("ids that come at the end and go at the front are a queue") {
  std::mt19937_64 random(62);
  ModelledIds ids;
  IdModel model;
  uint64_t last = 0;
  for (int step = 0; step < 20'000; ++step) {
    // Up to 200 are in it, and sometimes none.
    const bool adds = model.empty() || (model.size() < 200 && random() % 2 == 0 && step % 1000 < 900);
    if (adds) {
      const StreamId id{1'000'000 + ++last / 3, last % 3};
      ids.Insert(id, last);
      model[id] = last;
    } else {
      const StreamId id =
          random() % 10 == 0
              ? std::next(model.begin(), static_cast<ptrdiff_t>(random() % model.size()))->first
              : model.begin()->first;
      CHECK(ids.Erase(id));
      model.erase(id);
    }
    if (step % 50 == 0) REQUIRE((ids.Validate() && SameIds(ids, model)));
  }
}

TEST_CASE("ids that come in order fill their chunks: 8 bytes each, and the payload") {
  constexpr uint64_t kIds = 64'000;
  IdChunks<NoPayload> ids;
  for (uint64_t i = 0; i < kIds; ++i) ids.Insert({1'700'000'000'000 + i / 7, i % 7});
  CHECK(ids.Bytes() < kIds * 9);
  // Those that go at the front free theirs.
  for (uint64_t i = 0; i < kIds / 2; ++i) CHECK(ids.Erase(ids.First()));
  CHECK(ids.Validate());
  CHECK(ids.Bytes() < kIds * 5);
}

TEST_CASE("ids that go at random leave no empty rooms behind") {
  constexpr uint64_t kIds = 64'000;
  std::mt19937_64 random(1);
  IdChunks<NoPayload> ids;
  for (uint64_t i = 0; i < kIds; ++i) ids.Insert({i, 0});
  for (uint64_t i = 0; i < kIds; ++i) {
    if (random() % 32 != 0) CHECK(ids.Erase({i, 0}));
  }
  CHECK(ids.Validate());
  CHECK(ids.Bytes() < ids.size() * 8 * 5);
}

}  // namespace mayfly
