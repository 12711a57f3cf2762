// Makes one allocation of this thread fail: the nth from now on, whether it is operator new's, malloc's and
// its kin's, or one of the heap of entries. The linker sends them all through here (tests/CMakeLists.txt).
#pragma once

#include <cstddef>

namespace mayfly::testing {

class FailingAllocation {
 public:
  // The `nth` allocation from now on fails, counted from 1; those after it do not. 0: none.
  explicit FailingAllocation(size_t nth) noexcept;
  // All work again.
  ~FailingAllocation();
  FailingAllocation(const FailingAllocation&) = delete;
  FailingAllocation& operator=(const FailingAllocation&) = delete;
};

// Whether the last FailingAllocation came to its allocation.
bool AllocationFailed() noexcept;

}  // namespace mayfly::testing
