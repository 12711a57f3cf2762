// Counts replies in a stream of bytes, and knows misses and errors among them.
//
// Knows the flat replies that load gets: simple strings, errors, integers, nil and bulk strings (RESP2).
// Keeps its place between pieces, wherever they are cut. Owns nothing but a line's beginning.
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
  // Of the last whole reply that was an integer.
  int64_t integer() const { return integer_; }

 private:
  void TakeLine(std::string_view line);

  uint64_t count_ = 0;
  uint64_t hits_ = 0;  // bulk strings
  uint64_t errors_ = 0;
  int64_t integer_ = 0;
  std::string first_error_;
  std::string line_;      // the beginning of a line whose end has not come
  size_t bulk_left_ = 0;  // bytes of a bulk string and its line end that have not come
};

}  // namespace mayfly::bench
