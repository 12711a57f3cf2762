// Bytes that wait in order; taking from the front is amortised O(1) a byte.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace mayfly::sim {

class ByteQueue {
 public:
  size_t size() const noexcept { return bytes_.size() - taken_; }
  bool empty() const noexcept { return size() == 0; }
  std::string_view view() const noexcept { return std::string_view(bytes_).substr(taken_); }
  void Append(std::string_view bytes) { bytes_.append(bytes); }
  // REQUIRES: n <= size().
  void RemovePrefix(size_t n) {
    taken_ += n;
    if (taken_ <= bytes_.size() / 2) return;
    bytes_.erase(0, taken_);
    taken_ = 0;
  }
  void Clear() noexcept {
    bytes_.clear();
    taken_ = 0;
  }

 private:
  std::string bytes_;
  size_t taken_ = 0;
};

}  // namespace mayfly::sim
