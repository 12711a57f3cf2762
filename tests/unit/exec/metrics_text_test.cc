#include "exec/metrics/metrics_text.h"

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "support/catch.h"
#include "support/prometheus.h"

namespace mayfly {
namespace {

using testing::ProblemOfPrometheus;

constexpr double kBounds[] = {0.001, 0.01};
constexpr MetricsText::Family kFamily = {"wait_seconds", "Waiting.", kBounds};

TEST_CASE("a field of INFO becomes a metric in base units, with its kind and a help") {
  MetricsText text;
  text.Field("expire_lag_max_us", 2'500);
  text.Field("keyspace_hits", 7);
  CHECK(text.Take() ==
        "# HELP mayfly_keyspace_hits_total Reads of keys that were there.\n"
        "# TYPE mayfly_keyspace_hits_total counter\n"
        "mayfly_keyspace_hits_total 7\n"
        "# HELP mayfly_expiry_lag_max_seconds The longest time from a deadline until the key was freed.\n"
        "# TYPE mayfly_expiry_lag_max_seconds gauge\n"
        "mayfly_expiry_lag_max_seconds 0.0025\n");
  CHECK(text.Take().empty());
}

TEST_CASE("fields that are no metrics, and texts, are left out") {
  MetricsText text;
  text.Field("redis_version", "7.4.0");
  text.Field("no_such_field", 1);
  text.Field("used_memory", "much");
  CHECK(text.Take().empty());
  CHECK(text.Wants("used_memory"));
  CHECK_FALSE(text.Wants("expired_stale_perc"));
}

TEST_CASE("the samples of one metric stand together, though groups come one by one") {
  MetricsText text;
  const InfoMember get[] = {{"calls", 3}, {"usec", 1'000'000}};
  const InfoMember set[] = {{"calls", 1}, {"usec", 5}};
  text.Group({"cmdstat_", "command", "get"}, get);
  text.Group({"cmdstat_", "command", "set"}, set);
  const std::string page = text.Take();
  CHECK(page.find("mayfly_command_calls_total{command=\"get\"} 3\n"
                  "mayfly_command_calls_total{command=\"set\"} 1\n") != std::string::npos);
  CHECK(page.find("mayfly_command_time_seconds_total{command=\"get\"} 1\n"
                  "mayfly_command_time_seconds_total{command=\"set\"} 5e-06\n") != std::string::npos);
}

TEST_CASE("rows of one metric have one head and differ in their labels") {
  MetricsText text;
  text.Field("keyspace_misses_expired", 1);
  text.Field("keyspace_misses_cold", 2);
  const std::string page = text.Take();
  CHECK(page.find("mayfly_keyspace_misses_total{reason=\"expired\"} 1\n"
                  "mayfly_keyspace_misses_total{reason=\"cold\"} 2\n") != std::string::npos);
  CHECK(ProblemOfPrometheus(page).empty());
}

TEST_CASE("a label's quotes, backslashes and line ends are escaped") {
  CHECK(MetricsText::Label("code", "a\"b\\c\nd") == R"(code="a\"b\\c\nd")");
  CHECK(MetricsText::Label("code", "Gr\xC3\xBC\xC3\x9F") == "code=\"Gr\xC3\xBC\xC3\x9F\"");
}

TEST_CASE("a label that is not UTF-8 is shown in quotes, and no sample comes twice") {
  CHECK(MetricsText::Label("code", "a\xFF") == R"(code="\"a\\xff\"")");
  const InfoMember count[] = {{"count", 1}};
  std::vector<const char*> names = {"\"a\\xff\"", "a\xFF"};
  for (int order = 0; order < 2; ++order, std::swap(names[0], names[1])) {
    MetricsText text;
    for (const char* name : names) text.Group({"errorstat_", "code", name}, count);
    const std::string page = text.Take();
    CHECK(ProblemOfPrometheus(page).empty());
    CHECK(page.find("a\\\\xff") != std::string::npos);
  }
}

TEST_CASE("a histogram counts what is at most as long as each bound") {
  Histogram us;
  us.Add(10);
  us.Add(5'000, 2);
  us.Add(2'000'000);
  MetricsText text;
  text.AddHistogram(kFamily, {"kind=\"a\"", us, 1e6, 2.01});
  text.AddHistogram(kFamily, {"", us, 1e6, 2.01});
  CHECK(text.Take() ==
        "# HELP mayfly_wait_seconds Waiting.\n"
        "# TYPE mayfly_wait_seconds histogram\n"
        "mayfly_wait_seconds_bucket{kind=\"a\",le=\"0.001\"} 1\n"
        "mayfly_wait_seconds_bucket{kind=\"a\",le=\"0.01\"} 3\n"
        "mayfly_wait_seconds_bucket{kind=\"a\",le=\"+Inf\"} 4\n"
        "mayfly_wait_seconds_sum{kind=\"a\"} 2.01\n"
        "mayfly_wait_seconds_count{kind=\"a\"} 4\n"
        "mayfly_wait_seconds_bucket{le=\"0.001\"} 1\n"
        "mayfly_wait_seconds_bucket{le=\"0.01\"} 3\n"
        "mayfly_wait_seconds_bucket{le=\"+Inf\"} 4\n"
        "mayfly_wait_seconds_sum 2.01\n"
        "mayfly_wait_seconds_count 4\n");
}

TEST_CASE("a bucket of a histogram never loses what it has counted") {
  // 996 is counted like values up to 1023, which are above the bound, also while it is the largest.
  Histogram us;
  us.Add(996);
  MetricsText before;
  before.AddHistogram(kFamily, {"", us, 1e6, 0});
  CHECK(before.Take().find("le=\"0.001\"} 0\n") != std::string::npos);
  us.Add(1'020);
  MetricsText after;
  after.AddHistogram(kFamily, {"", us, 1e6, 0});
  CHECK(after.Take().find("le=\"0.001\"} 0\n") != std::string::npos);
}

TEST_CASE("the table's rows are right: counters end with _total, groups and metrics stand together") {
  std::set<std::string_view> names, fields;
  std::string_view name, field;
  for (const Metric& metric : Metrics()) {
    INFO(metric.name);
    CHECK((metric.kind == Metric::Kind::kCounter) == metric.name.ends_with("_total"));
    CHECK(metric.help.ends_with("."));
    if (metric.name != name) {
      CHECK(names.insert(metric.name).second);
      name = metric.name;
    } else {
      CHECK_FALSE(metric.labels.empty());
    }
    if (!metric.member.empty() && metric.field == field) continue;
    CHECK(fields.insert(metric.field).second);
    field = metric.field;
  }
}

}  // namespace
}  // namespace mayfly
