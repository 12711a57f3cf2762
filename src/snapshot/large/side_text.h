// Bytes that wait beside the file for their place. The bytes lie in pieces: neither growing nor taking copies much. Loop
// thread only.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

namespace mayfly {

class SideText {
 public:
  // Counts its bytes in `*total`. Borrows total. Throws std::bad_alloc: an empty deque has memory.
  explicit SideText(size_t* total) : total_(total) {}
  ~SideText() { Clear(); }
  SideText(const SideText&) = delete;
  SideText& operator=(const SideText&) = delete;

  bool empty() const noexcept { return pieces_.empty(); }
  // Calls write(std::string&), which appends bytes. If the call throws, nothing is appended.
  template <typename Write>
  void Append(Write&& write) {
    const bool fresh = pieces_.empty() || pieces_.back().size() >= kPieceBytes;
    if (fresh) pieces_.emplace_back();
    std::string& last = pieces_.back();
    const size_t before = last.size();
    try {
      write(last);
    } catch (...) {
      last.resize(before);
      if (last.empty()) pieces_.pop_back();
      throw;
    }
    *total_ += last.size() - before;
    if (last.empty()) pieces_.pop_back();
  }
  // Moves the first piece to the end of `out`. Throws std::bad_alloc, and then has moved nothing. REQUIRES: !empty().
  void MoveSome(std::string& out) {
    out.append(pieces_.front());
    *total_ -= pieces_.front().size();
    pieces_.pop_front();
  }
  void Clear() noexcept {
    for (const std::string& piece : pieces_) *total_ -= piece.size();
    pieces_.clear();
  }

 private:
  static constexpr size_t kPieceBytes = size_t{32} << 10;

  size_t* const total_;
  std::deque<std::string> pieces_;  // none is empty
};

}  // namespace mayfly
