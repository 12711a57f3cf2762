#include "mixes/stream.h"

#include <cmath>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "mixes/alive.h"
#include "support/catch.h"

namespace mayfly::bench {
namespace {

constexpr int kDraws = 200'000;
// Several times the deviation of a share that is drawn so often.
constexpr double kClose = 0.006;

Cluster ClusterOf(const std::string& name) {
  std::ifstream table(MAYFLY_CLUSTERS);
  const auto cluster = FindCluster(table, name);
  REQUIRE(cluster.has_value());
  return *cluster;
}

// Clusters of all kinds: spread TTLs, one-hit wonders, counters, deletions, even popularity, tiny and large values.
const std::vector<std::string> kNames{"cluster4",  "cluster10", "cluster15", "cluster21", "cluster22",
                                      "cluster23", "cluster27", "cluster37", "cluster48", "cluster52"};

TEST_CASE("a cluster's figures are those of its row") {
  const Cluster cluster = ClusterOf("cluster4");
  CHECK(cluster.key_bytes == 67);
  CHECK(cluster.value_bytes == 2439);
  CHECK(cluster.alpha == 1.1004);
  CHECK(cluster.one_hit_share == Approx(0.2933 / 26.5));
  CHECK(cluster.share(Operation::kGet) == Approx(0.93));
  CHECK(cluster.share(Operation::kSet) == Approx(0.07));
  REQUIRE(cluster.ttls.size() == 6);
  CHECK(cluster.ttls[0].seconds == 60);
  CHECK(cluster.ttls[0].share == Approx(0.39));
  CHECK(cluster.ttls[2].seconds == 3600);
  CHECK(cluster.ttls[5].seconds == 86400);
}

TEST_CASE("shares of a row that do not reach 1 are scaled") {
  const Cluster cluster =
      ClusterOf("cluster11");  // get:0.96 add:0.02 gets:0.01 cas:0.01, and TTLs of 0.97 and 0.03
  CHECK(cluster.share(Operation::kGet) == Approx(0.97));
  CHECK(cluster.share(Operation::kSet) == Approx(0.01));
  const Cluster spread = ClusterOf("cluster6");  // ten TTLs with 0.26 together
  double sum = 0;
  for (const TtlShare& ttl : spread.ttls) sum += ttl.share;
  CHECK(sum == Approx(1));
  CHECK(spread.ttls[0].share == Approx(0.03 / 0.26));
}

TEST_CASE("a row that lacks a figure or has an operation without a counterpart is not used") {
  for (const char* name : {"cluster5", "cluster43", "cluster53", "cluster99", "cluster"}) {
    std::ifstream table(MAYFLY_CLUSTERS);
    INFO(name);
    CHECK_FALSE(FindCluster(table, name).has_value());
  }
}

TEST_CASE("equal seeds draw equal requests, and other seeds others") {
  const Cluster cluster = ClusterOf("cluster4");
  Stream first(cluster, {.keys = 1000, .seed = 7});
  Stream same(cluster, {.keys = 1000, .seed = 7});
  Stream other(cluster, {.keys = 1000, .seed = 8});
  int differ = 0;
  for (int i = 0; i < 1000; ++i) {
    const Request request = first.Next();
    const Request again = same.Next();
    const auto words = [](const Request& r) { return std::tuple(r.operation, r.key, r.ttl_ms); };
    REQUIRE(words(request) == words(again));
    differ += words(request) != words(other.Next()) ? 1 : 0;
  }
  CHECK(differ > 500);
}

TEST_CASE("the first requests of a seed are the same on every machine") {
  const Cluster cluster = ClusterOf("cluster4");
  Stream stream(cluster, {.keys = 1000, .compress = 60, .seed = 1});
  std::ostringstream drawn;
  for (int i = 0; i < 4; ++i) {
    const Request request = stream.Next();
    drawn << static_cast<int>(request.operation) << ' ' << request.key << ' ' << request.ttl_ms << '\n';
  }
  CHECK(drawn.str() == "0 17 5000\n0 0 240000\n0 2 5000\n0 266 5000\n");  // GETs; TTLs of 300 s and 4 h
}

TEST_CASE("operations, TTLs and one-hit wonders have the shares of the table") {
  for (const std::string& name : kNames) {
    const Cluster cluster = ClusterOf(name);
    constexpr double kCompress = 5;
    Stream stream(cluster, {.keys = 10'000, .compress = kCompress, .seed = 3});
    std::map<Operation, int> operations;
    std::map<int64_t, int> ttls;
    std::map<uint32_t, int> one_hits;
    for (int i = 0; i < kDraws; ++i) {
      const Request request = stream.Next();
      ++operations[request.operation];
      ++ttls[request.ttl_ms];
      if (request.key >= stream.FirstOneHit()) ++one_hits[request.key];
    }
    INFO(name);
    for (size_t i = 0; i < kOperations; ++i) {
      const auto operation = static_cast<Operation>(i);
      INFO(i);
      CHECK(operations[operation] / double{kDraws} == Approx(cluster.share(operation)).margin(kClose));
    }
    for (const TtlShare& ttl : cluster.ttls) {
      INFO(ttl.seconds);
      const auto ttl_ms = static_cast<int64_t>(ttl.seconds * 1000 / kCompress + 0.5);
      CHECK(ttls[ttl_ms] / double{kDraws} == Approx(ttl.share).margin(kClose));
    }
    CHECK(ttls.size() == cluster.ttls.size());
    // A counter that has a key of its own is no one-hit wonder.
    const double may =
        cluster.HasCounters() && !cluster.CountsInValues() ? 1 - cluster.share(Operation::kIncr) : 1;
    CHECK(static_cast<double>(one_hits.size()) / kDraws ==
          Approx(cluster.one_hit_share * may).margin(kClose));
    for (const auto& [key, uses] : one_hits) REQUIRE(uses == 1);
  }
}

TEST_CASE("popularity falls as the table says") {
  for (const std::string& name : kNames) {
    const Cluster cluster = ClusterOf(name);
    constexpr uint32_t kKeys = 1000;
    Stream stream(cluster, {.keys = kKeys, .seed = 5});
    std::vector<int> uses(kKeys);
    int all = 0;
    for (int i = 0; i < kDraws; ++i) {
      const Request request = stream.Next();
      if (request.key >= kKeys) continue;
      ++uses[request.key];
      ++all;
    }
    if (all < kDraws / 10) continue;  // nearly all are one-hit wonders
    double sum = 0;
    for (uint32_t rank = 1; rank <= kKeys; ++rank) sum += std::pow(rank, -cluster.alpha);
    INFO(name);
    for (const uint32_t rank : {1U, 2U, 10U, 100U}) {
      INFO(rank);
      const double share = std::pow(rank, -cluster.alpha) / sum;
      CHECK(uses[rank - 1] / static_cast<double>(all) == Approx(share).margin(3 * kClose * std::sqrt(share)));
    }
  }
}

TEST_CASE("keys and values have the table's sizes in the mean, and counters are digits") {
  const Cluster cluster = ClusterOf("cluster48");
  const Stream stream(cluster, {.keys = 1000});
  const Texts texts(cluster, stream);
  double bytes = 0;
  for (uint32_t key = 0; key < 20'000; ++key) {
    REQUIRE(texts.KeyOf(key).size() == cluster.key_bytes);
    const size_t size = texts.ValueOf(key).size();
    REQUIRE(size == texts.ValueBytes(key));
    REQUIRE(size >= cluster.value_bytes / 2);
    REQUIRE(size <= cluster.value_bytes * 3 / 2);
    bytes += static_cast<double>(size);
  }
  CHECK(bytes / 20'000 == Approx(cluster.value_bytes).epsilon(0.01));
  CHECK(texts.KeyOf(1) != texts.KeyOf(10'000'001));
  CHECK(texts.ValueOf(1).substr(0, 8) != texts.ValueOf(2).substr(0, 8));

  const Cluster counting = ClusterOf("cluster22");
  const Stream counts(counting, {.keys = 1000});
  CHECK(Texts(counting, counts).ValueOf(5) == "1111");
  const Cluster beside = ClusterOf("cluster23");
  const Stream two(beside, {.keys = 1000});
  CHECK(two.FirstOneHit() == 2000);
  CHECK(Texts(beside, two).ValueOf(two.FirstCounter() + 5) == "1");
}

TEST_CASE("what is alive is known exactly") {
  Alive alive([](uint32_t key) { return size_t{10} + key; });
  alive.Use(3);
  alive.Set(3, 100);
  alive.Use(1);
  alive.Set(1, 50);
  CHECK(alive.count() == 2);
  CHECK(alive.bytes() == 24);
  alive.Use(3);
  alive.Set(3, 200);  // another deadline: the first one says nothing any more
  alive.AdvanceTo(50);
  CHECK_FALSE(alive.Has(1));
  CHECK(alive.count() == 1);
  alive.AdvanceTo(199);
  CHECK(alive.Has(3));
  alive.Set(2, 300);
  REQUIRE(alive.InOrderOfUse().size() == 2);
  CHECK(alive.InOrderOfUse()[0].key == 2);  // never used
  CHECK(alive.InOrderOfUse()[1].key == 3);
  CHECK(alive.InOrderOfUse()[1].deadline_ms == 200);
  alive.AdvanceTo(200);
  CHECK_FALSE(alive.Has(3));
  alive.Remove(2);
  alive.Remove(2);
  CHECK(alive.count() == 0);
  CHECK(alive.bytes() == 0);
}

}  // namespace
}  // namespace mayfly::bench
