#include "cache/keyspace/lifetimes.h"

#include <algorithm>

#include "cache/time/expiry_stats.h"

namespace mayfly {
namespace {

uint64_t LagMs(Expiry deadline, Now now) noexcept {
  return Deadlines::NowOn(deadline.kind, now) - deadline.deadline_ms;
}

uint64_t LagUs(Expiry deadline, Now now, const ExpiryStats& stats) noexcept {
  const uint64_t behind_us = deadline.kind == Expiry::Kind::kWall ? stats.wall_behind_us : 0;
  return LagMs(deadline, now) * 1000 + behind_us;
}

}  // namespace

Expiry Lifetimes::ObeyingRules(std::string_view key, Expiry wanted, Now now) const {
  return parts_.ttl_rules.Obeying(key, wanted, now);
}

Expiry Lifetimes::ForLasting(std::string_view key, Now now) const noexcept {
  return ruled() ? parts_.ttl_rules.ForLasting(key, now) : Expiry::Never();
}

Expiry Lifetimes::Kept(std::string_view key, const Entry& existing, Now now) const noexcept {
  Expiry kept = existing.expires() ? existing.deadline() : ForLasting(key, now);
  kept.stage = Expiry::Stage::kKept;
  return kept;
}

void Lifetimes::FitSlide(std::string_view key, EntryTerms& terms, Expiry wanted, Expiry& expiry,
                         Now now) const noexcept {
  if (terms.slide_ms == 0) return;
  if (expiry.kind != Expiry::Kind::kRelative) {
    terms.slide_ms = 0;
    return;
  }
  if (ruled()) {
    // If jitter was drawn just now, accesses give the key the drawn TTL.
    if (wanted.stage == Expiry::Stage::kAsked) terms.slide_ms = expiry.deadline_ms - now.mono_ms;
    terms.slide_ms = std::min(terms.slide_ms, parts_.ttl_rules.LongestOf(key));
  }
  if (terms.slide_until_ms != 0) expiry.deadline_ms = std::min(expiry.deadline_ms, terms.slide_until_ms);
}

Expiry Lifetimes::Slid(const Entry& entry, Now now) noexcept {
  const EntryTerms terms = entry.terms();
  if (terms.slide_ms == 0 || !entry.expires()) return Expiry::Never();
  Expiry deadline = entry.deadline();
  if (deadline.kind != Expiry::Kind::kRelative) return Expiry::Never();
  uint64_t next_ms = std::min(now.mono_ms + terms.slide_ms, FurthestDeadlineMs(now));
  if (terms.slide_until_ms != 0) next_ms = std::min(next_ms, terms.slide_until_ms);
  if (next_ms <= deadline.deadline_ms) return Expiry::Never();
  deadline.deadline_ms = next_ms;
  return deadline;
}

void Lifetimes::CountExpired(const Entry& entry, Now now) noexcept {
  ExpiryStats& stats = parts_.expiry_stats;
  ++stats.expired_keys;
  const Expiry deadline = entry.deadline();
  // A key that was set with a deadline in the past is not late: its last access is after its deadline.
  const uint64_t age_ms = Entry::IdleMs(entry.stamp(), now.mono_ms) + Entry::StampUnitMs(entry.stamp());
  if (LagMs(deadline, now) <= age_ms) stats.lag_us.Add(LagUs(deadline, now, stats));
}

// Members that go together count with the lag of the first member.
void Lifetimes::CountExpiredMembers(size_t members, Expiry first, Now now) noexcept {
  ExpiryStats& stats = parts_.expiry_stats;
  stats.expired_members += members;
  stats.lag_us.Add(LagUs(first, now, stats), members);
}

}  // namespace mayfly
