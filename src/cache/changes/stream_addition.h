// The addition of an entry to a stream, as a command for replicas.
//
//   XADD key [MAXLEN = length] id field value ...
//
// Does nothing if nobody wants it. Loop thread only.
#pragma once

#include <new>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/changes/change.h"
#include "cache/types/stream/stream_id.h"

namespace mayfly {

inline std::string TextOfStreamId(StreamId id) {
  return std::to_string(id.ms) + "-" + std::to_string(id.sequence);
}

class StreamAddition {
 public:
  // Borrows `pairs`. Throws std::bad_alloc.
  StreamAddition(bool wanted, StreamId id, std::span<const std::string_view> pairs) {
    if (!wanted) return;
    id_ = TextOfStreamId(id);
    words_.reserve(kBefore + pairs.size());
    words_.assign({"MAXLEN", "=", {}, id_});
    words_.insert(words_.end(), pairs.begin(), pairs.end());
  }
  StreamAddition(const StreamAddition&) = delete;
  StreamAddition& operator=(const StreamAddition&) = delete;

  // The event with the command as its effect. `trimmed`: the oldest entries went, and `length` are left. Valid while this object
  // lives.
  Event Tell(const Event& event, bool trimmed, size_t length) noexcept {
    if (words_.empty()) return event;
    try {
      length_ = std::to_string(length);
    } catch (const std::bad_alloc&) {
      return event;
    }
    words_[2] = length_;
    effect_.arguments = std::span<const std::string_view>(words_).subspan(trimmed ? 0 : kBefore - 1);
    return event.With(effect_);
  }

 private:
  static constexpr size_t kBefore = 4;  // words before the fields

  std::string id_;
  std::string length_;
  std::vector<std::string_view> words_;
  Effect effect_{.command = "XADD"};
};

}  // namespace mayfly
