// The table of crossings: each feature keeps what it promises, wherever its keys cross another one. tests/README.md shows the table.
//
// ROW=<part of a name> in the environment runs only rows with such names.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "crossings/table.h"

namespace mayfly::testing::crossings {
namespace {

const Mark* MarkOf(const std::vector<Mark>& marks, Column column) {
  const auto at = std::ranges::find(marks, column, &Mark::column);
  return at != marks.end() ? &*at : nullptr;
}

// The keys cross, and the row looks at them.
void Arrive(const Feature& feature, Crossing& c) {
  const bool was_full = c.refuses;
  c.Cross();
  if (was_full && !c.refuses) {
    c.NoteTime();
    feature.make(c);
  }
  c.NoteCounters();
  c.only_compares() ? c.CompareBoth() : feature.check(c);
}

// The row takes its keys away on the way, and they do not come back.
void EndOnTheWay(const Feature& feature, Crossing& c) {
  const Reply keys = c.writer().Run({"KEYS", "k:*"});
  c.CrossWhile([&] { feature.end(c); });
  for (const Reply& key : keys.elements)
    if (!key.text.starts_with("k:older:")) c.ExpectKeys({key.text}, 0);
  c.Check(c.Counter("stale_values") == 0, "a stale value is still there");
}

std::vector<std::string> FaultsOf(const Feature& feature, const Way& way, bool ends) {
  const std::unique_ptr<Crossing> world = way.begin();
  Crossing& c = *world;
  const bool has_cell =
      ends ? feature.end != nullptr && !c.refuses : !c.only_compares() || !feature.options.empty();
  if (!has_cell) return {};
  c.SetOptions(feature.options);
  c.Begin();
  c.NoteTime();
  feature.make(c);
  ends ? EndOnTheWay(feature, c) : Arrive(feature, c);
  for (std::string& fault : c.faults)
    fault = std::string(way.name) + (ends ? ", at the end: " : ": ") + fault;
  return c.faults;
}

std::string FaultsIn(const Feature& feature, const std::vector<Way>& ways) {
  std::string text;
  for (const Way& way : ways) {
    for (const bool ends : {false, true}) {
      const std::vector<std::string> faults = FaultsOf(feature, way, ends);
      for (size_t i = 0; i < faults.size() && i < 5; ++i) text += faults[i] + "\n";
    }
  }
  return text;
}

void RunColumn(Column column) {
  const char* const row = std::getenv("ROW");
  const std::vector<Way> ways = WaysOf(column);
  for (const Feature* feature : Features()) {
    if (row != nullptr && feature->name.find(row) == std::string_view::npos) continue;
    if (!feature->no_cells.empty() || MarkOf(feature->none, column) != nullptr) continue;
    CAPTURE(feature->name);
    CHECK(FaultsIn(*feature, ways) == "");
  }
}

}  // namespace

std::vector<const Feature*> Features() {
  std::vector<const Feature*> features;
  for (const std::span<const Feature> rows :
       {FeaturesOfDeadlines(), FeaturesOfValues(), FeaturesOfServers()}) {
    for (const Feature& feature : rows) features.push_back(&feature);
  }
  return features;
}

// ---- the columns

TEST_CASE("every feature holds after a snapshot and its load") { RunColumn(Column::kSnapshot); }
TEST_CASE("every feature holds after a load during which clients write") { RunColumn(Column::kServingLoad); }
TEST_CASE("every feature holds at a replica") { RunColumn(Column::kMayflyReplica); }
TEST_CASE("every feature has its effects at a redis-server that follows") {
  RunColumn(Column::kRedisReplica);
}
TEST_CASE("every feature holds at a replica that WAIT has counted, and that is promoted") {
  RunColumn(Column::kFailover);
}
TEST_CASE("every feature's values and deadlines move by MIGRATE, and by DUMP and RESTORE") {
  RunColumn(Column::kMigrate);
}
TEST_CASE("every feature holds after DEBUG RELOAD") { RunColumn(Column::kReload); }
TEST_CASE("every feature works in a transaction") { RunColumn(Column::kTransaction); }
TEST_CASE("every feature works in a script") { RunColumn(Column::kScript); }
TEST_CASE("every feature works in a namespace that is full") { RunColumn(Column::kNamespace); }
TEST_CASE("every feature works while memory is full, and nothing that is refused is half made") {
  RunColumn(Column::kMemoryFull);
}

}  // namespace mayfly::testing::crossings
