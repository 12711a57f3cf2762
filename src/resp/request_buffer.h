// Requests one after the other, in memory that stays for the next ones.
//
// Loop thread only. Units: bytes.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "resp/request_text.h"

namespace mayfly::resp {

class RequestBuffer {
 public:
  // So much memory stays after Clear.
  static constexpr size_t kKeptBytes = size_t{1} << 20;

  // Room for `size` bytes at the end; Commit appends those that were written. Throws std::bad_alloc.
  char* Reserve(size_t size) {
    if (room_.size() - used_ < size) [[unlikely]]
      room_.resize(std::max(used_ + size, 2 * room_.size()));
    return room_.data() + used_;
  }
  // `end`: of what was written. REQUIRES: within the room of the last Reserve.
  void Commit(const char* end) noexcept {
    used_ = static_cast<size_t>(end - room_.data());
    assert(used_ <= room_.size());
  }
  // Appends the request that consists of the words of `first` and of `then`. Throws std::bad_alloc.
  void Append(std::span<const std::string_view> first, std::span<const std::string_view> then = {}) {
    Commit(WriteRequest(Reserve(MostRequestBytes(first, then)), first, then));
  }
  size_t size() const noexcept { return used_; }
  // Drops what was appended after the first `size` bytes. REQUIRES: size <= size().
  void CutTo(size_t size) noexcept { used_ = size; }
  std::string_view bytes() const noexcept { return {room_.data(), used_}; }
  void Clear() noexcept {
    used_ = 0;
    if (room_.size() > kKeptBytes) room_ = {};
  }

 private:
  std::string room_;  // its bytes from used_ on mean nothing
  size_t used_ = 0;
};

}  // namespace mayfly::resp
