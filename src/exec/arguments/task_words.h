// INTO stream [MAXLEN n]: the words that make a key a task, of SET, EXPIRE and kin (cache/tags/task_name.h).
//
// Reads in two steps, like ExpireOption, and holds views of the arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/tags/task_name.h"
#include "exec/call/args.h"
#include "exec/dispatch/context.h"

namespace mayfly {

class TaskWords {
 public:
  // Takes the arguments after the word INTO. Returns an empty text, or the error.
  std::string_view Take(Args& args) noexcept;
  bool given() const noexcept { return given_; }
  // True if the call's client may let `key` go into the stream: its user may write to the stream, which belongs to the same slot
  // of a cluster and is another key. False after an error reply. REQUIRES: given().
  bool Permit(Context& ctx, const Args& args, std::string_view key) const;
  // The tag that makes a key the task; empty if not given. Throws std::bad_alloc.
  std::string tag() const { return given_ ? TaskTagOf({.stream = stream_, .most = most_}) : std::string(); }

 private:
  bool given_ = false;
  std::string_view stream_;
  uint64_t most_ = 0;
};

}  // namespace mayfly
