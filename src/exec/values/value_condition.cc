#include "exec/values/value_condition.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace mayfly {

bool ValueCondition::Equals(const Entry& entry) const noexcept {
  char digits[kMaxIntegerText];
  const std::string_view value = TextOf(entry, digits);
  if (!by_digest()) return value == wanted_;
  const Digest digest = DigestOf(value);
  return std::equal(digest.begin(), digest.end(), wanted_.begin(),
                    [](char digit, char given) { return digit == Lower(given); });
}

}  // namespace mayfly
