// Writes the value of an entry as an object of the RDB format.
//
//     const ValueForm form = FormOf(entry, now);
//     if (form.members == 0) ... every member is due: the key is as good as absent
//     Out out(bytes, Compression::kLzf);
//     out.Byte(form.type);
//     ... in a file: the key
//     WriteValue(entry, form, now, compression, bytes);
//
// The form is the one that the oldest server reads:
//
//   string                    kString
//   list, set                 kList, kSet
//   hash                      kHash; kHashTtl if a field has a deadline
//   sorted set                kZset, the highest score first, as Redis does
//   stream                    kStream, in listpacks of Redis's layout, with consumer groups; kStream2 if an entry was ever
//                             deleted, if the stream counts more additions than entries, or if a group counts entries read
//
// Members that are due at `now` are not written, whether they are dropped or not. Deadlines of a set's and of a sorted set's
// members are not written: the format has no place for them. Neither are deadlines and tags of the key itself.
//
// Nothing here changes an entry or its value. Loop thread only.
#pragma once

#include <cstdint>
#include <string>

#include "base/time/clock.h"
#include "cache/entry/entry.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly::rdb {

struct ValueForm {
  uint8_t type = 0;
  // The smallest version of a file or payload that may contain the value.
  unsigned version = 0;
  // The number of written members; 1 for a string and a stream. If it is 0, there is nothing to write.
  uint64_t members = 0;
};

// O(1), but O(n) for a hash with deadlines of fields, and for a sorted set with deadlines of members.
ValueForm FormOf(const Entry& entry, Now now) noexcept;

// A form that servers know before Redis 7.4: without the deadlines of fields.
inline ValueForm PlainForm(ValueForm form) noexcept {
  if (form.type != type::kHashTtl) return form;
  form.type = type::kHash;
  form.version = version::kRedis70;
  return form;
}

// Appends the value to `bytes`, without its type. Throws std::bad_alloc; then `bytes` may end with a part of the value.
// REQUIRES: `form` is FormOf(entry, now), perhaps plain, and form.members is not 0.
void WriteValue(const Entry& entry, const ValueForm& form, Now now, Compression compression,
                std::string& bytes);

}  // namespace mayfly::rdb
