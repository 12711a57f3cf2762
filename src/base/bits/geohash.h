// Places on Earth as 52-bit numbers, as Redis's geo commands keep them in the scores of a sorted set.
//
// A geohash halves the map again and again: each step gives a bit for the longitude and one for the latitude. The bits
// of both are interleaved, the longitude's first, so that all places of one cell have the same first bits, and scores in
// one range. Pure functions. Distances are in meters on a sphere.
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
inline constexpr double kMaxLatitude = 85.05112878;  // where the square map of web maps ends

// A cell of the map: the first `step` pairs of bits that all its places have.
struct GeoCell {
  uint64_t bits = 0;
  unsigned step = 0;

  bool operator==(const GeoCell&) const = default;
  bool is_none() const noexcept { return bits == 0 && step == 0; }
  // The scores of its places: from the first to before the last.
  double first_score() const noexcept;
  double end_score() const noexcept;
};

// What is searched: all places within `radius`, or in a box of this width and height.
struct GeoShape {
  GeoPoint center;
  bool is_box = false;
  double radius = 0;
  double width = 0;
  double height = 0;

  // Whether a place belongs to it; sets its distance from the center then.
  bool Covers(const GeoPoint& point, double& distance) const noexcept;
};

// REQUIRES, for both: a place on the map.
uint64_t GeoScoreOf(const GeoPoint& point) noexcept;
double GeoDistance(const GeoPoint& a, const GeoPoint& b) noexcept;
// The middle of the smallest cell that a score stands for. A score that is no geohash gives a place, too.
GeoPoint GeoPointOf(double score) noexcept;
// The eleven letters by which others know a place, such as "u4pruydqqvj". The last one is always "0".
std::string GeohashText(double score);

// The cells in which all places of a shape lie: the one of its center and those around it, in the order in which Redis
// searches them. Those that it need not search are none.
std::array<GeoCell, 9> GeoCellsOf(const GeoShape& shape) noexcept;

}  // namespace mayfly
