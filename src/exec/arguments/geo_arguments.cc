#include "exec/arguments/geo_arguments.h"

#include <cstdio>
#include <string>

#include "base/text/ascii.h"
#include "base/text/numbers.h"
#include "exec/call/errors.h"

namespace mayfly {

std::optional<GeoPoint> ReadGeoPoint(Context& ctx, std::string_view longitude, std::string_view latitude) {
  const std::optional<double> east = ParseDouble(longitude);
  const std::optional<double> north = east ? ParseDouble(latitude) : std::nullopt;
  if (!north) return ctx.Fail(errors::kNotFloat), std::nullopt;
  const bool on_map =
      *east >= -kMaxLongitude && *east <= kMaxLongitude && *north >= -kMaxLatitude && *north <= kMaxLatitude;
  if (on_map) return GeoPoint{*east, *north};
  ctx.Fail("ERR invalid longitude,latitude pair " + std::to_string(*east) + "," + std::to_string(*north));
  return std::nullopt;
}

std::optional<double> ReadGeoUnit(Context& ctx, std::string_view word) {
  struct Unit {
    std::string_view name;
    double meters;
  };
  static constexpr Unit kUnits[] = {{"M", 1}, {"KM", 1000}, {"FT", 0.3048}, {"MI", 1609.34}};
  for (const Unit& unit : kUnits) {
    if (EqualsIgnoringCase(word, unit.name)) return unit.meters;
  }
  return ctx.Fail("ERR unsupported unit provided. please use M, KM, FT, MI"), std::nullopt;
}

void ReplyGeoDistance(Context& ctx, double distance) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, "%.4f", distance);
  ctx.reply.Bulk({text, static_cast<size_t>(size)});
}

void ReplyGeoPoint(Context& ctx, const GeoPoint& point) {
  ctx.reply.Array(2);
  ctx.reply.Double(point.longitude);
  ctx.reply.Double(point.latitude);
}

}  // namespace mayfly
