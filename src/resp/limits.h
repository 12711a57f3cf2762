// What the request parser accepts. Sizes in bytes.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace mayfly::resp {

struct Limits {
  // proto-max-bulk-len: the longest argument. REQUIRES: >= kMaxBulkFloor.
  size_t max_bulk = size_t{512} << 20;
  // The most arguments of one request. REQUIRES: >= 9.
  int64_t max_arguments = INT_MAX;
  // The longest inline request, and the longest header line of a multibulk one.
  size_t max_line = 64 * 1024;
  // An argument longer than this is offered a block of its own while it is incomplete.
  size_t big_bulk = 32 * 1024;
  // False until a client that has to log in did so; it may send only what AUTH and HELLO need.
  bool authenticated = true;

  static constexpr size_t kMaxBulkFloor = 1024;
  static constexpr int64_t kUnauthenticatedArguments = 10;
  static constexpr int64_t kUnauthenticatedBulk = 16384;
};

}  // namespace mayfly::resp
