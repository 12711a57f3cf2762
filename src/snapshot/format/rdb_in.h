// Reads the primitives of the RDB format, as rdb_out.h writes them, from a window of bytes. The window may be only the
// beginning of the input, and the input may come from an enemy.
//
//     for (In in(window);;) {
//       const size_t start = in.at();
//       ReadStatus status = in.String(field);
//       if (status == ReadStatus::kOk) status = in.String(value);
//       if (status == ReadStatus::kOk) ... use both
//       if (status == ReadStatus::kMore) in.Rewind(start), keep the bytes from `start` on, append bytes, in.SetWindow(...)
//     }
//
// Each primitive succeeds and consumes its bytes, or consumes nothing. After kMore the caller tries again with a longer
// window; bytes_needed() says how long it must be at least. If the input has no more bytes, it is truncated: so kMore means
// "bad" for a whole DUMP payload. After kBad nothing that follows has a meaning.
//
// Texts. A text is a view into the window where the input has the text itself. Otherwise (an integer, a compressed text) the
// In keeps the text in a buffer of its own. A text is valid until the window's bytes move, and until the second next call of
// String: so a field and its value can be used together.
//
// Memory. Nothing is allocated for an announced length alone. A compressed text may take lzf::LongestText of its compressed
// bytes, all of which are in the window, and kStringMax at most. Methods throw std::bad_alloc only for that text.
//
// Borrows the window. Units: bytes.
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::rdb {

enum class ReadStatus : uint8_t {
  kOk,
  kMore,  // the window ends before the primitive does
  kBad,   // no primitive of this kind begins like this
};

// What comes before the bytes of a string.
struct StringHead {
  enum class Kind : uint8_t { kRaw, kInteger, kLzf };
  Kind kind = Kind::kRaw;
  uint64_t size = 0;    // of the text; 0 for an integer
  uint64_t stored = 0;  // bytes of the text in the input, after the head; 0 for an integer
  int64_t integer = 0;  // the text is its decimal form
};

class In {
 public:
  // A longer string is bad: Redis has this limit, too, unless its proto-max-bulk-len is raised.
  static constexpr uint64_t kStringMax = uint64_t{512} << 20;

  In() noexcept = default;
  explicit In(std::string_view window) noexcept : window_(window) {}

  // Continues with another window. Its first byte is the next byte to read, and at() is 0.
  void SetWindow(std::string_view window) noexcept {
    window_ = window;
    at_ = 0;
  }
  // Number of bytes of the window that are consumed.
  size_t at() const noexcept { return at_; }
  // Goes back to a former value of at() in the same window. bytes_needed() counts from there on, then.
  void Rewind(size_t at) noexcept {
    assert(at <= at_);
    needed_ += at_ - at;
    at_ = at;
  }
  // The bytes of the window that are not consumed.
  std::string_view rest() const noexcept { return window_.substr(at_); }
  // After kMore: the primitive needs this number of bytes from at() on, or more. The number is what the input announces: a
  // caller should not allocate it before most of the bytes are there.
  uint64_t bytes_needed() const noexcept { return needed_; }

  // The head of a file. `valkey` is true for Valkey's magic text.
  ReadStatus FileHead(unsigned& version, bool& valkey) noexcept;
  ReadStatus Byte(uint8_t& byte) noexcept;
  // `size` bytes, as a view into the window.
  ReadStatus Bytes(uint64_t size, std::string_view& bytes) noexcept;
  ReadStatus Skip(uint64_t size) noexcept;
  // A length, a count, or another unsigned number. The number is not compared with the bytes that follow.
  ReadStatus Length(uint64_t& length) noexcept;
  // Throws std::bad_alloc.
  ReadStatus String(std::string_view& text);
  // The bytes of all texts that String has read: what the reading costs beside the number of primitives.
  uint64_t text_bytes() const noexcept { return text_bytes_; }
  // As String, without the text.
  ReadStatus SkipString() noexcept;
  // Reads the head alone, for a text that is too long for a window. `stored` bytes of the input follow.
  ReadStatus HeadOfString(StringHead& head) noexcept;
  // A score of type::kZset. May be NaN.
  ReadStatus Double(double& value) noexcept;
  // A score of type::kZsetText. May be NaN.
  ReadStatus DoubleText(double& value) noexcept;
  // A time in milliseconds.
  ReadStatus Millis(int64_t& ms) noexcept;
  // A time in seconds, in 4 bytes.
  ReadStatus Seconds(int64_t& s) noexcept;
  // The ID of a stream's entry, 16 bytes.
  ReadStatus StreamId(uint64_t& ms, uint64_t& seq) noexcept;
  // The checksum after opcode::kEnd; 0 if the writer computed none.
  ReadStatus Checksum(uint64_t& crc) noexcept;

 private:
  // A scratch buffer with more room than that is freed at its next use.
  static constexpr size_t kKeptScratch = size_t{1} << 20;

  // The address of the next `size` bytes, which are consumed; null if the window has fewer.
  const char* Take(uint64_t size) noexcept;
  // Goes back to `start` if a part of a primitive failed, and corrects needed_.
  ReadStatus GiveBack(size_t start, ReadStatus status) noexcept;
  // Reads a length whose first byte is consumed.
  ReadStatus LengthAfter(uint8_t first, uint64_t& length) noexcept;
  ReadStatus IntegerHead(size_t bytes, StringHead& head) noexcept;
  ReadStatus LzfHead(StringHead& head) noexcept;
  ReadStatus Payload(const StringHead& head, std::string_view& text);
  // The buffer that the last but one text used.
  std::string& Scratch() noexcept;

  std::string_view window_;
  size_t at_ = 0;
  uint64_t needed_ = 0;
  uint64_t text_bytes_ = 0;
  std::array<std::string, 2> scratch_;
  size_t next_scratch_ = 0;
};

}  // namespace mayfly::rdb
