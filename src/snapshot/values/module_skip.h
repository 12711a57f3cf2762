// Reads the value of a module, type 7, and keeps nothing of it: the value consists of parts that say their own sizes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "snapshot/values/reading.h"

namespace mayfly::rdb {

class ModuleSkip {
 public:
  // Skips parts until the end, as the readers of values do. Never returns kEmpty or kExpired. Throws std::bad_alloc.
  ValueStatus Some(In& in, size_t& budget);

 private:
  ReadStatus Part(In& in);

  bool has_name_ = false;  // the module's ID is read
  bool ended_ = false;
};

}  // namespace mayfly::rdb
