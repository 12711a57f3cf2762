// INCREX: a counter with bounds and an expiry, in one step. (Redis 8.8; NX and XX are Valkey 9.2's.)
#include <cfloat>
#include <cmath>
#include <string>

#include "exec/arguments/expire_options.h"
#include "exec/call/usage.h"
#include "exec/values/string_number.h"
#include "snapshot/snapshots.h"

namespace mayfly::string_increx_commands {
namespace {

struct IncrExOptions {
  std::optional<std::string_view> amount;
  bool by_float = false;
  std::optional<std::string_view> least;
  std::optional<std::string_view> most;
  bool saturate = false;
  bool if_absent = false;
  bool if_present = false;
  ExpireOption expire;
  bool persist = false;
  bool only_without_expiry = false;
};

bool TakeOnce(Args& args, std::optional<std::string_view>& into) {
  if (into || args.Done()) return false;
  into = args.Next();
  return true;
}

bool TakeOnce(bool& into) { return !std::exchange(into, true); }

bool TakeOption(Args& args, IncrExOptions& options) {
  if (args.Accept("SATURATE")) return TakeOnce(options.saturate);
  switch (const uint64_t word = WordOf(args.Next())) {
    case WordOf("BYFLOAT"):
      options.by_float = true;
      return TakeOnce(args, options.amount);
    case WordOf("BYINT"):
      return TakeOnce(args, options.amount);
    case WordOf("LBOUND"):
      return TakeOnce(args, options.least);
    case WordOf("UBOUND"):
      return TakeOnce(args, options.most);
    case WordOf("NX"):
      return TakeOnce(options.if_absent) && !options.if_present;
    case WordOf("XX"):
      return TakeOnce(options.if_present) && !options.if_absent;
    case WordOf("PERSIST"):
      return TakeOnce(options.persist) && !options.expire.given() && !options.only_without_expiry;
    case WordOf("ENX"):
      return TakeOnce(options.only_without_expiry) && !options.persist;
    default:
      return !options.expire.given() && !options.persist && options.expire.Take(word, args);
  }
}

// Like EXPIRE and INCRBY: the window stays, and a slide stays unless the deadline changes.
EntryTerms TermsOf(const Entry* existing, Expiry expiry) noexcept {
  if (existing == nullptr) return {};
  const bool kept = expiry.stage == Expiry::Stage::kKept;
  return kept ? existing->terms() : EntryTerms{.stale_ms = existing->stale_ms()};
}

TagHold TagsOf(Context& ctx, const Entry* existing) {
  return existing != nullptr ? ctx.keyspace.tags().HoldThoseOf(*existing) : TagHold();
}

// The texts and rules of INCREX for each kind of number.
struct ByInteger : IntegerKind {
  static constexpr std::string_view kInvalid = " is not an integer or out of range";
  static constexpr std::string_view kTooFar = "ERR applied increment would overflow";
  static constexpr Number kLeast = INT64_MIN;
  static constexpr Number kMost = INT64_MAX;
  static constexpr Event kEventWithExpiry{kEvent.name, "expire"};
  static constexpr Event kEventWithoutExpiry{kEvent.name, "persist"};

  static std::string_view RefuseAmount(Number) { return {}; }
  static std::string_view RefuseValue(Number) { return {}; }
  static void Put(Context& ctx, const Key& key, Entry* existing, Number value, Expiry expiry,
                  const Event& event) {
    ctx.keyspace.PutOnTerms(key, existing, StringValue::Integer(value), expiry, TermsOf(existing, expiry),
                            ctx.now, event, TagsOf(ctx, existing));
  }
  static void Reply(Context& ctx, Number value) { ctx.reply.Integer(value); }
};

struct ByFloat : FloatKind {
  static constexpr std::string_view kInvalid = " is not a valid float";
  static constexpr std::string_view kTooFar = "ERR applied increment would be Infinity";
  static constexpr Number kLeast = -LDBL_MAX;
  static constexpr Number kMost = LDBL_MAX;
  static constexpr Event kEventWithExpiry{kEvent.name, "expire"};
  static constexpr Event kEventWithoutExpiry{kEvent.name, "persist"};

  static std::string_view RefuseAmount(Number amount) {
    return std::isinf(amount) ? "ERR BYFLOAT increment cannot be Infinity" : "";
  }
  static std::string_view RefuseValue(Number value) {
    return std::isinf(value) ? "ERR value cannot be Infinity" : "";
  }
  static void Put(Context& ctx, const Key& key, Entry* existing, Number value, Expiry expiry,
                  const Event& event) {
    const std::string text = FormatLongDouble(value);
    ctx.keyspace.PutOnTerms(key, existing, StringValue::Text(text), expiry, TermsOf(existing, expiry),
                            ctx.now, event, TagsOf(ctx, existing));
  }
  static void Reply(Context& ctx, Number value) { ctx.reply.DoubleText(FormatLongDouble(value)); }
};

template <typename Kind>
bool ReadNumber(Context& ctx, std::optional<std::string_view> text, std::string_view name,
                typename Kind::Number& number) {
  if (!text) return true;
  const auto parsed = Kind::Parse(*text);
  if (!parsed) {
    ctx.Fail("ERR " + std::string(name).append(Kind::kInvalid));
    return false;
  }
  number = *parsed;
  return true;
}

template <typename Kind>
struct Step {
  typename Kind::Number amount = 1;
  typename Kind::Number least = Kind::kLeast;
  typename Kind::Number most = Kind::kMost;

  // Returns false after an error reply.
  bool Read(Context& ctx, const IncrExOptions& options) {
    if (!ReadNumber<Kind>(ctx, options.amount, "Increment", amount)) return false;
    if (const std::string_view error = Kind::RefuseAmount(amount); !error.empty())
      return ctx.Fail(error), false;
    if (!ReadNumber<Kind>(ctx, options.least, "LBOUND", least)) return false;
    if (!ReadNumber<Kind>(ctx, options.most, "UBOUND", most)) return false;
    if (least > most) return ctx.Fail("ERR LBOUND can't be greater than UBOUND"), false;
    return true;
  }

  // The new value; nullopt if out of bounds without SATURATE.
  std::optional<typename Kind::Number> From(typename Kind::Number value, bool saturate) const {
    const auto sum = Kind::Add(value, amount);
    const bool too_much = sum ? *sum > most : amount > 0;
    const bool too_little = sum ? *sum < least : amount < 0;
    if (!too_much && !too_little) return sum;
    if (!saturate) return std::nullopt;
    return too_much ? most : least;
  }
};

template <typename Kind>
void ReplyStep(Context& ctx, typename Kind::Number value, typename Kind::Number applied) {
  ctx.reply.Array(2);
  Kind::Reply(ctx, value);
  Kind::Reply(ctx, applied);
}

Expiry NextExpiry(const Context& ctx, const Key& key, const IncrExOptions& options, const Entry* existing,
                  Expiry asked_for) {
  if (options.persist) return Expiry::Never();
  const bool keeps = options.only_without_expiry && existing != nullptr && existing->expires();
  if (options.expire.given() && !keeps) return asked_for;
  return existing != nullptr ? ctx.keyspace.lifetimes().Kept(key.text, *existing, ctx.now) : Expiry::Never();
}

// The event that EXPIRE, PERSIST and INCRBY of the same key would report.
template <typename Kind>
const Event& EventOf(const IncrExOptions& options, const Entry* existing, Expiry next) {
  const Expiry present = existing != nullptr ? existing->deadline() : Expiry::Never();
  if (next.kind == Expiry::Kind::kNever)
    return present.kind != Expiry::Kind::kNever ? Kind::kEventWithoutExpiry : Kind::kEvent;
  const bool keeps = options.only_without_expiry && present.kind != Expiry::Kind::kNever;
  return options.expire.given() && !keeps ? Kind::kEventWithExpiry : Kind::kEvent;
}

template <typename Kind>
void IncrExBy(Context& ctx, const Key& key, const IncrExOptions& options) {
  Step<Kind> step;
  if (!step.Read(ctx, options)) return;
  Expiry expiry;
  if (options.expire.given() && !options.expire.Resolve(ctx, expiry)) return;

  Entry* existing = nullptr;
  const auto old = FindNumber<Kind>(ctx, key, existing);
  if (!old) return;
  if (const std::string_view error = Kind::RefuseValue(*old); !error.empty()) return ctx.Fail(error);
  const bool refused = existing != nullptr ? options.if_absent : options.if_present;
  const auto value = refused ? std::nullopt : step.From(*old, options.saturate);
  if (!value) return ReplyStep<Kind>(ctx, *old, 0);
  const auto applied = Kind::Subtract(*value, *old);
  if (!applied) return ctx.Fail(Kind::kTooFar);

  expiry = NextExpiry(ctx, key, options, existing, expiry);
  if (!expiry.Reached(ctx.now) || !ctx.RemovesOverdue()) {
    Kind::Put(ctx, key, existing, *value, expiry, EventOf<Kind>(options, existing, expiry));
  } else if (existing != nullptr) {
    ctx.keyspace.Remove(key, *existing, ChangeReason::kDeleted);
  } else {
    Snapshots::NoteGone(ctx.server, ctx.keyspace, key.text);
  }
  ReplyStep<Kind>(ctx, *value, *applied);
}

void IncrEx(Context& ctx, Args& args) {
  const Key key = ctx.KeyAt(args, 1);
  args.Skip(1);
  IncrExOptions options;
  while (!args.Done()) {
    const std::string_view word = args.Peek();
    if (!TakeOption(args, options)) return ctx.Fail(SyntaxErrorNear(ctx.row, word));
  }
  if (options.only_without_expiry && !options.expire.given())
    return ctx.Fail("ERR ENX flag requires an expiration");
  options.by_float ? IncrExBy<ByFloat>(ctx, key, options) : IncrExBy<ByInteger>(ctx, key, options);
}

constexpr Command kRows[] = {
    {.name = "increx",
     .arity = -2,
     .flags = kWrite | kDenyOom | kFast,
     .keys = {1, 1, 1, kKeyRW | kKeyAccess | kKeyUpdate},
     .acl = kAclString,
     .handler = IncrEx,
     .since = "8.8.0",
     .complexity = "O(1)",
     .summary = "Adds to the number that a key holds, within bounds, and changes its expiry.",
     .syntax =
         "key [NX | XX] [BYFLOAT float | BYINT integer] [LBOUND lowerbound] [UBOUND upperbound] [SATURATE] "
         "[EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT unix-time-milliseconds | "
         "PERSIST] [ENX]",
     .notes = "NX and XX as in Valkey 9.2."},
};
const CommandFamily kFamily("string", kRows);

}  // namespace
}  // namespace mayfly::string_increx_commands
