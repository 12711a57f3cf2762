#include "cache/types/stream/stream_groups.h"

#include <utility>

#include "base/memory/heap.h"

namespace mayfly {
namespace {

// Groups that take no more are freed in one step.
constexpr uint64_t kFewBytes = uint64_t{64} << 10;

}  // namespace

StreamGroup* StreamGroups::Find(std::string_view name) noexcept {
  const auto found = groups_.find(name);
  return found != groups_.end() ? found->second.get() : nullptr;
}

const StreamGroup* StreamGroups::Find(std::string_view name) const noexcept {
  const auto found = groups_.find(name);
  return found != groups_.end() ? found->second.get() : nullptr;
}

const StreamGroup* StreamGroups::After(const StreamGroup* before) const noexcept {
  const auto found = before == nullptr ? groups_.begin() : groups_.upper_bound(before->name);
  return found != groups_.end() ? found->second.get() : nullptr;
}

StreamGroup& StreamGroups::Add(std::string_view name, StreamId last, int64_t entries_read) {
  auto made = std::make_unique<StreamGroup>(name, last, entries_read, account_);
  StreamGroup& group = *made;
  groups_.emplace(group.name, std::move(made));
  return group;
}

void StreamGroups::TakeFrom(StreamGroups& from, StreamGroup& group) {
  const auto place = groups_.emplace(group.name, nullptr).first;
  const auto old = from.groups_.find(group.name);
  place->second = std::move(old->second);
  from.groups_.erase(old);
  group.MoveTo(account_);
}

bool StreamGroups::AllAreDoneWith(StreamId id) const noexcept {
  for (const auto& [name, group] : groups_) {
    if (id > group->last_id || group->Find(id) != nullptr) return false;
  }
  return true;
}

size_t StreamGroups::AcknowledgeInAll(StreamId id) noexcept {
  size_t held = 0;
  for (const auto& [name, group] : groups_) held += group->Acknowledge(id) ? 1U : 0U;
  return held;
}

size_t StreamGroups::AcknowledgeBefore(StreamId end) noexcept {
  size_t held = 0;
  for (const auto& [name, group] : groups_) {
    for (; group->pending() != 0 && group->deliveries().First() < end; ++held)
      group->Acknowledge(group->deliveries().First());
  }
  return held;
}

uint64_t StreamGroups::Bytes() const noexcept {
  return MallocSizeClass(sizeof(StreamGroups)) + account_.bytes;
}

bool StreamGroups::IsLarge() const noexcept { return account_.bytes > kFewBytes; }

bool StreamGroups::FreeSome(size_t budget) noexcept {
  for (size_t freed = 0; IsLarge() && freed < budget; ++freed) {
    if (!groups_.begin()->second->FreeSome(budget)) return false;
    groups_.erase(groups_.begin());
  }
  return !IsLarge();
}

std::unique_ptr<StreamGroups> StreamGroups::Clone() const {
  auto copy = std::make_unique<StreamGroups>();
  for (const auto& [name, group] : groups_) {
    auto made = group->Clone(copy->account_);
    StreamGroup& own = *made;
    copy->groups_.emplace(own.name, std::move(made));
  }
  return copy;
}

bool StreamGroups::Validate() const {
  StreamGroup::Account sums;
  for (const auto& [name, group] : groups_) {
    if (name != group->name || !group->Validate()) return false;
    sums.bytes += group->Bytes();
    sums.pending += group->pending();
  }
  return sums.bytes == account_.bytes && sums.pending == account_.pending;
}

}  // namespace mayfly
