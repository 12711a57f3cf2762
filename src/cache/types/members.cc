#include "cache/types/members.h"

#include "cache/table/hash_table_resize.h"
#include "cache/types/value_listeners.h"

namespace mayfly {

template class HashTable<MemberTablePolicy>;

void Members::TellBefore(Member& member) noexcept {
  const unsigned passes = PassesOf(member);
  if (passes == 0) return;
  listener_->BeforeMember(member, passes);
  member.set_mark(mark_);
}

ValueListener* Members::listener() const noexcept { return listener_; }

void Members::TellGone() noexcept { listener_->OnGone(); }

}  // namespace mayfly
