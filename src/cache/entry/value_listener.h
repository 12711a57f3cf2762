// Who reads a large value in slices: a save.
//
// A ValueListener has to see each part of the value before the part changes. What the listener hears depends on the type of the
// value: cache/types/value_listeners.h. A text has no listener: its reader refers to the block (Databases::HoldText),
// and copies what an edit changes (BeginEdit); or the edit copies the block.
//
// A value has at most one listener. Ownership: the value borrows its listener. Loop thread only.
#pragma once

#include <cstddef>
#include <memory>

namespace mayfly {

class RichValue;

class SlicedReader {
 public:
  virtual ~SlicedReader() = default;
  // A request waits for the end of the reading, which should come soon. Called again and again while the request waits.
  virtual void OnAwaited() noexcept {}
  // Of a text: the bytes from `begin` to before `end` are about to change in place. Returns true if the reader has taken what it
  // needs of them, and does not count as a holder of the text until EndEdit.
  virtual bool BeginEdit(size_t /*begin*/, size_t /*end*/) noexcept { return false; }
  virtual void EndEdit() noexcept {}
};

class ValueListener : public SlicedReader {
 public:
  // No key has the value any more: the listener owns the value from now on, and frees it later.
  virtual void Keep(std::unique_ptr<RichValue> value) noexcept = 0;
};

}  // namespace mayfly
