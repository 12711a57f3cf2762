#include "cache/evict/lfu_evictor.h"

#include <algorithm>
#include <cassert>
#include <new>
#include <utility>

#include "cache/keyspace/sampling.h"
#include "cache/owners/namespaces.h"

namespace mayfly {
namespace {

uint64_t RankOf(const Entry& entry, uint64_t now_mono_ms, const LfuRules& rules) noexcept {
  constexpr unsigned kIdleBits = 48;
  const uint64_t idle_ms = Entry::IdleMs(entry.stamp(), now_mono_ms);
  const uint64_t rarity = kLfuCountMax - LfuCount(entry.stamp(), now_mono_ms, rules);
  return rarity << kIdleBits | std::min(idle_ms, (uint64_t{1} << kIdleBits) - 1);
}

}  // namespace

size_t LfuEvictor::EvictOne(bool with_lasting, uint8_t leaves_out, size_t samples, Now now) {
  assert(samples > 0 && databases_.access_effect() == AccessEffect::kFrequency);
  size_t looked = 0;
  for (;;) {
    const bool all_new = candidates_.empty();
    bool evicted = false;
    const size_t more = Look(with_lasting, leaves_out, samples, now, evicted);
    if (more == 0) return 0;
    looked += more;
    if (evicted) return looked;
    while (!candidates_.empty()) {
      const Candidate best = std::move(candidates_.back());
      candidates_.pop_back();
      if (Evict(best, with_lasting, leaves_out, now)) return looked;
    }
    // A replica keeps expired keys (ExpiredKeys::kHidden), and no look-up finds them: without this the rounds would not end.
    if (all_new) return EvictAny(with_lasting, leaves_out, now) ? looked : 0;
  }
}

bool LfuEvictor::EvictAny(bool with_lasting, uint8_t leaves_out, Now now) {
  for (unsigned i = 0; i < databases_.count(); ++i) {
    Keyspace& keyspace = databases_.At(i);
    if ((with_lasting ? keyspace.size() : keyspace.expiring()) == 0) continue;
    Entry* const entry = Sampling(keyspace).Sample(with_lasting, {.leaves_out = leaves_out}, random_);
    if (entry == nullptr) continue;
    keyspace.Evict(*entry, now);
    return true;
  }
  return false;
}

size_t LfuEvictor::Look(bool with_lasting, uint8_t leaves_out, size_t samples, Now now, bool& evicted) {
  size_t looked = 0;
  for (unsigned i = 0; i < databases_.count(); ++i) {
    Keyspace& keyspace = databases_.At(i);
    if ((with_lasting ? keyspace.size() : keyspace.expiring()) == 0) continue;
    for (size_t sample = 0; sample < samples; ++sample) {
      Entry* const entry = Sampling(keyspace).Sample(with_lasting, {.leaves_out = leaves_out}, random_);
      if (entry == nullptr) break;
      ++looked;
      try {
        Offer(i, *entry, now);
      } catch (const std::bad_alloc&) {
        keyspace.Evict(*entry, now);
        evicted = true;
        return looked;
      }
    }
  }
  return looked;
}

void LfuEvictor::Offer(unsigned database, const Entry& entry, Now now) {
  const uint64_t rank = RankOf(entry, now.mono_ms, databases_.lfu_rules());
  const bool full = candidates_.size() == kCandidates;
  if (full && rank <= candidates_.front().rank) return;
  for (const Candidate& known : candidates_) {
    if (known.database == database && known.key == entry.key()) return;
  }
  Candidate candidate{rank, database, entry.stamp(), std::string(entry.key())};
  if (full) candidates_.erase(candidates_.begin());
  const auto at =
      std::lower_bound(candidates_.begin(), candidates_.end(), rank,
                       [](const Candidate& known, uint64_t wanted) { return known.rank < wanted; });
  candidates_.insert(at, std::move(candidate));
}

bool LfuEvictor::Evict(const Candidate& candidate, bool with_lasting, uint8_t leaves_out, Now now) {
  Keyspace& keyspace = databases_.At(candidate.database);
  // Peek frees a key whose deadline has passed: as good as an eviction. If many keys are due, one call must not free all of
  // them.
  const size_t before = keyspace.size();
  Entry* entry = keyspace.Peek(keyspace.KeyOf(candidate.key), now);
  if (keyspace.size() != before) return true;
  if (entry == nullptr || entry->stamp() != candidate.stamp) return false;
  if (!entry->evictable() || (!with_lasting && !entry->expires())) return false;
  if (!EvictionPool{.leaves_out = leaves_out}.Has(databases_.quotas().Of(*entry))) return false;
  keyspace.Evict(*entry, now);
  return true;
}

size_t LfuEvictor::EvictWithin(const Namespace& space, bool with_lasting, Now now) {
  Quota* home = nullptr;
  Entry* best = nullptr;
  size_t looked = 0;
  for (Quota* const share : space.shares()) {
    for (const Quota::List list : {Quota::kExpiring, Quota::kLasting}) {
      if (list == Quota::kLasting && !with_lasting) continue;
      for (size_t left = std::min(share->CountOf(list), kCandidates); left != 0; --left) {
        Entry* const entry = share->NextInTurn(list);
        ++looked;
        const LfuRules& rules = databases_.lfu_rules();
        if (best != nullptr && RankOf(*entry, now.mono_ms, rules) <= RankOf(*best, now.mono_ms, rules))
          continue;
        best = entry;
        home = share;
      }
    }
  }
  if (best != nullptr) home->home().Evict(*best, now);
  return looked;
}

}  // namespace mayfly
