// Counts the replies in a stream of bytes, and how many of them are hits and errors.
//
// Understands what the benchmarks receive: simple strings, errors, integers, nil and bulk strings (RESP2).
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

  uint64_t count_ = 0;
  uint64_t hits_ = 0;  // bulk strings
  uint64_t errors_ = 0;
  int64_t integer_ = 0;
  std::string first_error_;
  std::string line_;      // the beginning of a line whose end has not arrived
  size_t bulk_left_ = 0;  // bytes of a bulk string and its line end that have not arrived
};

}  // namespace mayfly::bench
