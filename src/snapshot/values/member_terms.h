// Deadlines of the members of a set or a sorted set, for a snapshot file, whose format has no place for them. They ride in AUX
// fields before the key, which Redis and Valkey skip:
//
//   AUX "t" <member, deadline> <member, deadline> ...     each a string, and Unix ms in 8 bytes
//
// A value with many deadlines has several such fields. A hash needs none: type::kHashTtl has its deadlines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "cache/entry/rich_value.h"
#include "cache/types/member_home.h"

namespace mayfly {

struct MemberTerms {
  // The AUX field's name.
  static constexpr std::string_view kField = "t";

  std::string member;
  int64_t deadline_unix_ms = 0;
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

// Appends the AUX fields for the value of `entry` to `bytes`, or nothing if it needs none. Throws std::bad_alloc.
void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes);

// Appends the deadlines of one field. False if these are none. Throws std::bad_alloc.
bool ReadMemberTerms(std::string_view record, std::vector<MemberTerms>& terms);

// Gives the members of a set or a sorted set their deadlines: promises in Unix time, or TTLs. Members whose deadlines are over
// go; names that the value does not have are passed over. Returns the number of members that went. Throws std::bad_alloc.
size_t GiveMemberTerms(RichValue& value, const std::vector<MemberTerms>& terms, bool wall, MemberHome home,
                       Now now);

}  // namespace mayfly
