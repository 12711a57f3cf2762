#include "base/memory/linux_pages.h"

#include <sys/mman.h>

namespace mayfly {
namespace {

void* AddressAt(uintptr_t at) noexcept { return reinterpret_cast<void*>(at); }

bool IsInMemory(uintptr_t page) noexcept {
  unsigned char answer = 0;
  return mincore(AddressAt(page), HugeUnits::kPageBytes, &answer) == 0 && (answer & 1) != 0;
}

}  // namespace

// The advice holds only for the first touch, which brings the whole page. If the unit has had small pages before, a kernel
// before Linux 6.14 still has its table for them, and brings a small page. MADV_COLLAPSE would replace the table, but waits
// for all processors. A kernel without huge pages refuses the advice.
bool LinuxPages::MakeHuge(uintptr_t unit, size_t bytes) noexcept {
  if (madvise(AddressAt(unit), bytes, MADV_HUGEPAGE) != 0) return false;
  *static_cast<volatile char*>(AddressAt(unit)) = 0;
  const bool huge = IsInMemory(unit + bytes - HugeUnits::kPageBytes);  // nobody has touched this page
  madvise(AddressAt(unit), bytes, MADV_NOHUGEPAGE);
  return huge;
}

void LinuxPages::Drop(uintptr_t at, size_t bytes) noexcept { madvise(AddressAt(at), bytes, MADV_DONTNEED); }

// Without this, the kernel would keep the memory of dropped pages until it runs short of memory. The kernel splits a huge
// page when told that a part of the page is cold.
void LinuxPages::Break(uintptr_t at, size_t bytes) noexcept {
#ifdef MADV_COLD
  madvise(AddressAt(at), bytes, MADV_COLD);
#endif
}

}  // namespace mayfly
