#include "cache/time/ttl_rules.h"

#include <algorithm>
#include <cassert>
#include <limits>
#include <utility>

#include "base/text/glob.h"

namespace mayfly {
namespace {

constexpr unsigned kPercent = 100;

}  // namespace

uint64_t WithJitter(uint64_t ttl_ms, unsigned percent, std::mt19937_64& random) noexcept {
  assert(percent <= kPercent);
  const uint64_t spread = ttl_ms / kPercent * percent + ttl_ms % kPercent * percent / kPercent;
  constexpr uint64_t kLongest = std::numeric_limits<int64_t>::max();
  const uint64_t least = std::max<uint64_t>(ttl_ms - spread, 1);
  const uint64_t most = std::min(ttl_ms + spread, kLongest);
  return std::uniform_int_distribution<uint64_t>(std::min(least, most), most)(random);
}

Expiry Jittered(Expiry asked, unsigned percent, std::mt19937_64& random, Now now) noexcept {
  assert(asked.kind == Expiry::Kind::kRelative && asked.deadline_ms > now.mono_ms);
  const uint64_t drawn_ms = now.mono_ms + WithJitter(asked.deadline_ms - now.mono_ms, percent, random);
  return {asked.kind, std::min(drawn_ms, FurthestDeadlineMs(now)), Expiry::Stage::kJittered};
}

void TtlRules::Adopt(Said said, std::mt19937_64& random) noexcept {
  in_force_ = std::move(said);
  random_ = &random;
  const std::vector<uint64_t>& defaults = in_force_.defaults.ms;
  const bool any_default = std::any_of(defaults.begin(), defaults.end(), [](uint64_t ms) { return ms != 0; });
  any_ = !in_force_.rules.empty() || any_default || in_force_.for_all != Terms{};
}

uint64_t TtlRules::DefaultOf(std::string_view key) const noexcept {
  const size_t found = in_force_.defaults.prefixes.Find(key);
  const bool said = found != PrefixTable::kNone && in_force_.defaults.ms[found] != 0;
  return said ? in_force_.defaults.ms[found] : in_force_.for_all.default_ms;
}

const TtlRules::Rule* TtlRules::RuleOf(std::string_view key) const noexcept {
  const auto found = std::find_if(in_force_.rules.begin(), in_force_.rules.end(),
                                  [&](const Rule& rule) { return GlobMatch(rule.pattern, key); });
  return found != in_force_.rules.end() ? &*found : nullptr;
}

std::string_view TtlRules::TaskTagOf(std::string_view key) const noexcept {
  const Rule* const rule = RuleOf(key);
  return rule != nullptr ? std::string_view(rule->task) : std::string_view();
}

TtlRules::Terms TtlRules::TermsOf(std::string_view key) const noexcept {
  if (const Rule* const rule = RuleOf(key)) {
    return {rule->default_ms ? *rule->default_ms : DefaultOf(key),
            rule->max_ms.value_or(in_force_.for_all.max_ms),
            rule->jitter_percent.value_or(in_force_.for_all.jitter_percent),
            rule->required.value_or(in_force_.for_all.required)};
  }
  Terms terms = in_force_.for_all;
  terms.default_ms = DefaultOf(key);
  return terms;
}

Expiry TtlRules::Fit(const Terms& terms, Expiry wanted, Now now) const noexcept {
  Expiry expiry = wanted;
  if (expiry.kind == Expiry::Kind::kNever && terms.default_ms != 0)
    expiry = Expiry::In(terms.default_ms, now);
  const bool relative = expiry.kind == Expiry::Kind::kRelative;
  const bool drawn = expiry.stage != Expiry::Stage::kAsked;
  if (relative && terms.jitter_percent != 0 && !drawn && expiry.deadline_ms > now.mono_ms)
    expiry = Jittered(expiry, terms.jitter_percent, *random_, now);
  if (terms.max_ms != 0) {
    if (expiry.kind == Expiry::Kind::kNever) expiry = Expiry::In(terms.max_ms, now);
    expiry.deadline_ms = std::min(expiry.deadline_ms, Expiry::NowOn(expiry.kind, now) + terms.max_ms);
  }
  expiry.stage = Expiry::Stage::kKept;
  return expiry;
}

Expiry TtlRules::Obeying(std::string_view key, Expiry wanted, Now now) const {
  if (wanted.stage == Expiry::Stage::kKept) return wanted;
  const Terms terms = TermsOf(key);
  if (terms.required && terms.default_ms == 0 && wanted.kind == Expiry::Kind::kNever) throw TtlRequired();
  return Fit(terms, wanted, now);
}

Expiry TtlRules::ForLasting(std::string_view key, Now now) const noexcept {
  return Fit(TermsOf(key), Expiry::Never(), now);
}

uint64_t TtlRules::LongestOf(std::string_view key) const noexcept {
  const uint64_t max_ms = TermsOf(key).max_ms;
  return max_ms != 0 ? max_ms : UINT64_MAX;
}

}  // namespace mayfly
