// The commands of a turn, written in place behind the end of the stream. The commands count when the turn ends; nobody reads
// them before.
//
//   | block of the backlog        end()                                |    | block                          |
//                                   | room for MULTI | commands        |    | commands              | room   |
//                                     a part that is full                     the part that is written
//
// The number of commands is known only at the end of the turn, and several commands make a transaction. A part that fills its
// block stays there, and the next command begins a part in another block; a short part moves to the other block instead. So a
// command lies in one piece, and a single command after SELECT in one part. Nothing else may be appended to the backlog before
// Publish or Drop.
//
// Borrows the backlog. Loop thread only. Units: bytes.
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <string_view>

#include "replication/backlog.h"
#include "resp/request_text.h"

namespace mayfly {

class StreamDraft {
 public:
  static constexpr std::string_view kMulti = "*1\r\n$5\r\nMULTI\r\n";
  // A longer part does not move.
  static constexpr size_t kMostMoved = 4096;

  explicit StreamDraft(Backlog& backlog) : backlog_(backlog) {}
  StreamDraft(const StreamDraft&) = delete;
  StreamDraft& operator=(const StreamDraft&) = delete;

  // Returns room for `size` bytes at the end; Commit appends the written bytes. Throws std::bad_alloc.
  [[gnu::always_inline]] char* Reserve(size_t size) {
    if (static_cast<size_t>(limit_ - end_) < size) [[unlikely]]
      Grow(size);
    return end_;
  }
  // `end`: the end of the written bytes. REQUIRES: within the room of the last Reserve.
  void Commit(char* end) noexcept {
    assert(end >= end_ && end <= limit_);
    end_ = end;
  }
  // Appends the request with the words of `first` and of `then`. Throws std::bad_alloc.
  void Append(std::span<const std::string_view> first, std::span<const std::string_view> then = {}) {
    Commit(resp::WriteRequest(Reserve(resp::MostRequestBytes(first, then)), first, then));
  }
  // The bytes of the commands.
  size_t size() const noexcept { return full_bytes_ + PartSize(); }
  // Drops all bytes after the first `size` bytes. REQUIRES: these include the full parts.
  void CutTo(size_t size) noexcept {
    assert(size <= this->size() && size >= full_bytes_);
    end_ = begin_ + (size - full_bytes_);
  }
  // Makes the commands part of the stream, after MULTI if `transaction`. Throws std::bad_alloc. REQUIRES: a transaction if there
  // is more than one command.
  void Publish(bool transaction);
  // Forgets the commands.
  void Drop() noexcept {
    backlog_.Discard();
    Forget();
  }

 private:
  size_t PartSize() const noexcept { return static_cast<size_t>(end_ - begin_); }
  void Grow(size_t size);
  void Forget() noexcept {
    begin_ = end_ = limit_ = nullptr;
    full_bytes_ = 0;
  }

  Backlog& backlog_;
  char* begin_ =
      nullptr;  // of the commands of the last part; in the first part after the room for MULTI. Null: no commands yet
  char* end_ = nullptr;
  char* limit_ = nullptr;  // of the room
  size_t full_bytes_ = 0;  // of the commands of the full parts
};

}  // namespace mayfly
