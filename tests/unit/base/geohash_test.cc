#include "base/bits/geohash.h"

#include <cmath>
#include <random>

#include "support/catch.h"

namespace mayfly {
namespace {

constexpr GeoPoint kPalermo{13.361389, 38.115556};
constexpr GeoPoint kCatania{15.087269, 37.502669};

}  // namespace

TEST_CASE("a place has the score that Redis gives it") {
  CHECK(GeoScoreOf(kPalermo) == 3479099956230698);
  CHECK(GeoScoreOf(kCatania) == 3479447370796909);
  CHECK(GeohashText(3479099956230698) == "sqc8b49rny0");
}

TEST_CASE("a score gives its place back, to less than a meter") {
  std::mt19937_64 random(5);
  for (int i = 0; i < 10'000; ++i) {
    const GeoPoint point{std::uniform_real_distribution<>(-180, 180)(random),
                         std::uniform_real_distribution<>(-85, 85)(random)};
    const GeoPoint back = GeoPointOf(static_cast<double>(GeoScoreOf(point)));
    REQUIRE(GeoDistance(point, back) < 1);
  }
}

TEST_CASE("a score that is no geohash gives a place on the map, too") {
  for (const double score : {-1.0, 1e300, -1e300, 0.5, HUGE_VAL, -HUGE_VAL, 0x1p63, 0x1p64}) {
    const GeoPoint point = GeoPointOf(score);
    CHECK(std::abs(point.longitude) <= kMaxLongitude);
    CHECK(std::abs(point.latitude) <= kMaxLatitude);
  }
}

TEST_CASE("the distance between two cities is right") {
  CHECK(std::abs(GeoDistance(kPalermo, kCatania) - 166274.1516) < 1);
  CHECK(GeoDistance(kPalermo, kPalermo) == 0);
}

TEST_CASE("all places that a shape covers lie in its cells") {
  std::mt19937_64 random(9);
  const auto place = [&](double most_latitude) {
    return GeoPoint{std::uniform_real_distribution<>(-170, 170)(random),
                    std::uniform_real_distribution<>(-most_latitude, most_latitude)(random)};
  };
  size_t covered = 0;
  for (int i = 0; i < 20'000; ++i) {
    GeoShape shape{.center = place(70), .is_box = random() % 2 == 0};
    shape.radius = shape.width = shape.height = std::pow(10, 2 + static_cast<double>(random() % 4));
    const GeoPoint near{shape.center.longitude + std::uniform_real_distribution<>(-0.5, 0.5)(random),
                        shape.center.latitude + std::uniform_real_distribution<>(-0.5, 0.5)(random)};
    const auto score = static_cast<double>(GeoScoreOf(near));
    double distance = 0;
    if (!shape.Covers(GeoPointOf(score), distance)) continue;
    ++covered;
    bool found = false;
    for (const GeoCell& cell : GeoCellsOf(shape))
      found = found || (!cell.is_none() && score >= cell.first_score() && score < cell.end_score());
    REQUIRE(found);
  }
  CHECK(covered > 1'000);
}

}  // namespace mayfly
