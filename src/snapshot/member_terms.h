// Deadlines of the members of a set or a sorted set, for a snapshot file, whose format has no place for them. They ride in AUX
// fields after the value, which Redis and Valkey skip:
//
//   type | key | value | AUX "t" <member, deadline> <member, deadline> ...     each a string, and Unix ms in 8 bytes
//
// A value with many deadlines has several such fields. They come after the value, so that a load keeps none of them: each is
// given to the value at once. A hash needs none: type::kHashTtl has its deadlines.
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

// The AUX field's name.
inline constexpr std::string_view kMemberTermsField = "t";

// Appends the AUX fields for the value of `entry` to `bytes`, or nothing if it needs none. Throws std::bad_alloc.
void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes);

// Gives the members of a set or a sorted set the deadlines of one field: promises in Unix time, or TTLs. Members whose
// deadlines are over go; names that the value does not have are passed over. False if this is no such field. Throws
// std::bad_alloc.
bool GiveMemberTerms(RichValue& value, std::string_view field, bool wall, MemberHome home, Now now);

}  // namespace mayfly
