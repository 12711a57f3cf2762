#include "snapshot/member_terms.h"

#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// A field with more bytes ends.
constexpr size_t kMostBytes = size_t{64} << 10;

void WriteField(std::string& record, std::string& bytes) {
  if (record.empty()) return;
  rdb::Out out(bytes);
  out.Byte(rdb::opcode::kAux);
  out.String(kMemberTermsField);
  out.String(record);
  record.clear();
}

void Give(SetValue& set, std::string_view member, Expiry deadline, MemberHome home, Now now) {
  if (!set.Contains(member)) return;
  if (deadline.kind == Expiry::Kind::kNever)
    set.Remove(member);
  else
    set.AddUntil(member, deadline, /*keep_deadline=*/false, home, now);
}

void Give(SortedSetValue& set, std::string_view member, Expiry deadline, MemberHome home, Now now) {
  const SortedSetValue::Found found = set.Find(member);
  if (!found) return;
  if (deadline.kind == Expiry::Kind::kNever)
    set.Remove(found);
  else
    set.SetDeadline(found, member, deadline, home, now);
}

}  // namespace

void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes) {
  if (entry.encoding() != Encoding::kRich) return;
  const RichValue& value = *entry.rich();
  if (value.type == ValueType::kHash || value.NextDeadline().kind == Expiry::Kind::kNever) return;
  std::string record;
  rdb::Out out(record);
  const auto write = [&](std::string_view member, Expiry deadline) {
    if (deadline.kind == Expiry::Kind::kNever) return;
    out.String(member);
    out.Millis(static_cast<int64_t>(deadline.On(Expiry::Kind::kWall, now)));
    if (record.size() > kMostBytes) WriteField(record, bytes);
  };
  if (value.type == ValueType::kSet)
    static_cast<const SetValue&>(value).ForEachLiveAt(now, write);
  else if (value.type == ValueType::kSortedSet)
    static_cast<const SortedSetValue&>(value).ForEachLiveAt(
        now, [&](std::string_view member, double, Expiry deadline) { write(member, deadline); });
  WriteField(record, bytes);
}

bool GiveMemberTerms(RichValue& value, std::string_view field, bool wall, MemberHome home, Now now) {
  rdb::In in(field);
  while (!in.rest().empty()) {
    std::string_view member;
    int64_t unix_ms = 0;
    if (in.String(member) != rdb::ReadStatus::kOk || in.Millis(unix_ms) != rdb::ReadStatus::kOk) return false;
    Expiry deadline = Expiry::Never();  // over
    if (unix_ms > now.wall_ms)
      deadline = wall ? Expiry::At(unix_ms) : Expiry::In(static_cast<uint64_t>(unix_ms - now.wall_ms), now);
    if (value.type == ValueType::kSet)
      Give(static_cast<SetValue&>(value), member, deadline, home, now);
    else if (value.type == ValueType::kSortedSet)
      Give(static_cast<SortedSetValue&>(value), member, deadline, home, now);
  }
  return true;
}

}  // namespace mayfly
