// Skips the data of modules: parts that tell their own sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class ModuleSkip {
 public:
  enum class Kind : uint8_t {
    kValue,     // type 7, or opcode 247: the module's ID, then parts
    kMetadata,  // opcode 243: the number of classes, and for each 4 bytes and parts
  };

  ModuleSkip() noexcept = default;
  explicit ModuleSkip(Kind kind) noexcept : kind_(kind) {}

  // Skips parts until the end, as the readers of values do. Never returns kEmpty or kExpired. Throws std::bad_alloc.
  ValueStatus Some(In& in, size_t& budget);

 private:
  ReadStatus Step(In& in);
  ReadStatus Part(In& in);

  Kind kind_ = Kind::kValue;
  bool counted_ = false;  // blocks_ is read
  bool inside_ = false;   // the head of a block is read: parts follow
  uint64_t blocks_ = 1;   // not yet at their end
};

}  // namespace mayfly::rdb
