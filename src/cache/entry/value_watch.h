// Who reads a large value in slices: a save.
//
// A ValueWatch has to see each part of the value before the part changes. What the watch hears depends on the type of the
// value: cache/types/watches.h. A text has no watch: its reader refers to the block, and an edit would copy the block
// (Databases::HoldText).
//
// A value has at most one watch. Ownership: the value borrows its watch. Loop thread only.
#pragma once

#include <memory>

namespace mayfly {

class RichValue;

class SlicedReader {
 public:
  virtual ~SlicedReader() = default;
  // A request waits for the end of the reading, which should come soon. Called again and again while the request waits.
  virtual void OnAwaited() noexcept {}
};

class ValueWatch : public SlicedReader {
 public:
  // No key has the value any more: the watch owns the value from now on, and frees it later.
  virtual void Keep(std::unique_ptr<RichValue> value) noexcept = 0;
};

}  // namespace mayfly
