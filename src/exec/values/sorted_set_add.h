// Adds members to a sorted set or sets scores, for ZADD, ZINCRBY and GEOADD.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "exec/values/sorted_set_access.h"

namespace mayfly {

struct AddOptions {
  bool only_new = false;       // NX
  bool only_old = false;       // XX
  bool only_greater = false;   // GT: a score is set only if it rises
  bool only_less = false;      // LT
  bool count_changed = false;  // CH: the answer counts the members whose score changes, too
  bool increment = false;      // INCR: of one member
};

struct NameAndScore {
  std::string_view name;
  double score;
};

// A few pairs without an allocation, or many.
class ScoredNames {
 public:
  // Throws std::bad_alloc.
  explicit ScoredNames(size_t count) : count_(count) {
    if (count > few_.size()) many_.resize(count);
  }
  std::span<NameAndScore> all() noexcept {
    return many_.empty() ? std::span<NameAndScore>(few_).first(count_) : std::span<NameAndScore>(many_);
  }

 private:
  size_t count_;
  std::array<NameAndScore, 8> few_;
  std::vector<NameAndScore> many_;
};

// Adds members to the sorted set of `key`, or sets their scores, and answers: with how many were added, or with the
// new score of an increment. Answers with the error if the key holds another type. `effect`: what does the same.
void AddMembers(Context& ctx, const Key& key, const AddOptions& options,
                std::span<const NameAndScore> members, const Effect& effect);

}  // namespace mayfly
