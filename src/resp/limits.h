// The limits of the request parser. Sizes are in bytes.
#pragma once

#include <climits>
#include <cstddef>
#include <cstdint>

namespace mayfly::resp {

struct Limits {
  // The longest argument (option proto-max-bulk-len). At least kMaxBulkFloor.
  size_t max_bulk = size_t{512} << 20;
  // The most arguments of one request. At least 9.
  int64_t max_arguments = INT_MAX;
  // The longest inline request, and the longest header line of a RESP array.
  size_t max_line = 64 * 1024;
  // If a longer argument is incomplete, the parser offers a block for the argument.
  size_t big_bulk = 32 * 1024;
  // False if the client must log in and has not done so. Such a client may only send requests of the size of AUTH and HELLO.
  bool authenticated = true;

  static constexpr size_t kMaxBulkFloor = 1024;
  static constexpr int64_t kUnauthenticatedArguments = 10;
  static constexpr int64_t kUnauthenticatedBulk = 16384;
};

}  // namespace mayfly::resp
