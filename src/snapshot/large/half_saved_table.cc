#include "snapshot/large/half_saved_table.h"

#include <cassert>
#include <utility>

#include "cache/types/sorted_set_large.h"
#include "snapshot/format/types.h"
#include "snapshot/values/member_terms.h"

namespace mayfly {
namespace {

// What a member costs beside its bytes.
constexpr size_t kMemberCost = 32;
// A page of the table without a pending member costs that much.
constexpr size_t kPageCost = 64;

uint8_t TypeOf(ValueType type, bool timed) noexcept {
  if (type == ValueType::kHash) return timed ? rdb::type::kHashTtl : rdb::type::kHash;
  return type == ValueType::kSet ? rdb::type::kSet : rdb::type::kZset;
}

}  // namespace

HalfSavedTable::HalfSavedTable(HalfSavedHost& home, unsigned database, std::string_view key, ValueType type,
                               const MemberTable& table, std::string&& facts)
    : HalfSaved(home, database, std::move(facts)),
      type_(type),
      members_(table.members),
      table_(table),
      two_passes_(type != ValueType::kHash && table.nearest_ms != 0),
      deadlines_(&home.buffered_bytes) {
  const bool timed_hash = has_deadlines();
  rdb::Out out(head_, home.compression);
  out.Byte(TypeOf(type, timed_hash));
  out.String(key);
  if (timed_hash) out.Millis(UnixMs(table.nearest_ms));
  out.Length(table.live);
  members_->StartWalk(*this, two_passes_ ? 2 : 1);
}

HalfSavedTable::~HalfSavedTable() {
  if (!given_up_) GiveUp();
  while (!Unwind(SIZE_MAX)) {
  }
}

// ---- the file

template <typename Fn>
bool HalfSavedTable::Walk(unsigned passes, Fn&& fn) {
  for (size_t work = 0; members_ != nullptr && work < kSliceBytes; work += kPageCost) {
    cursor_ = members_->WalkSome(cursor_, passes, [&](const Member& member) {
      work += kMemberCost + member.allocated_bytes();
      fn(member);
    });
    if (cursor_ == 0) return true;
  }
  return members_ == nullptr;
}

bool HalfSavedTable::Some(std::string& out) {
  assert(!given_up_);
  switch (stage_) {
    case Stage::kHead:
      out += head_;
      head_ = {};
      stage_ = Stage::kMembers;
      return false;
    case Stage::kMembers: {
      if (!buffer_.empty()) return buffer_.MoveSome(out), false;
      const unsigned passes = two_passes_ ? 2 : 1;
      if (!Walk(passes, [&](const Member& member) { WriteMember(member, out); })) return false;
      cursor_ = 0;
      if (two_passes_) return stage_ = Stage::kDeadlines, false;
      Detach();
      return true;
    }
    case Stage::kDeadlines: {
      if (!deadlines_.empty()) return deadlines_.MoveSome(out), false;
      MemberTermsOut terms(out);
      const bool all = Walk(1, [&](const Member& member) {
        uint64_t ms = 0;
        if (IsLive(member, ms) && ms != 0) terms.Write(member.name(), UnixMs(ms));
      });
      terms.End();
      if (!all) return false;
      Detach();
      return true;
    }
  }
  return true;
}

bool HalfSavedTable::IsLive(const Member& member, uint64_t& deadline_ms) const noexcept {
  deadline_ms = member.timed() ? member.deadline_ms() : 0;
  if (deadline_ms != 0 && deadline_ms <= table_.due_until_ms) return false;
  return type_ != ValueType::kSortedSet || !LargeSortedSet::IsHidden(member);
}

int64_t HalfSavedTable::UnixMs(uint64_t deadline_ms) const noexcept {
  return static_cast<int64_t>(Expiry{table_.clock, deadline_ms}.On(Expiry::Kind::kWall, home_.began));
}

void HalfSavedTable::WriteMember(const Member& member, std::string& bytes) const {
  uint64_t ms = 0;
  if (!IsLive(member, ms)) return;
  rdb::Out out(bytes, home_.compression);
  // See type::kHashTtl.
  if (has_deadlines())
    out.Length(ms != 0 ? static_cast<uint64_t>(UnixMs(ms) - UnixMs(table_.nearest_ms)) + 1 : 0);
  out.String(member.name());
  if (type_ == ValueType::kHash) out.String(member.value());
  if (type_ == ValueType::kSortedSet) out.Double(member.score());
}

// ---- changes

void HalfSavedTable::BeforeMember(const Member& member, unsigned passes) noexcept {
  if (given_up_) return;
  Aside([&] {
    uint64_t ms = 0;
    if (!IsLive(member, ms)) return;
    if (two_passes_ && ms != 0) {
      deadlines_.Append([&](std::string& bytes) {
        MemberTermsOut terms(bytes);
        terms.Write(member.name(), UnixMs(ms));
        terms.End();
      });
    }
    if (passes == (two_passes_ ? 2U : 1U))
      buffer_.Append([&](std::string& bytes) { WriteMember(member, bytes); });
  });
}

void HalfSavedTable::Keep(std::unique_ptr<RichValue> value) noexcept {
  TakeOver(std::move(value));
  if (given_up_) Detach();
}

void HalfSavedTable::Detach() noexcept {
  if (members_ != nullptr) std::exchange(members_, nullptr)->EndWalk();
  LetGo();
}

// ---- failure

void HalfSavedTable::GiveUp() noexcept {
  given_up_ = true;
  buffer_.Clear();
  deadlines_.Clear();
  cursor_ = 0;
  if (keeps()) Detach();
}

bool HalfSavedTable::Unwind(size_t budget) noexcept {
  for (size_t work = 0; members_ != nullptr && work < budget;) {
    cursor_ = members_->SkipSome(cursor_, work);
    if (cursor_ == 0) Detach();
  }
  if (members_ == nullptr) LetGo();
  return members_ == nullptr;
}

}  // namespace mayfly
