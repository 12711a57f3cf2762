#include "cache/types/stream/stream_value.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "support/catch.h"

namespace mayfly {
namespace {

using Texts = std::vector<std::string>;
using Log = std::vector<std::pair<StreamId, Texts>>;

Log Read(const StreamValue& stream, StreamId low, StreamId high, bool falling) {
  Log log;
  stream.ForRange(low, high, falling, [&](const StreamEntry& entry) {
    Texts texts;
    entry.ForEach([&](std::string_view field, std::string_view value) {
      texts.emplace_back(field);
      texts.emplace_back(value);
    });
    log.emplace_back(entry.id, texts);
    return true;
  });
  return log;
}

// Trims, and checks what MayTrimMoreThan says before. A node has up to 10 entries.
uint64_t Trim(StreamValue& stream, const StreamTrim& trim) {
  std::vector<bool> more;
  for (uint64_t count = 0; count <= stream.length() + 10; ++count)
    more.push_back(stream.MayTrimMoreThan(count, trim));
  const uint64_t removed = stream.Trim(trim).entries;
  for (uint64_t count = 0; count < more.size(); ++count) {
    if (count < removed) REQUIRE(more[count]);
    if (count >= removed + 9) REQUIRE_FALSE(more[count]);
  }
  return removed;
}

// Reads three entries after the ID, as the model has them. Returns the last ID.
StreamId RequirePage(const StreamValue& stream, const std::map<StreamId, Texts>& model, StreamId after) {
  std::vector<StreamId> page;
  StreamId low = after;
  low.Increment();
  stream.ForRange(low, StreamId::Max(), false, [&](const StreamEntry& entry) {
    page.push_back(entry.id);
    return page.size() < 3;
  });
  REQUIRE(stream.HasAfter(after) == !page.empty());
  auto next = model.lower_bound(low);
  for (const StreamId id : page) REQUIRE((next != model.end() && next++->first == id));
  REQUIRE((page.size() == 3 || next == model.end()));
  return page.empty() ? after : page.back();
}

}  // namespace

TEST_CASE("the same fields cost no bytes again") {
  StreamValue stream;
  const std::string field(50, 'f');
  const std::vector<std::string_view> pairs = {field, "1"};
  for (uint64_t i = 1; i <= 50; ++i) stream.Append({1000 + i, 0}, pairs, {});
  CHECK(stream.nodes() == 1);
  CHECK(stream.Bytes() < 1000);
  CHECK(stream.Validate());
}

TEST_CASE("a stream that begins anew with an id that it had is read from its own entries") {
  constexpr StreamLimits kLimits{.node_bytes = 4096, .node_entries = 100};
  const std::string long_text(200, 'x');
  for (const bool by_deletes : {false, true}) {
    StreamValue stream;
    stream.EditGroups();  // from now on it remembers where somebody reads
    const std::vector<std::string_view> before = {"f", long_text};
    for (uint64_t ms = 5; ms < 10; ++ms) stream.Append({ms, 0}, before, kLimits);
    size_t read = 0;
    stream.ForRange({5, 0}, StreamId::Max(), false, [&](const StreamEntry&) { return ++read != 4; });
    if (by_deletes) {
      for (uint64_t ms = 5; ms < 10; ++ms) CHECK(stream.Delete({ms, 0}));
    } else {
      CHECK(stream.Trim({.length = 0}).entries == 5);
    }
    stream.SetLastId({4, 0});
    const std::vector<std::string_view> pairs = {"f", "v"};
    for (uint64_t ms = 5; ms < 15; ++ms) stream.Append({ms, 0}, pairs, kLimits);
    const Log rest = Read(stream, {9, 0}, StreamId::Max(), false);
    REQUIRE(rest.size() == 6);
    CHECK(rest.front() == std::pair<StreamId, Texts>({9, 0}, {"f", "v"}));
    CHECK(stream.Contains({7, 0}));
    CHECK(stream.HasAfter({13, 0}));
    CHECK_FALSE(stream.HasAfter({14, 0}));
  }
}

TEST_CASE("a trim of whole nodes leaves a node whose last entry is not old enough, though it is deleted") {
  constexpr StreamLimits kLimits{.node_bytes = 4096, .node_entries = 3};
  StreamValue stream;
  const std::vector<std::string_view> pairs = {"f", "v"};
  for (uint64_t ms = 1; ms <= 9; ++ms) stream.Append({ms, 0}, pairs, kLimits);
  CHECK(stream.nodes() == 3);
  CHECK(stream.Delete({3, 0}));
  CHECK(stream.Trim({.by = StreamTrim::By::kId, .whole_nodes = true, .min_id = {3, 0}}).entries == 0);
  CHECK(stream.Trim({.by = StreamTrim::By::kId, .whole_nodes = true, .min_id = {4, 0}}).entries == 2);
  CHECK(stream.FirstEntryId() == StreamId{4, 0});
  // Entry by entry the place of a deleted entry makes no difference.
  CHECK(stream.Delete({6, 0}));
  CHECK(stream.Trim({.by = StreamTrim::By::kId, .min_id = {6, 0}}).entries == 2);
  CHECK(stream.FirstEntryId() == StreamId{7, 0});
  CHECK(stream.nodes() == 1);
}

TEST_CASE("a copy of a stream has all that the stream knows") {
  StreamValue stream;
  const std::vector<std::string_view> pairs = {"f", "v"};
  for (uint64_t ms = 1; ms <= 5; ++ms) stream.Append({ms, 0}, pairs, {.node_bytes = 4096, .node_entries = 2});
  stream.Delete({2, 0});
  stream.SetLastId({9, 9});
  stream.SetAdded(77);
  const std::unique_ptr<RichValue> made = stream.Clone();
  const auto& copy = static_cast<const StreamValue&>(*made);
  CHECK(copy.max_deleted_id() == StreamId{2, 0});
  CHECK(copy.last_id() == StreamId{9, 9});
  CHECK(copy.added() == 77);
  CHECK(copy.length() == 4);
  CHECK(copy.Validate());
}

TEST_CASE("a stream does what a map of ids does") {
  std::mt19937_64 random(23);
  StreamValue stream;
  stream.EditGroups();  // from now on it remembers where somebody reads
  std::map<StreamId, Texts> model;
  StreamId last;
  StreamId reader;
  for (int step = 0; step < 6000; ++step) {
    const uint64_t what = random() % 20;
    if (what < 12) {
      StreamId id{last.ms + random() % 3, random() % 5};
      if (id <= last) id = {last.ms, last.sequence + 1};
      Texts texts;
      for (uint64_t fields = 1 + random() % 3; fields != 0; --fields) {
        texts.push_back("f" + std::to_string(random() % 2));
        texts.push_back(std::string(random() % 30, 'v') + std::to_string(random() % 100));
      }
      const std::vector<std::string_view> views(texts.begin(), texts.end());
      stream.Append(id, views, {.node_bytes = 400, .node_entries = 10});
      model[id] = texts;
      last = id;
    } else if (what < 17) {
      const StreamId id{last.ms - std::min(last.ms, random() % 30), random() % 5};
      REQUIRE(stream.Delete(id) == (model.erase(id) == 1));
    } else if (what == 17 && step % 10 == 0) {
      const size_t length = model.size() - std::min<size_t>(model.size(), random() % 15);
      const uint64_t removed = Trim(stream, {.by = StreamTrim::By::kLength, .length = length});
      REQUIRE(removed == model.size() - length);
      while (model.size() > length) model.erase(model.begin());
    } else if (what == 18 && step % 10 == 0) {
      const StreamId id{last.ms - std::min(last.ms, random() % 100), 0};
      uint64_t lower = 0;
      for (; !model.empty() && model.begin()->first < id; ++lower) model.erase(model.begin());
      REQUIRE(Trim(stream, {.by = StreamTrim::By::kId, .min_id = id}) == lower);
    }
    if (what == 19 && random() % 40 == 0) {  // begins anew, with ids that there were before
      stream.Trim({.by = StreamTrim::By::kLength, .length = 0});
      model.clear();
      last = reader = {last.ms / 2, 0};
      stream.SetLastId(last);
    }
    REQUIRE(stream.length() == model.size());
    // In pages, from anywhere, and as somebody who reads on.
    RequirePage(stream, model, {random() % (last.ms + 2), random() % 3});
    reader = RequirePage(stream, model, reader);
    if (step % 50 != 0) continue;
    REQUIRE(stream.Validate());
    const StreamId low{random() % (last.ms + 2), random() % 3};
    const StreamId high{low.ms + random() % 20, random() % 3};
    Log wanted;
    for (const auto& [id, texts] : model) {
      if (id >= low && id <= high) wanted.emplace_back(id, texts);
    }
    REQUIRE(Read(stream, low, high, false) == wanted);
    std::reverse(wanted.begin(), wanted.end());
    REQUIRE(Read(stream, low, high, true) == wanted);
    const std::unique_ptr<RichValue> copy = stream.Clone();
    REQUIRE(Read(static_cast<const StreamValue&>(*copy), {}, StreamId::Max(), false) ==
            Log(model.begin(), model.end()));
  }
}

TEST_CASE("a stream without entries still counts, and a long one is freed in slices") {
  StreamValue stream;
  CHECK(stream.Size() == 1);
  const std::vector<std::string_view> pairs = {"f", "v"};
  for (uint64_t i = 1; i <= 5000; ++i) stream.Append({i, 0}, pairs, {});
  CHECK(stream.FirstEntryId() == StreamId{1, 0});
  CHECK(stream.LastEntryId() == StreamId{5000, 0});
  CHECK(stream.BurialLink() != nullptr);
  CHECK_FALSE(stream.FreeSome(100));
  while (!stream.FreeSome(1000)) {
  }
  CHECK(stream.length() <= 1600);
}

TEST_CASE("an entry of 510 MB cannot be saved, and one a little smaller can") {
  const std::string megabyte(1 << 20, 'x');
  CHECK(StreamValue::CanBeSaved(std::vector<std::string_view>(508, megabyte)));
  CHECK_FALSE(StreamValue::CanBeSaved(std::vector<std::string_view>(510, megabyte)));
}

}  // namespace mayfly
