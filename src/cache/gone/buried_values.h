// Unused values with too many members for one step: freed in slices.
//
// Ownership: a value belongs to this object from Bury on. Burying needs no memory. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "cache/entry/rich_value.h"

namespace mayfly {

class BuriedValues {
 public:
  BuriedValues() noexcept = default;
  ~BuriedValues();
  BuriedValues(const BuriedValues&) = delete;
  BuriedValues& operator=(const BuriedValues&) = delete;

  // Takes a value to free in slices; frees a value without a BurialLink at once. A value with a listener goes to the listener instead.
  void Bury(std::unique_ptr<RichValue> value) noexcept;
  bool empty() const noexcept { return last_ == nullptr; }
  size_t size() const noexcept { return size_; }
  uint64_t bytes() const noexcept { return bytes_; }
  // Frees about `budget` members of values. Returns the rest of the budget.
  size_t FreeSome(size_t budget) noexcept;

 private:
  RichValue* last_ = nullptr;  // buried last, freed first; its BurialLink points to the value buried before
  size_t size_ = 0;
  uint64_t bytes_ = 0;  // of all buried values, less their freed members
};

}  // namespace mayfly
