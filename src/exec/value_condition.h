// The conditions on a string's present value that SET and DELEX share: IFEQ and IFNE compare it with a value,
// IFDEQ and IFDNE its digest with one that the client knows. (Redis 8.4; Valkey 8.1 has IFEQ.)
//
// Holds a view of an argument: it dies when the handler returns.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/digest.h"
#include "exec/string_access.h"
#include "exec/word.h"

namespace mayfly {

class ValueCondition {
 public:
  // `word` has just been read: takes the value behind it. False where the word is none of the four, where its
  // value is missing, or where a condition was given before.
  bool Take(uint64_t word, Args& args) noexcept {
    const bool known = word == WordOf("IFEQ") || word == WordOf("IFNE") || word == WordOf("IFDEQ") ||
                       word == WordOf("IFDNE");
    if (!known || args.Done() || given()) return false;
    word_ = word;
    wanted_ = args.Next();
    return true;
  }
  bool given() const noexcept { return word_ != 0; }

  // False, and the error answered, where a digest is not as long as digests are. As in Redis, other letters
  // than digits only make one that no value has.
  bool RequireDigest(Context& ctx) const {
    if (!by_digest() || wanted_.size() == kDigestDigits) return true;
    ctx.Fail("ERR must be exactly 16 hexadecimal characters");
    return false;
  }

  // An absent key (null) has no value that could be equal. REQUIRES: given(); a string; RequireDigest was
  // true.
  bool Holds(const Entry* entry) const noexcept {
    const bool wants_equal = word_ == WordOf("IFEQ") || word_ == WordOf("IFDEQ");
    return (entry != nullptr && Equals(*entry)) == wants_equal;
  }

 private:
  bool by_digest() const noexcept { return word_ == WordOf("IFDEQ") || word_ == WordOf("IFDNE"); }
  bool Equals(const Entry& entry) const noexcept;

  uint64_t word_ = 0;
  std::string_view wanted_;
};

}  // namespace mayfly
