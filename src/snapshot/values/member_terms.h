// Deadlines of the members of a set or a sorted set, for a snapshot file. The format has no place for such deadlines, which
// come in AUX fields after the value. Redis and Valkey skip the fields:
//
//   type | key | value | AUX "t" <member, deadline> <member, deadline> ...     each a string, and Unix ms in 8 bytes
//
// A value with many deadlines has several fields. The fields come after the value: a load keeps at most one of them. A hash
// needs no field: type::kHashTtl has the deadlines.
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
  // REQUIRES: the last call, unless another call threw std::bad_alloc.
  void End();

 private:
  std::string& bytes_;
  std::string record_;
};

// Appends the AUX fields for the value of `entry` to `bytes`, or nothing if the value needs none. `of_hashes`: a hash may
// need fields. Throws std::bad_alloc.
void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes, bool of_hashes = false);

// Gives the deadlines of a field to members, in slices.
class MemberTermsIn {
 public:
  // Takes a field. REQUIRES: done().
  void Begin(std::string_view record) { record_ = record, at_ = 0; }
  bool done() const noexcept { return at_ == record_.size(); }
  // Gives deadlines to members of `value` until the budget of members is spent or no deadline is left. The deadlines are
  // promises in Unix time, or TTLs. Members past their deadlines go, unless `keeps_due`. Names without a member are passed
  // over. Returns false if the field cannot be read. Throws std::bad_alloc. REQUIRES: the value is a hash, a set or a sorted
  // set.
  struct Terms {
    bool wall;       // promises in Unix time
    bool keeps_due;  // members past their deadlines stay: the master decides
    MemberHome home;
  };
  bool GiveSome(RichValue& value, const Terms& terms, Now now, size_t& budget);

 private:
  std::string record_;
  size_t at_ = 0;
};

}  // namespace mayfly
