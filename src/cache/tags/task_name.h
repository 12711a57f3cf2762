// The name of a task's tag. A task is a key that goes into a stream at its deadline (SET ... INTO): a tag of a reserved form
// says into which, so a task's stream is kept, copied, saved and found as tags are.
//
//   "\0into" | MAXLEN, 8 bytes, highest first; 0: none | the name of the stream
//
// Clients can neither see nor give such a tag. An entry has at most one. An entry with one has a deadline, and
// EntryExtra::Shape::task.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly {

// Where a task goes.
struct TaskTarget {
  std::string_view stream;
  uint64_t most = 0;  // MAXLEN: the stream is trimmed to about this number of entries; 0: not trimmed
};

inline constexpr std::string_view kTaskTag{"\0into", 5};
inline constexpr size_t kTaskNumberBytes = sizeof(uint64_t);

inline bool IsTaskTag(std::string_view tag) noexcept {
  return tag.size() >= kTaskTag.size() + kTaskNumberBytes && tag.starts_with(kTaskTag);
}

// True also for a tag that looks like a task's but is none: no client may give it.
inline bool IsReservedTag(std::string_view tag) noexcept { return tag.starts_with(kTaskTag); }

// Throws std::bad_alloc.
inline std::string TaskTagOf(const TaskTarget& target) {
  std::string tag(kTaskTag);
  for (size_t byte = kTaskNumberBytes; byte-- > 0;)
    tag.push_back(static_cast<char>(target.most >> (8 * byte)));
  return tag.append(target.stream);
}

// REQUIRES: IsTaskTag(tag). The result is a view into `tag`.
inline TaskTarget TaskTargetOf(std::string_view tag) noexcept {
  TaskTarget target;
  for (const char byte : tag.substr(kTaskTag.size(), kTaskNumberBytes))
    target.most = target.most << 8 | static_cast<unsigned char>(byte);
  target.stream = tag.substr(kTaskTag.size() + kTaskNumberBytes);
  return target;
}

}  // namespace mayfly
