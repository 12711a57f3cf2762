// A large hash, set or sorted set that is half saved (half_saved.h).
//
// Members are written in the order of the table. A member that changes earlier is written into the buffer first. So the
// number of members in the file is known from the beginning, and the members come in any order.
//
// Deadlines of the members of sets and sorted sets come after the value (snapshot/values/member_terms.h). If there are any, the
// walk has two passes: the first writes members, the second deadlines.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "cache/types/member_table.h"
#include "cache/types/value_listeners.h"
#include "snapshot/large/half_saved.h"

namespace mayfly {

class HalfSavedTable final : public HalfSaved, private MemberListener {
 public:
  // As HalfSaved::Begin. REQUIRES: table.live is not 0.
  HalfSavedTable(HalfSavedHost& home, unsigned database, std::string_view key, ValueType type,
                 const MemberTable& table, std::string&& facts);
  ~HalfSavedTable() override;

  bool Some(std::string& out) override;
  void GiveUp() noexcept override;
  bool Unwind(size_t budget) noexcept override;
  // Nobody waits: a change costs one member.
  bool PutAside() override { return true; }

 private:
  enum class Stage : uint8_t { kHead, kMembers, kDeadlines };

  void BeforeMember(const Member& member, unsigned passes) noexcept override;
  void OnGone() noexcept override { members_ = nullptr; }
  void Keep(std::unique_ptr<RichValue> value) noexcept override;

  // Passes members with `passes` passes to go, and calls fn(member). Returns true after the last.
  template <typename Fn>
  bool Walk(unsigned passes, Fn&& fn);
  // The deadline of the member, if it is to be written; 0 for none. Returns false for a member that was due.
  bool IsLive(const Member& member, uint64_t& deadline_ms) const noexcept;
  int64_t UnixMs(uint64_t deadline_ms) const noexcept;
  // The file has deadlines of a hash's fields, beside each.
  bool has_deadlines() const noexcept {
    return type_ == ValueType::kHash && table_.nearest_ms != 0 && !home_.plain;
  }
  void WriteMember(const Member& member, std::string& bytes) const;
  // Ends the walk.
  void Detach() noexcept;

  const ValueType type_;
  Members* members_;  // null: nothing is left to read
  const MemberTable table_;
  const bool two_passes_;
  Stage stage_ = Stage::kHead;
  bool given_up_ = false;
  uint64_t cursor_ = 0;
  SideText deadlines_;  // goes after the members
};

}  // namespace mayfly
