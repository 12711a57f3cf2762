// Counts the replies in a stream of bytes, and how many of them are hits and errors.
//
// Understands RESP2. An array counts as one reply.
// The stream may be cut into pieces anywhere. Owns nothing but the beginning of an unfinished line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace mayfly::bench {

class Replies {
 public:
  // Takes the next bytes of the stream.
  void Feed(std::string_view bytes);

  uint64_t count() const { return count_; }
  uint64_t hits() const { return hits_; }
  uint64_t errors() const { return errors_; }
  const std::string& first_error() const { return first_error_; }
  // The value of the last integer reply.
  int64_t integer() const { return integer_; }

 private:
  void TakeLine(std::string_view line);
  // One value of the current reply is complete.
  void TakeValue() {
    if (--values_left_ != 0) return;
    ++count_;
    values_left_ = 1;
  }

  uint64_t count_ = 0;
  uint64_t hits_ = 0;  // bulk strings
  uint64_t errors_ = 0;
  size_t values_left_ = 1;  // of the current reply
  int64_t integer_ = 0;
  std::string first_error_;
  std::string line_;      // the beginning of a line whose end has not arrived
  size_t bulk_left_ = 0;  // bytes of a bulk string and its line end that have not arrived
};

}  // namespace mayfly::bench
