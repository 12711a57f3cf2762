// The rules for TTLs of keys: default, maximum, jitter, and required TTLs.
//
//   ttl-rule "sess:*" default 30m max 1d jitter 5      the first rule with a matching pattern counts;
//   ttl-rule "task:*" into jobs                        whose keys go into the stream jobs at their deadlines
//   ttl-rule "tmp:*" required                          for a setting without a value in the rule:
//   namespace shop prefix "shop:" default-ttl 1h        the default of the key's namespace, then
//   max-ttl 7d                                         the options default-ttl, max-ttl, ttl-jitter, ttl-required
//
// Every write of every type gets its deadline from these rules, through Lifetimes::Obeying. The steps: a key without a TTL
// gets the default; without a default the write is refused if a TTL is required; a relative TTL gets jitter, unless jitter
// was drawn before; and no deadline lies further off than the maximum, so with a maximum no key lasts. The rules leave alone
// a deadline that the key has and keeps (KEEPTTL, INCR, APPEND ...): Expiry::Stage. An edited key without a deadline gets
// a deadline from the default or the maximum, but is not refused.
//
// All times are in ms; 0: none. Loop thread only.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time/clock.h"
#include "cache/entry/expiry.h"
#include "cache/table/prefix_table.h"

namespace mayfly {

// A write was refused before any change: its key must have a TTL.
struct TtlRequired : std::exception {
  const char* what() const noexcept override { return "a TTL is required for this key"; }
};

// The TTL with jitter: even chances for each ms from `percent` % less to `percent` % more, but at least 1 ms.
// REQUIRES: percent <= 100.
uint64_t WithJitter(uint64_t ttl_ms, unsigned percent, std::mt19937_64& random) noexcept;
// The deadline with jitter. Its Unix time fits into the numbers that clients read, like the Unix time of `asked`.
// REQUIRES: `asked` is relative and not reached.
Expiry Jittered(Expiry asked, unsigned percent, std::mt19937_64& random, Now now) noexcept;
// The furthest deadline whose Unix time fits, as a monotonic time.
inline uint64_t FurthestDeadlineMs(Now now) noexcept {
  const uint64_t wall_ms = now.wall_ms > 0 ? static_cast<uint64_t>(now.wall_ms) : 0;
  return now.mono_ms + (static_cast<uint64_t>(INT64_MAX) - wall_ms);
}

class TtlRules {
 public:
  // Terms for all keys replace the missing values.
  struct Rule {
    std::string pattern;
    std::optional<uint64_t> default_ms = {};
    std::optional<uint64_t> max_ms = {};
    std::optional<unsigned> jitter_percent = {};
    std::optional<bool> required = {};
    std::string task = {};  // the tag that makes the keys tasks (cache/tags/task_name.h); empty: none
  };

  // For keys that match no rule, and for the missing values of a rule.
  struct Terms {
    uint64_t default_ms = 0;
    uint64_t max_ms = 0;
    unsigned jitter_percent = 0;
    bool required = false;

    bool operator==(const Terms&) const = default;
  };

  // The defaults for keys with a prefix, in place of the default for all keys; 0: the default for all keys.
  struct PrefixDefaults {
    PrefixTable prefixes = {};
    std::vector<uint64_t> ms = {};
  };

  // All that is said of TTLs.
  struct Said {
    std::vector<Rule> rules = {};
    PrefixDefaults defaults = {};
    Terms for_all = {};
  };

  // This counts from now on. Borrows `random`, which jitter is drawn from, as long as there are rules.
  void Adopt(Said said, std::mt19937_64& random) noexcept;
  // False: every deadline is as it was asked for.
  bool any() const noexcept { return any_; }
  // Until Resume(what this has returned) every deadline is as it was asked for.
  bool Suspend() noexcept { return std::exchange(any_, false); }
  void Resume(bool any) noexcept { any_ = any; }

  // The deadline of this key after a write that asks for `wanted`; its standing is kKept. Throws TtlRequired.
  Expiry Obeying(std::string_view key, Expiry wanted, Now now) const;
  // The deadline for an edited key without a deadline; never refuses. Never if there is neither default nor maximum.
  Expiry ForLasting(std::string_view key, Now now) const noexcept;
  // The tag that makes this key a task when it gets a deadline, or an empty text. A view until the next Adopt.
  std::string_view TaskTagOf(std::string_view key) const noexcept;
  // The longest TTL that an access may give this key; UINT64_MAX: no limit.
  uint64_t LongestOf(std::string_view key) const noexcept;

 private:
  // The first rule for this key, or null.
  const Rule* RuleOf(std::string_view key) const noexcept;
  // Without the rules.
  uint64_t DefaultOf(std::string_view key) const noexcept;
  Terms TermsOf(std::string_view key) const noexcept;
  Expiry Fit(const Terms& terms, Expiry wanted, Now now) const noexcept;

  bool any_ = false;
  Said in_force_;
  std::mt19937_64* random_ = nullptr;
};

}  // namespace mayfly
