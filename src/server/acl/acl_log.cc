#include "server/acl/acl_log.h"

#include <algorithm>
#include <utility>

namespace mayfly {
namespace {

bool IsSame(const AclLog::Entry& a, const AclLog::Entry& b) noexcept {
  return a.reason == b.reason && a.where == b.where && b.mono_ms - a.mono_ms <= AclLog::kSameMs &&
         a.object == b.object && a.user == b.user;
}

}  // namespace

void AclLog::Add(Entry entry, size_t most_entries) {
  for (std::string* const text : {&entry.object, &entry.user})
    text->resize(std::min(text->size(), kLongestText));
  const size_t looked_at = std::min(entries_.size(), kLookedAt);
  const auto end = entries_.begin() + static_cast<std::ptrdiff_t>(looked_at);
  const auto same =
      std::find_if(entries_.begin(), end, [&](const Entry& other) { return IsSame(other, entry); });
  const bool again = same != end;
  entry.id = again ? same->id : next_id_;
  entry.created_wall_ms = again ? same->created_wall_ms : entry.wall_ms;
  if (again) {
    entry.count += same->count;
    entries_.erase(same);
  }
  entries_.push_front(std::move(entry));
  if (!again) ++next_id_;
  if (entries_.size() > most_entries) entries_.resize(most_entries, entries_.front());
}

std::string_view AclLog::NameOf(Reason reason) noexcept {
  switch (reason) {
    case Reason::kCommand:
      return "command";
    case Reason::kKey:
      return "key";
    case Reason::kChannel:
      return "channel";
    case Reason::kAuth:
      break;
  }
  return "auth";
}

std::string_view AclLog::NameOf(Where where) noexcept {
  switch (where) {
    case Where::kTopLevel:
      return "toplevel";
    case Where::kMulti:
      return "multi";
    case Where::kScript:
      break;
  }
  return "lua";
}

}  // namespace mayfly
