#include "cache/types/members.h"

#include "cache/table/hash_table_resize.h"
#include "cache/types/watches.h"

namespace mayfly {

template class HashTable<MemberTablePolicy>;

void Members::TellBefore(Member& member) noexcept {
  const unsigned passes = PassesOf(member);
  if (passes == 0) return;
  watch_->BeforeMember(member, passes);
  member.set_mark(mark_);
}

ValueWatch* Members::watch() const noexcept { return watch_; }

void Members::TellGone() noexcept { watch_->OnGone(); }

}  // namespace mayfly
