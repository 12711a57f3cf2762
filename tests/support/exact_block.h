// A copy of some bytes in a heap block of exactly their size, so that the address sanitizer sees a read of
// even one byte too many. A std::string would hide that, since it has a terminator and spare capacity.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

namespace mayfly {

class ExactBlock {
 public:
  explicit ExactBlock(std::string_view bytes) : bytes_(new char[bytes.size()]), size_(bytes.size()) {
    bytes.copy(bytes_.get(), size_);
  }
  std::string_view view() const noexcept { return {bytes_.get(), size_}; }

 private:
  std::unique_ptr<char[]> bytes_;
  size_t size_;
};

}  // namespace mayfly
