// Refused calls of users, for ACL LOG: newest first, equal refusals within a minute as one entry.
//
// Keeps at most as many entries as the caller of Add allows. An entry's age is measured in monotonic ms; the times shown by
// ACL LOG are wall-clock ms. Ids count from 0 and go on after Clear. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>

namespace mayfly {

class AclLog {
 public:
  enum class Reason : uint8_t { kCommand, kKey, kChannel, kAuth };
  enum class Where : uint8_t { kTopLevel, kMulti, kScript };

  struct Entry {
    Reason reason;
    Where where;
    std::string object;  // the command, key or channel; for kAuth the login command
    std::string user;
    std::string client;  // as CLIENT LIST shows it, of the last time
    uint64_t mono_ms;    // of the last time
    int64_t wall_ms;     // of the last time
    uint64_t count = 1;
    // Set by Add, and unchanged when the entry is counted again.
    uint64_t id = 0;
    int64_t created_wall_ms = 0;
  };

  // The most kept bytes of a key or a name: clients choose these texts, and may send long texts.
  static constexpr size_t kLongestText = 1024;
  // A refusal counts in an old entry if the entry is among the newest kLookedAt and younger than kSameMs.
  static constexpr size_t kLookedAt = 10;
  static constexpr uint64_t kSameMs = 60'000;

  // Throws std::bad_alloc.
  void Add(Entry entry, size_t most_entries);
  void Clear() noexcept { entries_.clear(); }
  // The newest first.
  const std::deque<Entry>& entries() const noexcept { return entries_; }

  static std::string_view NameOf(Reason reason) noexcept;
  static std::string_view NameOf(Where where) noexcept;

 private:
  std::deque<Entry> entries_;
  uint64_t next_id_ = 0;
};

}  // namespace mayfly
