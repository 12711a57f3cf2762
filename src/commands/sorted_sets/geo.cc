// GEOADD, GEOPOS, GEODIST, GEOHASH: places in a sorted set.
#include <optional>

#include "exec/arguments/geo_arguments.h"
#include "exec/values/sorted_set_add.h"

namespace mayfly::geo_commands {
namespace {

void GeoAdd(Context& ctx, Args& args) {
  constexpr size_t kPerPlace = 3;
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  AddOptions options;
  while (!args.Done()) {
    if (args.Accept("NX"))
      options.only_new = true;
    else if (args.Accept("XX"))
      options.only_old = true;
    else if (args.Accept("CH"))
      options.count_changed = true;
    else
      break;
  }
  if (args.Done() || args.Left() % kPerPlace != 0 || (options.only_new && options.only_old))
    return ctx.Fail(errors::kSyntax);
  ScoredNames places(args.Left() / kPerPlace);
  for (NameAndScore& place : places.all()) {
    const std::string_view longitude = args.Next();
    const std::optional<GeoPoint> point = ReadGeoPoint(ctx, longitude, args.Next());
    if (!point) return;
    place = {args.Next(), static_cast<double>(GeoScoreOf(*point))};
  }
  AddMembers(ctx, key, options, places.all(), {.command = "GEOADD", .arguments = args.all().subspan(2)});
}

// Calls show(score) for each member after the key; absent() for a missing member.
template <typename Show, typename Absent>
void ForEachPlace(Context& ctx, Args& args, Show&& show, Absent&& absent) {
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  args.Skip(1);
  ctx.reply.Array(args.Left());
  while (!args.Done()) {
    const std::string_view name = args.Next();
    const std::optional<double> score = set.entry != nullptr ? set.value->ScoreOf(name) : std::nullopt;
    score ? show(*score) : absent();
  }
}

void GeoPos(Context& ctx, Args& args) {
  ForEachPlace(
      ctx, args, [&](double score) { ReplyGeoPoint(ctx, GeoPointOf(score)); },
      [&] { ctx.reply.NullArray(); });
}

void GeoHash(Context& ctx, Args& args) {
  ForEachPlace(
      ctx, args, [&](double score) { ctx.reply.Bulk(GeohashText(score)); }, [&] { ctx.reply.Null(); });
}

void GeoDist(Context& ctx, Args& args) {
  constexpr size_t kWithUnit = 5;
  std::optional<double> meters = 1;
  if (args.size() == kWithUnit) {
    meters = ReadGeoUnit(ctx, args[kWithUnit - 1]);
    if (!meters) return;
  } else if (args.size() > kWithUnit) {
    return ctx.Fail(errors::kSyntax);
  }
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, 1), set)) return;
  if (set.entry == nullptr) return ctx.reply.Null();
  const std::optional<double> from = set.value->ScoreOf(args[2]);
  const std::optional<double> to = set.value->ScoreOf(args[3]);
  if (!from || !to) return ctx.reply.Null();
  ReplyGeoDistance(ctx, GeoDistance(GeoPointOf(*from), GeoPointOf(*to)) / *meters);
}

constexpr KeySpec kOneRead = {1, 1, 1, kKeyRO | kKeyAccess};

constexpr Command kRows[] = {
    {.name = "geoadd",
     .arity = -5,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyRW | kKeyUpdate},
     .acl = kAclGeo,
     .handler = GeoAdd,
     .since = "3.2.0",
     .complexity = "O(log(N)) for each place, N being the size of the sorted set",
     .summary = "Adds places to a sorted set, or moves them.",
     .syntax = "key [NX | XX] [CH] longitude latitude member [longitude latitude member ...]",
     .argument_notes = "condition@6.2.0 CH=change@6.2.0"},
    {.name = "geopos",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = GeoPos,
     .since = "3.2.0",
     .complexity = "O(N) where N is the number of names",
     .summary = "Answers with the longitude and latitude of places.",
     .syntax = "key [member [member ...]]"},
    {.name = "geodist",
     .arity = -4,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = GeoDist,
     .since = "3.2.0",
     .complexity = "O(1)",
     .summary = "Answers with the distance between two places.",
     .syntax = "key member1 member2 [M | KM | FT | MI]",
     .argument_notes = "condition=unit"},
    {.name = "geohash",
     .arity = -2,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = GeoHash,
     .since = "3.2.0",
     .complexity = "O(N) where N is the number of names",
     .summary = "Answers with the geohashes of places, as texts that other programs know.",
     .syntax = "key [member [member ...]]"},
};
const CommandFamily kFamily("geo", kRows);

}  // namespace
}  // namespace mayfly::geo_commands
