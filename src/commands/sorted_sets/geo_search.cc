// GEOSEARCH, GEOSEARCHSTORE, and the older GEORADIUS and GEORADIUSBYMEMBER: the places near another place.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "exec/arguments/geo_arguments.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::geo_search_commands {
namespace {

enum class SearchForm : uint8_t { kSearch, kSearchStore, kRadius, kRadiusByMember };
enum class SearchOrder : uint8_t { kNone, kNearest, kFarthest };

struct SearchRequest {
  GeoShape shape;
  double unit = 1;  // in meters
  bool has_center = false;
  bool has_shape = false;
  bool by_member = false;
  bool with_distance = false;
  bool with_score = false;
  bool with_point = false;
  SearchOrder order = SearchOrder::kNone;
  int64_t count = 0;  // 0: all
  bool any = false;
  std::optional<std::string_view> store = {};
  bool store_distance = false;
};

struct FoundPlace {
  std::string name;
  double score;
  double distance;  // in meters
  GeoPoint point;
};

class SearchReader {
 public:
  SearchReader(Context& ctx, Args& args, SearchForm form, bool may_store, SearchRequest& request)
      : ctx_(ctx), args_(args), form_(form), may_store_(may_store), request_(request) {}

  // Reads the arguments after the key. An absent key has an empty `set`; then no member is looked up. Returns false after an
  // error reply.
  bool Read(const TypedSortedSet& set) {
    if (form_ == SearchForm::kRadius && (!ReadPoint() || !ReadRadius())) return false;
    if (form_ == SearchForm::kRadiusByMember) {
      if (set.entry == nullptr)
        args_.Skip(3);  // as in Redis, the other arguments of an absent key are not read either
      else if (!ReadMember(set) || !ReadRadius())
        return false;
    }
    while (!args_.Done()) {
      if (!ReadOption(set)) return false;
    }
    return RequireWhole();
  }

 private:
  bool searches() const noexcept { return form_ == SearchForm::kSearch || form_ == SearchForm::kSearchStore; }
  bool Fail(std::string_view error) {
    ctx_.Fail(error);
    return false;
  }

  bool ReadPoint() {
    const std::string_view longitude = args_.Next();
    const std::optional<GeoPoint> point = ReadGeoPoint(ctx_, longitude, args_.Next());
    if (!point) return false;
    request_.shape.center = *point;
    return true;
  }
  bool ReadMember(const TypedSortedSet& set) {
    const std::string_view name = args_.Next();
    if (set.entry == nullptr) return true;
    const std::optional<double> score = set.value->ScoreOf(name);
    if (!score) return Fail("ERR could not decode requested zset member");
    request_.shape.center = GeoPointOf(*score);
    return true;
  }
  bool ReadUnit() {
    const std::optional<double> unit = ReadGeoUnit(ctx_, args_.Next());
    request_.unit = unit.value_or(1);
    return unit.has_value();
  }
  bool ReadRadius() {
    const std::optional<double> radius = ParseDouble(args_.Next());
    if (!radius) return Fail("ERR need numeric radius");
    if (*radius < 0) return Fail("ERR radius cannot be negative");
    if (!ReadUnit()) return false;
    request_.shape.is_box = false;
    request_.shape.radius = *radius * request_.unit;
    return true;
  }
  bool ReadBox() {
    const std::optional<double> width = ParseDouble(args_.Next());
    if (!width) return Fail("ERR need numeric width");
    const std::optional<double> height = ParseDouble(args_.Next());
    if (!height) return Fail("ERR need numeric height");
    if (*width < 0 || *height < 0) return Fail("ERR height or width cannot be negative");
    if (!ReadUnit()) return false;
    request_.shape.is_box = true;
    request_.shape.width = *width * request_.unit;
    request_.shape.height = *height * request_.unit;
    return true;
  }
  bool ReadCount() {
    const std::optional<int64_t> count = args_.NextInteger();
    if (!count) return Fail(errors::kNotInteger);
    if (*count <= 0) return Fail("ERR COUNT must be > 0");
    request_.count = *count;
    return true;
  }

  bool ReadOption(const TypedSortedSet& set) {
    if (args_.Accept("WITHDIST")) return request_.with_distance = true;
    if (args_.Accept("WITHHASH")) return request_.with_score = true;
    if (args_.Accept("WITHCOORD")) return request_.with_point = true;
    if (args_.Accept("ANY")) return request_.any = true;
    if (args_.Accept("ASC")) return request_.order = SearchOrder::kNearest, true;
    if (args_.Accept("DESC")) return request_.order = SearchOrder::kFarthest, true;
    if (args_.Accept("COUNT", 1)) return ReadCount();
    return searches() ? ReadSearchOption(set) : ReadRadiusOption();
  }
  bool ReadRadiusOption() {
    const bool distance = may_store_ && args_.Accept("STOREDIST", 1);
    if (!distance && !(may_store_ && args_.Accept("STORE", 1))) return Fail(errors::kSyntax);
    request_.store = args_.Next();
    request_.store_distance = distance;
    return true;
  }
  bool ReadSearchOption(const TypedSortedSet& set) {
    const bool from_point = request_.has_center && !request_.by_member;
    if (!from_point && args_.Accept("FROMMEMBER", 1)) {
      request_.has_center = request_.by_member = true;
      return ReadMember(set);
    }
    if (!request_.by_member && args_.Accept("FROMLONLAT", 2)) {
      request_.has_center = true;
      return ReadPoint();
    }
    const bool is_box = request_.has_shape && request_.shape.is_box;
    const bool is_circle = request_.has_shape && !request_.shape.is_box;
    if (!is_box && args_.Accept("BYRADIUS", 2)) {
      request_.has_shape = true;
      return ReadRadius();
    }
    if (!is_circle && args_.Accept("BYBOX", 3)) {
      request_.has_shape = true;
      return ReadBox();
    }
    if (form_ == SearchForm::kSearchStore && args_.Accept("STOREDIST")) return request_.store_distance = true;
    return Fail(errors::kSyntax);
  }

  bool RequireWhole() {
    if (form_ == SearchForm::kSearchStore) request_.store = args_[1];
    if (request_.store && (request_.with_distance || request_.with_score || request_.with_point)) {
      const std::string_view who =
          form_ == SearchForm::kSearchStore ? "GEOSEARCHSTORE" : "STORE option in GEORADIUS";
      return Fail("ERR " + std::string(who) +
                  " is not compatible with WITHDIST, WITHHASH and WITHCOORD options");
    }
    const std::string name(errors::Repeated(args_[0]));
    if (searches() && !request_.has_center)
      return Fail("ERR exactly one of FROMMEMBER or FROMLONLAT can be specified for " + name);
    if (searches() && !request_.has_shape)
      return Fail("ERR exactly one of BYRADIUS and BYBOX can be specified for " + name);
    if (request_.any && request_.count == 0) return Fail("ERR the ANY argument requires COUNT argument");
    return true;
  }

  Context& ctx_;
  Args& args_;
  const SearchForm form_;
  const bool may_store_;
  SearchRequest& request_;
};

// All places of the shape, in the order of their cells; with ANY at most `count` places.
std::vector<FoundPlace> FindPlaces(const SortedSetValue& value, const SearchRequest& request) {
  const size_t most = request.any ? static_cast<size_t>(request.count) : SIZE_MAX;
  std::vector<FoundPlace> found;
  GeoCell searched;
  for (const GeoCell& cell : GeoCellsOf(request.shape)) {
    // Neighbouring cells of a huge shape may be the same cell.
    if (cell.is_none() || cell == searched) continue;
    searched = cell;
    const RankRange ranks = value.RanksOf(ScoreRange{cell.first_score(), cell.end_score(), false, true});
    SortedSetValue::Cursor at = value.At(ranks.first);
    for (size_t left = ranks.count; left != 0 && found.size() < most; --left, at.Next()) {
      const GeoPoint point = GeoPointOf(at.score());
      double distance = 0;
      if (request.shape.Covers(point, distance))
        found.push_back({std::string(at.name()), at.score(), distance, point});
    }
  }
  return found;
}

// Sorts the nearest, or farthest, place first; then cuts the places beyond the count. A count alone means the nearest
// places.
void SortAndCut(std::vector<FoundPlace>& places, const SearchRequest& request) {
  const bool counts = request.count != 0;
  if (request.order == SearchOrder::kFarthest) {
    std::stable_sort(places.begin(), places.end(),
                     [](const FoundPlace& a, const FoundPlace& b) { return a.distance > b.distance; });
  } else if (request.order == SearchOrder::kNearest || (counts && !request.any)) {
    std::stable_sort(places.begin(), places.end(),
                     [](const FoundPlace& a, const FoundPlace& b) { return a.distance < b.distance; });
  }
  if (counts && places.size() > static_cast<uint64_t>(request.count))
    places.erase(places.begin() + request.count, places.end());
}

void ReplyPlaces(Context& ctx, const std::vector<FoundPlace>& places, const SearchRequest& request) {
  const size_t extras =
      (request.with_distance ? 1U : 0U) + (request.with_score ? 1U : 0U) + (request.with_point ? 1U : 0U);
  ctx.reply.Array(places.size());
  for (const FoundPlace& place : places) {
    if (extras != 0) ctx.reply.Array(1 + extras);
    ctx.reply.Bulk(place.name);
    if (request.with_distance) ReplyGeoDistance(ctx, place.distance / request.unit);
    if (request.with_score) ctx.reply.Integer(static_cast<int64_t>(place.score));
    if (request.with_point) ReplyGeoPoint(ctx, place.point);
  }
}

void StorePlaces(Context& ctx, const std::vector<FoundPlace>& places, const SearchRequest& request,
                 const Event& event) {
  auto result = std::make_unique<SortedSetValue>();
  const SortedSetLimits limits = SortedSetLimitsOf(ctx);
  for (const FoundPlace& place : places) {
    const double score = request.store_distance ? place.distance / request.unit : place.score;
    result->Put(place.name, score, limits, ctx.keyspace.home());
  }
  StoreSortedSet(ctx, ctx.keyspace.KeyOf(*request.store), std::move(result), event);
}

template <SearchForm kForm, bool kMayStore>
void Search(Context& ctx, Args& args) {
  constexpr size_t kKeyAt = kForm == SearchForm::kSearchStore ? 2 : 1;
  TypedSortedSet set;
  if (!ReadLive(ctx, ctx.KeyAt(args, kKeyAt), set)) return;
  args.Skip(kKeyAt);
  SearchRequest request;
  if (!SearchReader(ctx, args, kForm, kMayStore, request).Read(set)) return;
  std::vector<FoundPlace> places;
  if (set.entry != nullptr) places = FindPlaces(*set.value, request);
  SortAndCut(places, request);
  if (!request.store) return ReplyPlaces(ctx, places, request);
  StorePlaces(ctx, places, request,
              {kForm == SearchForm::kSearchStore ? "geosearchstore" : "georadiusstore"});
}

constexpr KeySpec kOneRead = {1, 1, 1, kKeyRO | kKeyAccess};
constexpr std::string_view kStoreWords[] = {"STORE", "STOREDIST"};
constexpr std::string_view kComplexity =
    "O(N+M*log(M)) where N is the number of places in the cells around the shape and M the number of those "
    "in "
    "it";

constexpr Command kRows[] = {
    {.name = "geosearch",
     .arity = -7,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = Search<SearchForm::kSearch, false>,
     .since = "6.2.0",
     .complexity = kComplexity,
     .summary = "Answers with the places in a circle or a box.",
     .syntax =
         "key <FROMMEMBER member | FROMLONLAT longitude latitude> < <BYRADIUS radius> <M | KM | FT | MI> | "
         "<BYBOX width> height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] [WITHCOORD] [WITHDIST] "
         "[WITHHASH]",
     .argument_notes = "option=from FROMLONLAT=longitude_latitude option=by radius_condition=circle "
                       "condition=unit width_height_condition=box condition=unit condition=order "
                       "count_any=count"},
    {.name = "geosearchstore",
     .arity = -8,
     .flags = kWrite | kDenyOom,
     .keys = {1, 1, 1, kKeyOW | kKeyUpdate},
     .more_keys = {2, 2, 1, kKeyRO | kKeyAccess},
     .acl = kAclGeo,
     .handler = Search<SearchForm::kSearchStore, true>,
     .since = "6.2.0",
     .complexity = kComplexity,
     .summary = "Stores the places in a circle or a box.",
     .syntax =
         "destination source <FROMMEMBER member | FROMLONLAT longitude latitude> < <BYRADIUS radius> <M | KM "
         "| FT | MI> | <BYBOX width> height <M | KM | FT | MI>> [ASC | DESC] [COUNT count [ANY]] "
         "[STOREDIST]",
     .argument_notes = "option=from FROMLONLAT=longitude_latitude option=by radius_condition=circle "
                       "condition=unit width_height_condition=box condition=unit condition=order "
                       "count_any=count"},
    {.name = "georadius",
     .arity = -6,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kOneRead,
     .key_after_word = {kStoreWords, 6, kKeyOW | kKeyUpdate, {}, true},
     .acl = kAclGeo,
     .handler = Search<SearchForm::kRadius, true>,
     .since = "3.2.0",
     .complexity = kComplexity,
     .summary = "Answers with the places in a circle around a point, or stores them.",
     .syntax =
         "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count "
         "[ANY]] [ASC | DESC] [STORE key] [STOREDIST key]",
     .argument_notes = "condition=unit count_any=count ANY@6.2.0 condition=order",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "GEOSEARCH and GEOSEARCHSTORE with BYRADIUS"},
    {.name = "georadiusbymember",
     .arity = -5,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kOneRead,
     .key_after_word = {kStoreWords, 5, kKeyOW | kKeyUpdate, {}, true},
     .acl = kAclGeo,
     .handler = Search<SearchForm::kRadiusByMember, true>,
     .since = "3.2.0",
     .complexity = kComplexity,
     .summary = "Answers with the places in a circle around a place, or stores them.",
     .syntax =
         "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC "
         "| DESC] [STORE key] [STOREDIST key]",
     .argument_notes = "condition=unit count_any=count condition=order",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "GEOSEARCH and GEOSEARCHSTORE with BYRADIUS and FROMMEMBER"},
    {.name = "georadius_ro",
     .arity = -6,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = Search<SearchForm::kRadius, false>,
     .since = "3.2.10",
     .complexity = kComplexity,
     .summary = "Answers with the places in a circle around a point.",
     .syntax =
         "key longitude latitude radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count "
         "[ANY]] [ASC | DESC]",
     .argument_notes = "condition=unit count_any=count ANY@6.2.0 condition=order",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "GEOSEARCH with BYRADIUS"},
    {.name = "georadiusbymember_ro",
     .arity = -5,
     .flags = kReadOnly,
     .keys = kOneRead,
     .acl = kAclGeo,
     .handler = Search<SearchForm::kRadiusByMember, false>,
     .since = "3.2.10",
     .complexity = kComplexity,
     .summary = "Answers with the places in a circle around a place.",
     .syntax =
         "key member radius <M | KM | FT | MI> [WITHCOORD] [WITHDIST] [WITHHASH] [COUNT count [ANY]] [ASC "
         "| DESC]",
     .argument_notes = "condition=unit count_any=count condition=order",
     .doc_flags = "deprecated",
     .deprecated_since = "6.2.0",
     .replaced_by = "GEOSEARCH with BYRADIUS and FROMMEMBER"},
};
const CommandFamily kFamily("geo", kRows);

}  // namespace
}  // namespace mayfly::geo_search_commands
