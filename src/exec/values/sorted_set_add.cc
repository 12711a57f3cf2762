#include "exec/values/sorted_set_add.h"

#include <cmath>

#include "exec/values/edit_or_create.h"

namespace mayfly {
namespace {

constexpr Event kAdd{"zadd"};
constexpr Event kIncrement{"zincr"};

struct AddResult {
  size_t added = 0;
  size_t updated = 0;
  std::optional<double> score = {};  // of the last member, unless an option kept it from being set
  bool not_a_number = false;
};

class Adder {
 public:
  Adder(const AddOptions& options, const SortedSetLimits& limits, MemberHome home) noexcept
      : options_(options), limits_(limits), home_(home) {}

  // Throws std::bad_alloc; `result` tells what was done before.
  void Add(SortedSetValue& value, const NameAndScore& member, AddResult& result) const {
    const SortedSetValue::Found found = value.Find(member.name);
    result.score = std::nullopt;
    if (!found) {
      if (options_.only_old) return;
      value.Add(found, member.name, member.score, limits_, home_);
      ++result.added;
      result.score = member.score;
      return;
    }
    if (options_.only_new) return;
    const double old = found.score();
    const double score = options_.increment ? old + member.score : member.score;
    if (std::isnan(score)) {
      result.not_a_number = true;
      return;
    }
    if ((options_.only_less && score >= old) || (options_.only_greater && score <= old)) return;
    if (score != old) {
      value.SetScore(found, member.name, score);
      ++result.updated;
    }
    result.score = score;
  }

 private:
  const AddOptions& options_;
  const SortedSetLimits limits_;
  const MemberHome home_;
};

void Answer(Context& ctx, const AddOptions& options, const AddResult& result) {
  if (result.not_a_number) return ctx.Fail("ERR resulting score is not a number (NaN)");
  if (!options.increment)
    return ctx.reply.Integer(
        static_cast<int64_t>(result.added + (options.count_changed ? result.updated : 0)));
  result.score ? ctx.reply.Double(*result.score) : ctx.reply.Null();
}

}  // namespace

void AddMembers(Context& ctx, const Key& key, const AddOptions& options,
                std::span<const NameAndScore> members, const Effect& effect) {
  TypedSortedSet set;
  if (!FindLive(ctx, key, set)) return;
  AddResult result;
  if (set.entry == nullptr && options.only_old) return Answer(ctx, options, result);
  const SortedSetLimits limits = SortedSetLimitsOf(ctx);
  const MemberHome home = ctx.keyspace.home();
  const Adder adder(options, limits, home);
  const Event event = (options.increment ? kIncrement : kAdd).With(effect);
  EditOrCreate<SortedSetValue>(
      ctx, key, set,
      [&](SortedSetValue& value) {
        value.Expect(members.size(), limits, home);
        for (const NameAndScore& member : members) adder.Add(value, member, result);
      },
      [&]() -> const Event* {
        if (result.added + result.updated == 0) return nullptr;
        return &event;
      });
  Answer(ctx, options, result);
}

}  // namespace mayfly
