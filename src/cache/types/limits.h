// When a value outgrows its small form, and when a node of a list or a stream is full. By Redis's rules and options.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mayfly {

// The limits of a small hash: the options hash-max-listpack-entries and hash-max-listpack-value.
struct HashLimits {
  size_t fields = 512;
  size_t text_bytes = 64;  // of a field's name or value
};

// The limits of the small forms of a set: the options set-max-intset-entries, set-max-listpack-entries and set-max-listpack-value.
struct SetLimits {
  size_t integers = 512;
  size_t packed = 128;
  size_t packed_bytes = 64;  // of a member
};

// The limits of a small sorted set: the options zset-max-listpack-entries and zset-max-listpack-value.
struct SortedSetLimits {
  size_t packed = 128;
  size_t packed_bytes = 64;  // of a name
};

// The limit of a list's node: the option list-max-listpack-size. A positive number is a number of elements, -1 to -5 stand for 4 to 64 KB.
class ListLimit {
 public:
  explicit ListLimit(int64_t option) noexcept;

  // Returns true if a pack with items of `bytes` bytes is too large.
  bool ExceededBy(size_t bytes, size_t items) const noexcept {
    return bytes + kHeader > bytes_ || items > items_;
  }
  // Returns true if the items take more than half of a node.
  bool ExceedsHalf(size_t bytes, size_t items) const noexcept {
    return bytes + kHeader > (items_ == kAnyNumber ? bytes_ / 2 : bytes_) || items > items_ / 2;
  }

 private:
  static constexpr size_t kAnyNumber = SIZE_MAX;
  static constexpr size_t kHeader = 8;  // of a pack

  size_t bytes_;
  size_t items_ = kAnyNumber;
};

// The limits of a stream's node: the options stream-node-max-bytes and stream-node-max-entries; 0 is no limit.
struct StreamLimits {
  size_t node_bytes = 4096;
  size_t node_entries = 100;
};

}  // namespace mayfly
