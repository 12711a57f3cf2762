#include "snapshot/values/member_terms.h"

#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// A field with more bytes ends.
constexpr size_t kMostBytes = size_t{64} << 10;

bool Give(SetValue& set, const MemberTerms& terms, Expiry deadline, MemberHome home, Now now) {
  if (!set.Contains(terms.member)) return true;
  if (deadline.kind == Expiry::Kind::kNever) return !set.Remove(terms.member);
  set.AddUntil(terms.member, deadline, /*keep_deadline=*/false, home, now);
  return true;
}

bool Give(SortedSetValue& set, const MemberTerms& terms, Expiry deadline, MemberHome home, Now now) {
  const SortedSetValue::Found found = set.Find(terms.member);
  if (!found) return true;
  if (deadline.kind == Expiry::Kind::kNever) return set.Remove(found), false;
  set.SetDeadline(found, terms.member, deadline, home, now);
  return true;
}

}  // namespace

void MemberTermsOut::Write(std::string_view member, int64_t deadline_unix_ms) {
  rdb::Out out(record_);
  out.String(member);
  out.Millis(deadline_unix_ms);
  if (record_.size() > kMostBytes) End();
}

void MemberTermsOut::End() {
  if (record_.empty()) return;
  rdb::Out out(bytes_);
  out.Byte(rdb::opcode::kAux);
  out.String(MemberTerms::kField);
  out.String(record_);
  record_.clear();
}

void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes) {
  if (entry.encoding() != Encoding::kRich) return;
  const RichValue& value = *entry.rich();
  if (value.type == ValueType::kHash || value.NextDeadline().kind == Expiry::Kind::kNever) return;
  MemberTermsOut terms(bytes);
  const auto write = [&](std::string_view member, Expiry deadline) {
    if (deadline.kind == Expiry::Kind::kNever) return;
    terms.Write(member, static_cast<int64_t>(deadline.On(Expiry::Kind::kWall, now)));
  };
  if (value.type == ValueType::kSet)
    static_cast<const SetValue&>(value).ForEachLiveAt(now, write);
  else if (value.type == ValueType::kSortedSet)
    static_cast<const SortedSetValue&>(value).ForEachLiveAt(
        now, [&](std::string_view member, double, Expiry deadline) { write(member, deadline); });
  terms.End();
}

bool ReadMemberTerms(std::string_view record, std::vector<MemberTerms>& terms) {
  rdb::In in(record);
  while (!in.rest().empty()) {
    std::string_view member;
    MemberTerms one;
    if (in.String(member) != rdb::ReadStatus::kOk || in.Millis(one.deadline_unix_ms) != rdb::ReadStatus::kOk)
      return false;
    one.member = member;
    terms.push_back(std::move(one));
  }
  return true;
}

size_t GiveMemberTerms(RichValue& value, const std::vector<MemberTerms>& terms, bool wall, MemberHome home,
                       Now now) {
  size_t gone = 0;
  for (const MemberTerms& one : terms) {
    Expiry deadline = Expiry::Never();  // over
    if (one.deadline_unix_ms > now.wall_ms)
      deadline = wall ? Expiry::At(one.deadline_unix_ms)
                      : Expiry::In(static_cast<uint64_t>(one.deadline_unix_ms - now.wall_ms), now);
    bool stays = true;
    if (value.type == ValueType::kSet)
      stays = Give(static_cast<SetValue&>(value), one, deadline, home, now);
    else if (value.type == ValueType::kSortedSet)
      stays = Give(static_cast<SortedSetValue&>(value), one, deadline, home, now);
    gone += stays ? 0 : 1;
  }
  return gone;
}

}  // namespace mayfly
