// The consumer groups of a stream, by name.
//
// A StreamGroups owns its groups. It stays in its place as long as it has groups: they count their bytes and pending entries in
// it. If memory runs out, a method throws std::bad_alloc and has changed nothing. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "cache/types/stream/stream_group.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

class StreamGroups {
 public:
  StreamGroups() = default;
  StreamGroups(const StreamGroups&) = delete;
  StreamGroups& operator=(const StreamGroups&) = delete;

  size_t size() const noexcept { return groups_.size(); }
  // Null if there is no such group.
  StreamGroup* Find(std::string_view name) noexcept;
  const StreamGroup* Find(std::string_view name) const noexcept;
  // REQUIRES: there is no such group.
  StreamGroup& Add(std::string_view name, StreamId last, int64_t entries_read);
  // Takes the group over from `from`, which must not be this object; there must be no such group.
  void TakeFrom(StreamGroups& from, StreamGroup& group);
  void Remove(StreamGroup& group) noexcept { groups_.erase(group.name); }
  // Calls fn(const StreamGroup&) in the order of the names.
  template <typename Fn>
  void ForEach(Fn&& fn) const {
    for (const auto& [name, group] : groups_) fn(static_cast<const StreamGroup&>(*group));
  }
  // The next group in this order, the first one after null; null at the end.
  const StreamGroup* After(const StreamGroup* before) const noexcept;

  // True if any entry is pending in a group. O(1).
  bool AnyPending() const noexcept { return account_.pending != 0; }
  // True if each group has delivered the entry, and none waits for its acknowledgement.
  bool AllAreDoneWith(StreamId id) const noexcept;
  // No group holds the entry from now on. Returns the number of groups that did.
  size_t AcknowledgeInAll(StreamId id) noexcept;

  // No group holds an entry with a lower ID from now on. Returns the number of pending entries that it was.
  size_t AcknowledgeBefore(StreamId end) noexcept;

  // Memory, this object included. O(1).
  uint64_t Bytes() const noexcept;
  // True if freeing all takes longer than one step.
  bool IsLarge() const noexcept;
  // Frees at most about `budget` pending entries, consumers and groups. Returns true when the rest is not large.
  // REQUIRES: the groups are no longer in use.
  bool FreeSome(size_t budget) noexcept;
  std::unique_ptr<StreamGroups> Clone() const;
  // For tests.
  bool Validate() const;

 private:
  StreamGroup::Account account_;                                     // which the groups keep
  std::map<std::string_view, std::unique_ptr<StreamGroup>> groups_;  // by their own names
};

}  // namespace mayfly
