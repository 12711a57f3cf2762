// ZUNION, ZINTER, ZDIFF, their STORE forms, and ZINTERCARD: combine sorted sets.
//
// Inputs are combined member by member into a new sorted set. At the end the new set is stored or shown.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "exec/values/member_source.h"
#include "exec/values/sorted_set_access.h"

namespace mayfly::zset_combine_commands {
namespace {

enum class Combination : uint8_t { kUnion, kIntersection, kDifference };
enum class Aggregate : uint8_t { kSum, kLowest, kHighest };

struct Input {
  MemberSource source;
  double weight = 1;
};

struct CombineRequest {
  std::vector<Input> inputs;
  Aggregate aggregate = Aggregate::kSum;
  bool with_scores = false;
  uint64_t limit = 0;  // of ZINTERCARD; 0: none
};

// The options of a command.
struct CombineForm {
  Combination combination;
  bool stores = false;
  bool counts = false;
};

// Returns 0 for a sum of infinities of both signs.
double WithoutNan(double score) noexcept { return std::isnan(score) ? 0 : score; }

double Aggregated(Aggregate aggregate, double score, double other) noexcept {
  switch (aggregate) {
    case Aggregate::kSum:
      return WithoutNan(score + other);
    case Aggregate::kLowest:
      return other < score ? other : score;
    case Aggregate::kHighest:
      return other > score ? other : score;
  }
  return score;
}

// Makes the sorted set. Each Take works on one member of one input: the work can be cut anywhere.
class Combiner {
 public:
  Combiner(Context& ctx, const CombineRequest& request)
      : request_(request), limits_(SortedSetLimitsOf(ctx)), home_(ctx.keyspace.home()) {}

  // Throws std::bad_alloc.
  std::unique_ptr<SortedSetValue> Make(Combination combination) {
    switch (combination) {
      case Combination::kUnion:
        for (const Input& input : request_.inputs) {
          input.source.ForEach([&](std::string_view name, double score) {
            return TakeInto(name, WithoutNan(score * input.weight));
          });
        }
        break;
      case Combination::kIntersection:
        request_.inputs[0].source.ForEach([&](std::string_view name, double score) {
          return TakeCommon(name, WithoutNan(score * request_.inputs[0].weight));
        });
        break;
      case Combination::kDifference:
        request_.inputs[0].source.ForEach(
            [&](std::string_view name, double score) { return TakeOwn(name, score); });
        break;
    }
    result_->Arrange();
    return std::move(result_);
  }
  // Like Make, in the form for storing.
  std::unique_ptr<SortedSetValue> MakeToStore(Combination combination) {
    std::unique_ptr<SortedSetValue> result = Make(combination);
    if (!exact_ || result->Size() > limits_.packed) return result;
    auto stored = std::make_unique<SortedSetValue>();
    ForEachRank(*result, {0, result->Size()}, false,
                [&](std::string_view name, double score) { stored->Put(name, score, limits_, home_); });
    return stored->is_large() ? std::move(result) : std::move(stored);
  }

 private:
  bool TakeInto(std::string_view name, double score) {
    const std::optional<double> so_far = result_->ScoreOf(name);
    Keep(name, so_far ? Aggregated(request_.aggregate, *so_far, score) : score);
    return true;
  }
  // Takes a member of the first input if all other inputs have the member, too.
  bool TakeCommon(std::string_view name, double score) {
    for (size_t i = 1; i < request_.inputs.size(); ++i) {
      const Input& other = request_.inputs[i];
      const std::optional<double> its_score = other.source.ScoreOf(name);
      if (!its_score) return true;
      score = Aggregated(request_.aggregate, score, *its_score * other.weight);
    }
    Keep(name, score);
    return request_.limit == 0 || result_->Size() < request_.limit;
  }
  // Takes a member of the first input if no other input has the member.
  bool TakeOwn(std::string_view name, double score) {
    for (size_t i = 1; i < request_.inputs.size(); ++i) {
      if (request_.inputs[i].source.ScoreOf(name)) return true;
    }
    Keep(name, score);
    return true;
  }

  // The small form has no -0. Redis shows -0 here, and makes the result small only for storing.
  void Keep(std::string_view name, double score) {
    if (score == 0 && std::signbit(score)) {
      result_->Expect(SIZE_MAX, limits_, home_);
      exact_ = true;
    }
    result_->Collect(name, score, limits_, home_);
  }

  const CombineRequest& request_;
  const SortedSetLimits limits_;
  const MemberHome home_;
  bool exact_ = false;  // the result is large because of a -0
  std::unique_ptr<SortedSetValue> result_ = std::make_unique<SortedSetValue>();
};

// Reads the number of keys and the keys. Returns false after an error reply.
bool ReadInputs(Context& ctx, Args& args, CombineRequest& request) {
  const std::optional<int64_t> count = args.NextInteger();
  if (!count) return ctx.Fail(errors::kNotInteger), false;
  if (*count < 1) {
    ctx.Fail("ERR at least 1 input key is needed for '" + std::string(ctx.row.full_name) + "' command");
    return false;
  }
  if (static_cast<uint64_t>(*count) > args.Left()) return ctx.Fail(errors::kSyntax), false;
  request.inputs.resize(static_cast<size_t>(*count));
  for (Input& input : request.inputs) {
    const Key key = ctx.keyspace.KeyOf(args.Next());
    const Entry* const entry = DropDueMembers(ctx, key, ctx.Read(key));
    if (entry == nullptr) continue;
    if (!MemberSource::Accepts(*entry)) return ctx.Fail(errors::kWrongType), false;
    input.source = MemberSource(*entry);
  }
  return true;
}

bool ReadWeights(Context& ctx, Args& args, CombineRequest& request) {
  for (Input& input : request.inputs) {
    const std::optional<double> weight = ParseDouble(args.Next());
    if (!weight) return ctx.Fail("ERR weight value is not a float"), false;
    input.weight = *weight;
  }
  return true;
}

bool ReadAggregate(Context& ctx, Args& args, CombineRequest& request) {
  if (args.Accept("SUM"))
    request.aggregate = Aggregate::kSum;
  else if (args.Accept("MIN"))
    request.aggregate = Aggregate::kLowest;
  else if (args.Accept("MAX"))
    request.aggregate = Aggregate::kHighest;
  else
    return ctx.Fail(errors::kSyntax), false;
  return true;
}

bool ReadLimit(Context& ctx, Args& args, CombineRequest& request) {
  const std::optional<int64_t> limit = args.NextInteger();
  if (!limit || *limit < 0) return ctx.Fail("ERR LIMIT can't be negative"), false;
  request.limit = static_cast<uint64_t>(*limit);
  return true;
}

// Returns false after an error reply.
bool ReadOptions(Context& ctx, Args& args, const CombineForm& form, CombineRequest& request) {
  const bool scores = form.combination != Combination::kDifference && !form.counts;
  while (!args.Done()) {
    if (scores && args.Accept("WEIGHTS", request.inputs.size())) {
      if (!ReadWeights(ctx, args, request)) return false;
    } else if (scores && args.Accept("AGGREGATE", 1)) {
      if (!ReadAggregate(ctx, args, request)) return false;
    } else if (!form.stores && !form.counts && args.Accept("WITHSCORES")) {
      request.with_scores = true;
    } else if (form.counts && args.Accept("LIMIT", 1)) {
      if (!ReadLimit(ctx, args, request)) return false;
    } else {
      return ctx.Fail(errors::kSyntax), false;
    }
  }
  return true;
}

// The event of a stored result has the command's own name.
template <Combination kCombination, bool kStores, bool kCounts = false>
void Combine(Context& ctx, Args& args) {
  constexpr CombineForm kForm = {.combination = kCombination, .stores = kStores, .counts = kCounts};
  if (kStores) args.Skip(1);
  CombineRequest request;
  if (!ReadInputs(ctx, args, request) || !ReadOptions(ctx, args, kForm, request)) return;
  // The smallest input comes first, in Redis's order of adding: the order changes sums of floating-point scores. A
  // difference keeps its order: the first input stays first, and the order of the others does not matter.
  if (kCombination != Combination::kDifference) {
    std::stable_sort(request.inputs.begin(), request.inputs.end(),
                     [](const Input& a, const Input& b) { return a.source.Size() < b.source.Size(); });
  }
  Combiner combiner(ctx, request);
  if (kStores) {
    return StoreSortedSet(ctx, ctx.KeyAt(args, 1), combiner.MakeToStore(kCombination),
                          {ctx.row.command->name});
  }
  const std::unique_ptr<SortedSetValue> result = combiner.Make(kCombination);
  const size_t size = result->Size();
  if (kCounts) return ctx.reply.Integer(static_cast<int64_t>(size));
  ReplyRanks(ctx, *result, {0, size}, false, request.with_scores);
}

constexpr KeySpec kReads = {.first = 2, .step = 1, .use = kKeyRO | kKeyAccess, .count_at = 1};
constexpr KeySpec kStoresTo = {1, 1, 1, kKeyOW | kKeyUpdate};
constexpr KeySpec kReadsAfter = {.first = 3, .step = 1, .use = kKeyRO | kKeyAccess, .count_at = 2};
constexpr std::string_view kUnionTime =
    "O(N*log(M)) where N is the number of all members and M the size of the result";
constexpr std::string_view kInterTime =
    "O(N*K+M*log(M)) where N is the size of the smallest input, K the number of inputs and M the size of the "
    "result";
constexpr std::string_view kDiffTime =
    "O(N*K+M*log(M)) where N is the size of the first input, K the number of inputs and M the size of the "
    "result";

constexpr Command kRows[] = {
    {.name = "zunion",
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kReads,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kUnion, false>,
     .since = "6.2.0",
     .complexity = kUnionTime,
     .summary = "Answers with the members that any of several sorted sets has.",
     .syntax =
         "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
     .argument_notes = "AGGREGATE=aggregate"},
    {.name = "zinter",
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kReads,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kIntersection, false>,
     .since = "6.2.0",
     .complexity = kInterTime,
     .summary = "Answers with the members that all of several sorted sets have.",
     .syntax =
         "numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>] [WITHSCORES]",
     .argument_notes = "AGGREGATE=aggregate"},
    {.name = "zdiff",
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kReads,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kDifference, false>,
     .since = "6.2.0",
     .complexity = kDiffTime,
     .summary = "Answers with the members of the first sorted set that no other one has.",
     .syntax = "numkeys key [key ...] [WITHSCORES]"},
    {.name = "zunionstore",
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kStoresTo,
     .more_keys = kReadsAfter,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kUnion, true>,
     .since = "2.0.0",
     .complexity = kUnionTime,
     .summary = "Stores the members that any of several sorted sets has.",
     .syntax =
         "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
     .argument_notes = "AGGREGATE=aggregate"},
    {.name = "zinterstore",
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kStoresTo,
     .more_keys = kReadsAfter,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kIntersection, true>,
     .since = "2.0.0",
     .complexity = kInterTime,
     .summary = "Stores the members that all of several sorted sets have.",
     .syntax =
         "destination numkeys key [key ...] [WEIGHTS weight [weight ...]] [AGGREGATE <SUM | MIN | MAX>]",
     .argument_notes = "AGGREGATE=aggregate"},
    {.name = "zdiffstore",
     .arity = -4,
     .flags = kWrite | kDenyOom | kMovableKeys,
     .keys = kStoresTo,
     .more_keys = kReadsAfter,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kDifference, true>,
     .since = "6.2.0",
     .complexity = kDiffTime,
     .summary = "Stores the members of the first sorted set that no other one has.",
     .syntax = "destination numkeys key [key ...]"},
    {.name = "zintercard",
     .arity = -3,
     .flags = kReadOnly | kMovableKeys,
     .keys = kReads,
     .acl = kAclSortedSet,
     .handler = Combine<Combination::kIntersection, false, true>,
     .since = "7.0.0",
     .complexity = "O(N*K) where N is the size of the smallest input and K the number of inputs",
     .summary = "Counts the members that all of several sorted sets have, up to a limit.",
     .syntax = "numkeys key [key ...] [LIMIT limit]"},
};
const CommandFamily kFamily("sorted-set", kRows);

}  // namespace
}  // namespace mayfly::zset_combine_commands
