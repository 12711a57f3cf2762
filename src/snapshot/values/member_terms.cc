#include "snapshot/values/member_terms.h"

#include <algorithm>

#include "cache/types/hash_value.h"
#include "cache/types/set_value.h"
#include "cache/types/sorted_set_value.h"
#include "snapshot/format/rdb_in.h"
#include "snapshot/format/rdb_out.h"
#include "snapshot/format/types.h"

namespace mayfly {
namespace {

// A field ends after this many bytes.
constexpr size_t kMostBytes = size_t{64} << 10;

// Never stands for a deadline that is over.
void Give(SetValue& set, std::string_view member, Expiry deadline, MemberHome home, Now now) {
  if (!set.Contains(member)) return;
  if (deadline.kind == Expiry::Kind::kNever)
    set.Remove(member);
  else
    set.AddUntil(member, deadline, /*keep_deadline=*/false, home, now);
}

void Give(HashValue& hash, std::string_view field, Expiry deadline, MemberHome /*home*/, Now now) {
  if (!hash.Has(field)) return;
  if (deadline.kind == Expiry::Kind::kNever)
    hash.Remove(field);
  else
    hash.SetDeadline(field, deadline, now);
}

void Give(SortedSetValue& set, std::string_view member, Expiry deadline, MemberHome home, Now now) {
  const SortedSetValue::Found found = set.Find(member);
  if (!found) return;
  if (deadline.kind == Expiry::Kind::kNever)
    set.Remove(found);
  else
    set.SetDeadline(found, member, deadline, home, now);
}

void GiveTo(RichValue& value, std::string_view member, Expiry deadline, MemberHome home, Now now) {
  if (value.type == ValueType::kHash)
    Give(static_cast<HashValue&>(value), member, deadline, home, now);
  else if (value.type == ValueType::kSet)
    Give(static_cast<SetValue&>(value), member, deadline, home, now);
  else
    Give(static_cast<SortedSetValue&>(value), member, deadline, home, now);
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

void WriteMemberTerms(const Entry& entry, Now now, std::string& bytes, bool of_hashes) {
  if (entry.encoding() != Encoding::kRich) return;
  const RichValue& value = *entry.rich();
  if ((value.type == ValueType::kHash && !of_hashes) || value.NextDeadline().kind == Expiry::Kind::kNever)
    return;
  MemberTermsOut terms(bytes);
  const auto write = [&](std::string_view member, Expiry deadline) {
    if (deadline.kind == Expiry::Kind::kNever) return;
    terms.Write(member, static_cast<int64_t>(deadline.On(Expiry::Kind::kWall, now)));
  };
  if (value.type == ValueType::kHash)
    static_cast<const HashValue&>(value).ForEachLiveAt(
        now, [&](std::string_view field, std::string_view, Expiry deadline) { write(field, deadline); });
  else if (value.type == ValueType::kSet)
    static_cast<const SetValue&>(value).ForEachLiveAt(now, write);
  else if (value.type == ValueType::kSortedSet)
    static_cast<const SortedSetValue&>(value).ForEachLiveAt(
        now, [&](std::string_view member, double, Expiry deadline) { write(member, deadline); });
  terms.End();
}

bool MemberTermsIn::GiveSome(RichValue& value, const Terms& terms, Now now, size_t& budget) {
  for (; !done() && budget != 0; --budget) {
    rdb::In in(std::string_view(record_).substr(at_));
    std::string_view member;
    int64_t unix_ms = 0;
    if (in.String(member) != rdb::ReadStatus::kOk || in.Millis(unix_ms) != rdb::ReadStatus::kOk) return false;
    const bool due = unix_ms <= now.wall_ms;
    Expiry deadline = Expiry::Never();
    // A past deadline may lie before the monotonic clock's begin.
    if (due ? terms.keeps_due : terms.wall)
      deadline = Expiry::At(std::max(unix_ms, int64_t{0}));
    else if (!due)
      deadline = Expiry::In(static_cast<uint64_t>(unix_ms - now.wall_ms), now);
    GiveTo(value, member, deadline, terms.home, now);
    at_ += in.at();
  }
  return true;
}

}  // namespace mayfly
