// Who reads a large value in slices, and has to see each part of the value before the part changes: a save. What the watch
// hears depends on the type of the value: cache/types/watches.h.
//
// A value has at most one watch. Ownership: the value borrows its watch. Loop thread only.
#pragma once

#include <memory>

namespace mayfly {

class RichValue;

class ValueWatch {
 public:
  virtual ~ValueWatch() = default;
  // No key has the value any more: the watch owns the value from now on, and frees it later.
  virtual void Keep(std::unique_ptr<RichValue> value) noexcept = 0;
};

}  // namespace mayfly
