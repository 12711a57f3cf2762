// The rules for TTLs of keys: default, maximum, jitter, and required TTLs.
//
//   ttl-rule "sess:*" default 30m max 1d jitter 5      the first rule whose pattern matches the key counts;
//   ttl-rule "tmp:*" required                          what it does not say is said by the rest:
//   namespace shop prefix "shop:" default-ttl 1h        what it does not say of a default: its namespace,
//   max-ttl 7d                                         the options default-ttl, max-ttl, ttl-jitter, ttl-required
//
// Every write of every type gets its deadline here, through Keyspace::Obeying. In this order: a key without a TTL gets
// the default; without one it is refused if a TTL is required; a relative TTL gets jitter, unless that was drawn
// before; and no deadline lies further off than the maximum, so with one no key lasts. What a key has and keeps
// (KEEPTTL, INCR, APPEND ...) is left alone: Expiry::Standing. A key that has no deadline and is only edited gets one
// from the default or the maximum, but is not refused.
//
// All times are in ms; 0: none. Loop thread only.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cache/entry/expiry.h"
#include "cache/table/prefix_table.h"

namespace mayfly {

// A write was refused before it changed anything: its key must have a TTL.
struct TtlRequired : std::exception {
  const char* what() const noexcept override { return "a TTL is required for this key"; }
};

// The TTL with jitter: even chances for each ms from `percent` % less to `percent` % more, but at least 1 ms.
// REQUIRES: percent <= 100.
uint64_t WithJitter(uint64_t ttl_ms, unsigned percent, std::mt19937_64& random) noexcept;
// The deadline with jitter. Its Unix time fits into the numbers that clients read, as that of `asked` does.
// REQUIRES: `asked` is relative and not reached.
Expiry Jittered(Expiry asked, unsigned percent, std::mt19937_64& random, Now now) noexcept;
// The furthest deadline of which that is true, as a monotonic time.
inline uint64_t FurthestDeadlineMs(Now now) noexcept {
  const uint64_t wall_ms = now.wall_ms > 0 ? static_cast<uint64_t>(now.wall_ms) : 0;
  return now.mono_ms + (static_cast<uint64_t>(INT64_MAX) - wall_ms);
}

class TtlRules {
 public:
  // What is not said is said by the rule for all keys.
  struct Rule {
    std::string pattern;
    std::optional<uint64_t> default_ms = {};
    std::optional<uint64_t> max_ms = {};
    std::optional<unsigned> jitter_percent = {};
    std::optional<bool> required = {};
  };

  // Of all keys that no rule matches; what a rule does not say.
  struct Terms {
    uint64_t default_ms = 0;
    uint64_t max_ms = 0;
    unsigned jitter_percent = 0;
    bool required = false;

    bool operator==(const Terms&) const = default;
  };

  // A default for the keys with a prefix, in the place of that for all keys; 0: that one.
  struct PrefixDefaults {
    PrefixTable prefixes = {};
    std::vector<uint64_t> ms = {};
  };

  // Keeps other rules ready until Adopt puts them in force or Drop gives them up. Borrows `random` as long as there
  // are rules.
  void Prepare(std::vector<Rule> rules, PrefixDefaults defaults, const Terms& for_all,
               std::mt19937_64& random) noexcept;
  // No effect if nothing is ready; nor has Drop.
  void Adopt() noexcept;
  void Drop() noexcept { prepared_.reset(); }
  // False: every deadline is as it was asked for.
  bool any() const noexcept { return any_; }

  // The deadline that a write gives this key instead of `wanted`; its standing is kKept. Throws TtlRequired.
  Expiry Obeying(std::string_view key, Expiry wanted, Now now) const;
  // The deadline for a key without one that is edited; never refuses. Never if there is neither default nor maximum.
  Expiry ForLasting(std::string_view key, Now now) const noexcept;
  // The longest TTL that an access may give this key; UINT64_MAX: no limit.
  uint64_t LongestOf(std::string_view key) const noexcept;

 private:
  struct InForce {
    std::vector<Rule> rules;
    PrefixDefaults defaults;
    Terms for_all;
  };
  // Without the rules.
  uint64_t DefaultOf(std::string_view key) const noexcept;
  Terms TermsOf(std::string_view key) const noexcept;
  Expiry Fit(const Terms& terms, Expiry wanted, Now now) const noexcept;

  bool any_ = false;
  InForce in_force_;
  std::optional<InForce> prepared_;
  std::mt19937_64* random_ = nullptr;
};

}  // namespace mayfly
