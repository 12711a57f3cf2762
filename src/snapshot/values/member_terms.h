// Deadlines of the members of a set or a sorted set, for a snapshot file, whose format has no place for them. They ride in AUX
// fields after the value, which Redis and Valkey skip:
//
//   type | key | value | AUX "t" <member, deadline> <member, deadline> ...     each a string, and Unix ms in 8 bytes
//
// A value with many deadlines has several such fields. They come after the value, so that a load keeps one of them at most. A
// hash needs none: type::kHashTtl has its deadlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/rich_value.h"
#include "cache/types/member_home.h"

namespace mayfly {

struct MemberTerms {
  // The AUX field's name.
  static constexpr std::string_view kField = "t";
};

// Writes AUX fields, for one value.
class MemberTermsOut {
 public:
  // Appends the fields to `bytes`. Borrows bytes.
  explicit MemberTermsOut(std::string& bytes) noexcept : bytes_(bytes) {}
  void Write(std::string_view member, int64_t deadline_unix_ms);
  // REQUIRES: the last call, unless another one threw std::bad_alloc.
  void End();

 private:
  std::string& bytes_;
  std::string record_;
};

// Appends the AUX fields for the value of `entry` to `bytes`, or nothing if it needs none. `of_hashes`: a hash may need some.
// Throws std::bad_alloc.
void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes, bool of_hashes = false);

// Gives the deadlines of a field to members, in slices.
class MemberTermsIn {
 public:
  // Takes a field. REQUIRES: done().
  void Begin(std::string_view record) { record_ = record, at_ = 0; }
  bool done() const noexcept { return at_ == record_.size(); }
  // Gives deadlines to members of `value` until the budget of members is spent or no deadline is left: promises in Unix time, or
  // TTLs. Members whose deadlines are over go, unless they are to stay; names that the value does not have are passed over. Returns false if these are no
  // deadlines. Throws std::bad_alloc. REQUIRES: the value is a hash, a set or a sorted set.
  struct Terms {
    bool wall;  // promises in Unix time
    bool
        keeps_due;  // members whose deadlines are over stay: their master removes them, or gives them other deadlines
    MemberHome home;
  };
  bool GiveSome(RichValue& value, const Terms& terms, Now now, size_t& budget);

 private:
  std::string record_;
  size_t at_ = 0;
};

}  // namespace mayfly
