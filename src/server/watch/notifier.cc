#include "server/watch/notifier.h"

#include <algorithm>
#include <array>
#include <new>

#include "cache/entry/entry.h"
#include "cache/entry/rich_value.h"

namespace mayfly {
namespace {

constexpr std::array<std::string_view, 9> kGeneric = {
    "del", "expire", "persist", "rename_from", "rename_to", "move_from", "move_to", "copy_to", "restore"};

char ClassOfType(const Entry& entry) noexcept {
  if (entry.encoding() != Encoding::kRich) return '$';
  switch (entry.rich()->type) {
    case ValueType::kHash:
      return 'h';
    case ValueType::kList:
      return 'l';
    case ValueType::kSet:
      return 's';
    case ValueType::kSortedSet:
      return 'z';
    case ValueType::kStream:
      return 't';
    case ValueType::kString:
      break;
  }
  return '$';
}

}  // namespace

void Notifier::Follow(const config::EventClasses& classes) {
  const bool to_nobody = !classes.Has('K') && !classes.Has('E');
  const bool any_change = std::any_of(classes.letters.begin(), classes.letters.end(),
                                      [](char c) { return c != 'K' && c != 'E' && c != 'm'; });
  if (to_nobody || !any_change)
    changes_.Unlisten(*this);
  else
    changes_.Listen(*this, ChangeHub::kAllReasons & ~ChangeHub::Bit(ChangeReason::kFlushed) &
                               ~ChangeHub::Bit(ChangeReason::kSwapped) &
                               ~ChangeHub::Bit(ChangeReason::kNamespaceFlushed));
  classes_ = classes;
  tells_misses_ = !to_nobody && classes.Has('m');
}

Notifier::Class Notifier::ClassOf(std::string_view event, const Change& change) noexcept {
  if (std::find(kGeneric.begin(), kGeneric.end(), event) != kGeneric.end()) return 'g';
  if (event == events::kExpired.name) return 'x';
  if (event == events::kEvicted.name) return 'e';
  if (event == events::kNew.name) return 'n';
  return ClassOfType(*change.entry);
}

void Notifier::OnMiss(unsigned database, std::string_view key) noexcept {
  Tell('m', "keymiss", database, key);
}

void Notifier::OnChange(const Change& change) {
  if (change.entry == nullptr || pubsub_.Deserted() || change.event.name == events::kLoaded.name) return;
  // In Redis RENAME, COPY and RESTORE delete a key at the target, and the result is a new key.
  const std::string_view name = change.event.name;
  const bool anew =
      name == events::kRenameTo.name || name == events::kCopyTo.name || name == events::kRestore.name;
  if ((change.reason == ChangeReason::kCreated || anew) && name != events::kNew.name)
    Tell('n', events::kNew.name, change.database, change.key);
  const auto tell = [&](std::string_view event) {
    Tell(ClassOf(event, change), event, change.database, change.key);
  };
  tell(change.event.name);
  if (!change.event.then.empty()) tell(change.event.then);
}

void Notifier::Tell(Class of, std::string_view event, unsigned database, std::string_view key) noexcept {
  if (!classes_.Has(of) || pubsub_.Deserted()) return;
  const auto publish = [&](std::string_view space, std::string_view about, std::string_view message) {
    channel_.assign(space).append(std::to_string(database)).append("__:").append(about);
    pubsub_.Publish(channel_, message);
  };
  try {
    if (classes_.Has('K')) publish("__keyspace@", key, event);
    if (classes_.Has('E')) publish("__keyevent@", event, key);
  } catch (const std::bad_alloc&) {
  }
}

}  // namespace mayfly
