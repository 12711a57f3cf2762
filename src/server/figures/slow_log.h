// The slow calls, newest first, for SLOWLOG. exec/observe/slow_calls.h decides when a call is slow.
//
// An entry owns copies of its arguments, shortened as in Redis to stay small. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace mayfly {

struct SlowCall {
  uint64_t id = 0;  // rises by one with each entry; RESET does not set it back
  int64_t wall_s = 0;
  uint64_t us = 0;
  std::vector<std::string> arguments;
  std::string peer;
  std::string name;  // of the client; may be empty
};

class SlowLog {
 public:
  static constexpr size_t kArgumentsMax = 32;
  static constexpr size_t kArgumentBytesMax = 128;

  // At most kArgumentsMax texts of at most kArgumentBytesMax bytes each. A note takes the place of omitted arguments and
  // bytes: "... (3 more arguments)", "... (10 more bytes)".
  static std::vector<std::string> Shorten(std::span<const std::string_view> arguments);

  // Adds an entry and assigns the id. Drops the oldest entries beyond `most`. Throws std::bad_alloc without a change.
  void Add(SlowCall call, size_t most);
  // Drops the oldest entries until at most `most` are left.
  void Trim(size_t most) noexcept {
    while (calls_.size() > most) calls_.pop_back();
  }
  void Reset() noexcept { calls_.clear(); }

  const std::deque<SlowCall>& newest_first() const noexcept { return calls_; }

 private:
  std::deque<SlowCall> calls_;
  uint64_t next_id_ = 0;
};

}  // namespace mayfly
