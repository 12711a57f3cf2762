// Places on Earth as 52-bit numbers, stored by Redis's geo commands in the scores of a sorted set.
//
// A geohash halves the map again and again: each step gives a bit for the longitude and one for the latitude. The bits of
// both are interleaved, the longitude's first. Hence all places of a cell begin with the same bits, and the scores of a cell
// form one range. Pure functions. Distances are in meters on a sphere.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace mayfly {

struct GeoPoint {
  double longitude = 0;
  double latitude = 0;
};

inline constexpr double kMaxLongitude = 180;
inline constexpr double kMaxLatitude = 85.05112878;  // the north edge of the square map of web maps

// A cell of the map: `bits` are the first `step` pairs of bits, common to all places of the cell.
struct GeoCell {
  uint64_t bits = 0;
  unsigned step = 0;

  bool operator==(const GeoCell&) const = default;
  bool is_none() const noexcept { return bits == 0 && step == 0; }
  // The range of the scores of the cell's places: first_score() included, end_score() excluded.
  double first_score() const noexcept;
  double end_score() const noexcept;
};

// The area of a search: a circle of `radius`, or a box of `width` and `height`.
struct GeoShape {
  GeoPoint center;
  bool is_box = false;
  double radius = 0;
  double width = 0;
  double height = 0;

  // Returns true if the shape covers `point`, and then sets `distance` to the distance from the center.
  bool Covers(const GeoPoint& point, double& distance) const noexcept;
};

// REQUIRES, for both functions: every point lies on the map.
uint64_t GeoScoreOf(const GeoPoint& point) noexcept;
double GeoDistance(const GeoPoint& a, const GeoPoint& b) noexcept;
// The middle of the smallest cell named by a score. A score without a geohash gives some place, too.
GeoPoint GeoPointOf(double score) noexcept;
// The geohash of eleven letters used outside Redis, such as "u4pruydqqvj". The last letter is always "0".
std::string GeohashText(double score);

// The cells that cover a shape: the cell of the center and the cells around it, in Redis's order of search. A cell outside
// the bounds of the shape is left empty (is_none()).
std::array<GeoCell, 9> GeoCellsOf(const GeoShape& shape) noexcept;

}  // namespace mayfly
