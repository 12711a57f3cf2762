// Reads places, distances and units of the geo commands, and writes numbers.
#pragma once

#include <optional>
#include <string_view>

#include "base/bits/geohash.h"
#include "exec/dispatch/context.h"

namespace mayfly {

// All of these functions return nothing after an error reply.
std::optional<GeoPoint> ReadGeoPoint(Context& ctx, std::string_view longitude, std::string_view latitude);
// The meters of a unit: m, km, ft, mi.
std::optional<double> ReadGeoUnit(Context& ctx, std::string_view word);

// Four digits after the point.
void ReplyGeoDistance(Context& ctx, double distance);
// Longitude and latitude, as Redis 8 writes them: with the fewest digits that read back as the same numbers.
void ReplyGeoPoint(Context& ctx, const GeoPoint& point);

}  // namespace mayfly
