// Trims that look at consumer groups, beside a plain model of entries and of what groups have and hold.
#include <map>
#include <random>
#include <set>
#include <vector>

#include "cache/types/stream/stream_groups.h"
#include "cache/types/stream/stream_value.h"
#include "support/catch.h"

namespace mayfly {
namespace {

struct GroupModel {
  StreamId last;
  std::set<StreamId> pending;
};

class TrimModel {
 public:
  TrimModel(std::mt19937_64& random, size_t groups) : random_(random) {
    const std::vector<std::string_view> pairs = {"f", "v"};
    for (uint64_t i = 1; i <= 24; ++i) {
      const StreamId id{i / 3 + 1, i};
      stream_.Append(id, pairs, {.node_bytes = 4096, .node_entries = 4});
      ids_.insert(id);
    }
    const std::set<StreamId> all = ids_;
    for (size_t i = 0; i < groups; ++i) {
      GroupModel& model = groups_[std::string(1, static_cast<char>('a' + i))];
      if (random_() % 8 != 0) model.last = AnyOf(all);
      for (const StreamId id : all) {
        if (id <= model.last && random_() % 4 == 0) model.pending.insert(id);
      }
    }
    for (const auto& [name, model] : groups_) {
      StreamGroup& group = stream_.EditGroups().Add(name, model.last, StreamGroup::kUnknown);
      StreamConsumer& consumer = group.AddConsumer("c", 0);
      for (const StreamId id : model.pending) group.Deliver(id, consumer, 1, 1);
    }
    // Some are deleted before, and a few whole nodes with them.
    for (const StreamId id : all) {
      if (random_() % 5 == 0) Delete(id);
    }
    if (random_() % 3 == 0) {
      for (const StreamId id : all) {
        if (id.ms == 3 || id.ms == 4) Delete(id);
      }
    }
  }

  StreamTrim AnyTrim(StreamReferences references) {
    StreamTrim trim{.references = references};
    trim.by = random_() % 2 == 0 ? StreamTrim::By::kLength : StreamTrim::By::kId;
    trim.length = random_() % (ids_.size() + 2);
    trim.min_id = {random_() % 10, random_() % 26};
    return trim;
  }

  bool IsDone(StreamId id) const {
    for (const auto& [name, group] : groups_) {
      if (id > group.last || group.pending.contains(id)) return false;
    }
    return true;
  }
  void TrimAcked(const StreamTrim& trim) {
    const std::set<StreamId> before = ids_;
    for (const StreamId id : before) {
      const bool ends = trim.by == StreamTrim::By::kLength ? ids_.size() <= trim.length : id >= trim.min_id;
      if (ends) return;
      if (IsDone(id)) ids_.erase(id);
    }
  }
  // Returns what groups give up.
  uint64_t TrimWithReferences(const StreamTrim& trim) {
    const size_t before = ids_.size();
    const bool by_id = trim.by == StreamTrim::By::kId;
    while (!ids_.empty() && (by_id ? *ids_.begin() < trim.min_id : ids_.size() > trim.length))
      ids_.erase(ids_.begin());
    if (!by_id && ids_.size() == before) return 0;
    const StreamId end = by_id ? trim.min_id : ids_.empty() ? StreamId::Max() : *ids_.begin();
    uint64_t given_up = 0;
    for (auto& [name, group] : groups_)
      given_up += std::erase_if(group.pending, [&](StreamId id) { return id < end; });
    return given_up;
  }

  void RequireSame() {
    REQUIRE(stream_.Validate());
    REQUIRE(stream_.length() == ids_.size());
    std::vector<StreamId> found;
    stream_.ForRange({}, StreamId::Max(), false, [&](const StreamEntry& entry) {
      found.push_back(entry.id);
      return true;
    });
    REQUIRE(found == std::vector<StreamId>(ids_.begin(), ids_.end()));
    for (const auto& [name, model] : groups_) {
      const StreamGroup& group = *stream_.groups()->Find(name);
      REQUIRE(group.pending() == model.pending.size());
      for (const StreamId id : model.pending) REQUIRE(group.Find(id) != nullptr);
    }
  }

  StreamValue& stream() noexcept { return stream_; }
  const std::set<StreamId>& ids() const noexcept { return ids_; }

 private:
  StreamId AnyOf(const std::set<StreamId>& all) {
    return *std::next(all.begin(), static_cast<std::ptrdiff_t>(random_() % all.size()));
  }
  void Delete(StreamId id) { CHECK(stream_.Delete(id) == (ids_.erase(id) == 1)); }

  std::mt19937_64& random_;
  StreamValue stream_;
  std::set<StreamId> ids_;
  std::map<std::string, GroupModel> groups_;
};

}  // namespace

TEST_CASE(
    "with ACKED a trim removes the oldest entries that all groups are done with, whatever lies between") {
  std::mt19937_64 random(82);
  for (int round = 0; round < 3000; ++round) {
    TrimModel model(random, random() % 4);
    for (int again = 0; again < 2; ++again) {
      const StreamTrim trim = model.AnyTrim(StreamReferences::kAcked);
      CAPTURE(round, again, trim.length, trim.min_id.ms, trim.min_id.sequence);
      const std::set<StreamId> before = model.ids();
      const StreamId deleted = model.stream().max_deleted_id();
      const uint64_t added = model.stream().added();
      const StreamId last = model.stream().last_id();
      const StreamTrimmed done = model.stream().Trim(trim);
      if (model.stream().groups() != nullptr) {
        model.TrimAcked(trim);
      } else {
        model.TrimWithReferences(trim);
      }
      model.RequireSame();
      CHECK(done.entries == before.size() - model.ids().size());
      CHECK(done.references == 0);
      CHECK(model.stream().added() == added);
      CHECK(model.stream().last_id() == last);
      // An entry that has gone behind one that is left counts as deleted.
      StreamId behind = deleted;
      for (const StreamId id : before) {
        const bool is_gap = !model.ids().contains(id) && !model.ids().empty() && id > *model.ids().begin();
        if (is_gap) behind = std::max(behind, id);
      }
      const StreamId now = model.stream().max_deleted_id();
      CHECK((now == behind || (model.ids().empty() || now < *model.ids().begin())));
    }
  }
}

TEST_CASE("with ACKED a trim of whole nodes takes none that a group needs, and no more than its limit") {
  std::mt19937_64 random(83);
  uint64_t removed = 0;
  for (int round = 0; round < 3000; ++round) {
    TrimModel model(random, 1 + random() % 2);
    StreamTrim trim = model.AnyTrim(StreamReferences::kAcked);
    trim.whole_nodes = true;
    trim.limit = random() % 12;
    CAPTURE(round, trim.length, trim.min_id.ms, trim.min_id.sequence, trim.limit);
    const std::set<StreamId> before = model.ids();
    const size_t nodes = model.stream().nodes();
    const uint64_t done = model.stream().Trim(trim).entries;
    removed += done;
    REQUIRE(model.stream().Validate());
    CHECK(model.stream().length() == before.size() - done);
    CHECK((trim.limit == 0 || done <= trim.limit));
    CHECK((done != 0) == (model.stream().nodes() < nodes));
    if (trim.by == StreamTrim::By::kLength) CHECK((done == 0 || model.stream().length() >= trim.length));
    for (const StreamId id : before) {
      if (model.stream().Contains(id)) continue;
      CHECK(model.IsDone(id));
      if (trim.by == StreamTrim::By::kId) CHECK(id < trim.min_id);
    }
  }
  CHECK(removed > 500);
}

TEST_CASE("with DELREF a trim takes from all groups what lies before its end") {
  std::mt19937_64 random(84);
  for (int round = 0; round < 3000; ++round) {
    TrimModel model(random, random() % 4);
    for (int again = 0; again < 2; ++again) {
      const StreamTrim trim = model.AnyTrim(StreamReferences::kDelete);
      CAPTURE(round, again, trim.length, trim.min_id.ms, trim.min_id.sequence);
      const size_t before = model.ids().size();
      const StreamTrimmed done = model.stream().Trim(trim);
      const uint64_t given_up = model.TrimWithReferences(trim);
      CHECK(done.references == given_up);
      CHECK(done.entries == before - model.ids().size());
      CHECK(done.any() == (done.entries != 0 || given_up != 0));
      model.RequireSame();
    }
  }
}

}  // namespace mayfly
