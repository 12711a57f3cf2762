// Conditions of SET and DELEX on the current value: IFEQ, IFNE, IFDEQ, IFDNE. IFEQ and IFNE compare the value with a given
// value, IFDEQ and IFDNE compare the value's digest with a given digest. (Redis 8.4; Valkey 8.1 has IFEQ.)
//
// Holds a view of an argument: dies when the handler returns.
#pragma once

#include <cassert>
#include <cstdint>
#include <string_view>

#include "base/bits/digest.h"
#include "exec/arguments/word.h"
#include "exec/values/string_access.h"

namespace mayfly {

class ValueCondition {
 public:
  // Takes the value after `word`, the word just read. False if `word` is none of the four words, if the value is missing, or
  // if a condition was given before.
  bool Take(uint64_t word, Args& args) noexcept {
    const bool known = word == WordOf("IFEQ") || word == WordOf("IFNE") || word == WordOf("IFDEQ") ||
                       word == WordOf("IFDNE");
    if (!known || args.Done() || given()) return false;
    word_ = word;
    wanted_ = args.Next();
    return true;
  }
  bool given() const noexcept { return word_ != 0; }

  // False, after an error reply, if a digest has the wrong length. As in Redis, a digest with characters other than digits
  // is no error; no value has such a digest.
  bool RequireDigest(Context& ctx) const {
    if (!by_digest() || wanted_.size() == kDigestDigits) return true;
    ctx.Fail("ERR must be exactly 16 hexadecimal characters");
    return false;
  }

  // The value of an absent key (null) equals no value. REQUIRES: given(); a string; RequireDigest returned true.
  bool Holds(const Entry* entry) const noexcept {
    assert(given() && (entry == nullptr || IsString(*entry)));
    assert(entry == nullptr || !by_digest() || wanted_.size() == kDigestDigits);
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
