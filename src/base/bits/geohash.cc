#include "base/bits/geohash.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace mayfly {
namespace {

constexpr double kEarthRadius = 6372797.560856;
constexpr double kHalfEquator = 20037726.37;
constexpr unsigned kMaxStep = 26;
constexpr unsigned kScoreBits = 2 * kMaxStep;
constexpr uint64_t kLongitudeBits = 0xAAAAAAAAAAAAAAAA;
constexpr uint64_t kLatitudeBits = 0x5555555555555555;

double Radians(double degrees) noexcept { return degrees * (std::numbers::pi / 180.0); }
double Degrees(double radians) noexcept { return radians / (std::numbers::pi / 180.0); }

// Puts a 0 before each bit.
uint64_t Spread(uint32_t value) noexcept {
  uint64_t bits = value;
  bits = (bits | bits << 16) & 0x0000FFFF0000FFFF;
  bits = (bits | bits << 8) & 0x00FF00FF00FF00FF;
  bits = (bits | bits << 4) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits << 2) & 0x3333333333333333;
  return (bits | bits << 1) & kLatitudeBits;
}

uint32_t Gather(uint64_t bits) noexcept {
  bits &= kLatitudeBits;
  bits = (bits | bits >> 1) & 0x3333333333333333;
  bits = (bits | bits >> 2) & 0x0F0F0F0F0F0F0F0F;
  bits = (bits | bits >> 4) & 0x00FF00FF00FF00FF;
  bits = (bits | bits >> 8) & 0x0000FFFF0000FFFF;
  return static_cast<uint32_t>(bits | bits >> 16);
}

// Converts a score like Redis's cast: the low 64 bits of the number. Scores beyond 64 bits give the results of Redis's
// processors.
uint64_t BitsOf(double score) noexcept {
  constexpr double kTwoTo63 = 0x1p63;
  if (score >= -kTwoTo63 && score < kTwoTo63) return static_cast<uint64_t>(static_cast<int64_t>(score));
  if (score >= kTwoTo63) return score < 2 * kTwoTo63 ? static_cast<uint64_t>(score) : 0;
  return uint64_t{1} << 63;
}

GeoCell CellOf(const GeoPoint& point, double max_latitude, unsigned step) noexcept {
  const double latitude = (point.latitude + max_latitude) / (2 * max_latitude);
  const double longitude = (point.longitude + kMaxLongitude) / (2 * kMaxLongitude);
  const auto cells = static_cast<double>(uint64_t{1} << step);
  return {Spread(static_cast<uint32_t>(latitude * cells)) | Spread(static_cast<uint32_t>(longitude * cells))
                                                                << 1,
          step};
}

// The part of the map covered by a cell.
struct Area {
  explicit Area(const GeoCell& cell) noexcept {
    const auto cells = static_cast<double>(uint64_t{1} << cell.step);
    const uint32_t latitude = Gather(cell.bits);
    const uint32_t longitude = Gather(cell.bits >> 1);
    south = -kMaxLatitude + latitude / cells * (2 * kMaxLatitude);
    north = -kMaxLatitude + (latitude + 1.0) / cells * (2 * kMaxLatitude);
    west = -kMaxLongitude + longitude / cells * (2 * kMaxLongitude);
    east = -kMaxLongitude + (longitude + 1.0) / cells * (2 * kMaxLongitude);
  }
  Area(double its_west, double its_south, double its_east, double its_north) noexcept
      : west(its_west), south(its_south), east(its_east), north(its_north) {}

  double west;
  double south;
  double east;
  double north;
};

double LatitudeDistance(double a, double b) noexcept {
  return kEarthRadius * std::abs(Radians(b) - Radians(a));
}

// The smallest part of the map, in degrees, in which the shape lies.
Area BoundsOf(const GeoShape& shape) noexcept {
  const double height = shape.is_box ? shape.height / 2 : shape.radius;
  const double width = shape.is_box ? shape.width / 2 : shape.radius;
  const auto& [longitude, latitude] = shape.center;
  const double up = Degrees(height / kEarthRadius);
  // In degrees, the half of the shape nearer to the pole is the wider half.
  const double nearer = latitude < 0 ? latitude - up : latitude + up;
  const double sideways = Degrees(width / kEarthRadius / std::cos(Radians(nearer)));
  return {longitude - sideways, latitude - up, longitude + sideways, latitude + up};
}

// Chooses the step at which nine cells cover a circle of `radius`.
unsigned StepFor(double radius, double latitude) noexcept {
  if (radius == 0) return kMaxStep;
  int step = -1;
  while (radius < kHalfEquator) {
    radius *= 2;
    ++step;
  }
  constexpr double kNarrowFrom = 66;
  constexpr double kNarrowestFrom = 80;
  if (std::abs(latitude) > kNarrowFrom) step -= std::abs(latitude) > kNarrowestFrom ? 2 : 1;
  return static_cast<unsigned>(std::clamp(step, 1, static_cast<int>(kMaxStep)));
}

// The bits of one axis of a cell, moved by one cell; at the end of the map the cell wraps around.
uint64_t Move(uint64_t bits, uint64_t axis, unsigned step, int by) noexcept {
  const unsigned unused = 64 - 2 * step;
  const uint64_t other = ~axis >> unused;
  uint64_t moved = bits & axis;
  if (by > 0) moved += other + 1;
  if (by < 0) moved = (moved | other) - (other + 1);
  return (moved & (axis >> unused)) | (bits & ~axis);
}

GeoCell Beside(const GeoCell& cell, int east, int north) noexcept {
  const uint64_t moved = east == 0 ? cell.bits : Move(cell.bits, kLongitudeBits, cell.step, east);
  return {north == 0 ? moved : Move(moved, kLatitudeBits, cell.step, north), cell.step};
}

struct Offset {
  int east;
  int north;
};
constexpr std::array<Offset, 9> kSearched = {
    {{0, 0}, {0, 1}, {0, -1}, {1, 0}, {-1, 0}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}}};

// Returns true if the cells around this cell reach as far as the bounds.
bool Reaches(const GeoCell& cell, const Area& bounds) noexcept {
  return Area(Beside(cell, 0, 1)).north >= bounds.north && Area(Beside(cell, 0, -1)).south <= bounds.south &&
         Area(Beside(cell, 1, 0)).east >= bounds.east && Area(Beside(cell, -1, 0)).west <= bounds.west;
}

}  // namespace

double GeoCell::first_score() const noexcept { return static_cast<double>(bits << (kScoreBits - 2 * step)); }
double GeoCell::end_score() const noexcept {
  return static_cast<double>((bits + 1) << (kScoreBits - 2 * step));
}

bool GeoShape::Covers(const GeoPoint& point, double& distance) const noexcept {
  if (is_box) {
    if (LatitudeDistance(point.latitude, center.latitude) > height / 2) return false;
    if (GeoDistance(point, {center.longitude, point.latitude}) > width / 2) return false;
  }
  distance = GeoDistance(center, point);
  return is_box || distance <= radius;
}

uint64_t GeoScoreOf(const GeoPoint& point) noexcept { return CellOf(point, kMaxLatitude, kMaxStep).bits; }

double GeoDistance(const GeoPoint& a, const GeoPoint& b) noexcept {
  const double sideways = std::sin((Radians(b.longitude) - Radians(a.longitude)) / 2);
  if (sideways == 0) return LatitudeDistance(a.latitude, b.latitude);
  const double a_latitude = Radians(a.latitude);
  const double b_latitude = Radians(b.latitude);
  const double up = std::sin((b_latitude - a_latitude) / 2);
  const double part = up * up + std::cos(a_latitude) * std::cos(b_latitude) * sideways * sideways;
  return 2.0 * kEarthRadius * std::asin(std::sqrt(part));
}

GeoPoint GeoPointOf(double score) noexcept {
  const Area area(GeoCell{BitsOf(score), kMaxStep});
  return {std::clamp((area.west + area.east) / 2, -kMaxLongitude, kMaxLongitude),
          std::clamp((area.south + area.north) / 2, -kMaxLatitude, kMaxLatitude)};
}

std::string GeohashText(double score) {
  constexpr char kLetters[] = "0123456789bcdefghjkmnpqrstuvwxyz";
  constexpr double kPole = 90;  // of the common geohash: the map of the common geohash includes the poles
  constexpr unsigned kBitsPerLetter = 5;
  constexpr unsigned kLettersOfScore = 10;
  const uint64_t bits = CellOf(GeoPointOf(score), kPole, kMaxStep).bits;
  std::string text;
  for (unsigned i = 1; i <= kLettersOfScore; ++i)
    text += kLetters[(bits >> (kScoreBits - i * kBitsPerLetter)) & ((1U << kBitsPerLetter) - 1)];
  return text + '0';
}

std::array<GeoCell, 9> GeoCellsOf(const GeoShape& shape) noexcept {
  const Area bounds = BoundsOf(shape);
  const double radius =
      shape.is_box ? std::sqrt(shape.width / 2 * (shape.width / 2) + shape.height / 2 * (shape.height / 2))
                   : shape.radius;
  GeoCell cell = CellOf(shape.center, kMaxLatitude, StepFor(radius, shape.center.latitude));
  if (cell.step > 1 && !Reaches(cell, bounds)) cell = CellOf(shape.center, kMaxLatitude, cell.step - 1);

  const Area area(cell);
  constexpr unsigned kLeavesOutFrom = 2;
  std::array<GeoCell, 9> cells;
  for (size_t i = 0; i < cells.size(); ++i) {
    const auto& [east, north] = kSearched[i];
    const bool needless =
        cell.step >= kLeavesOutFrom &&
        ((north < 0 && area.south < bounds.south) || (north > 0 && area.north > bounds.north) ||
         (east < 0 && area.west < bounds.west) || (east > 0 && area.east > bounds.east));
    if (!needless) cells[i] = Beside(cell, east, north);
  }
  return cells;
}

}  // namespace mayfly
