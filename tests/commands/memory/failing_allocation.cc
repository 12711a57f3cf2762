#include "commands/memory/failing_allocation.h"

#include <cerrno>
#include <cstdlib>
#include <new>

namespace {

// Of the thread: those that read and write files have their own.
thread_local size_t left_until_failure = 0;  // 0: none fails
thread_local bool failed = false;

bool FailsNow() noexcept {
  if (left_until_failure == 0 || --left_until_failure != 0) return false;
  failed = true;
  return true;
}

}  // namespace

namespace mayfly::testing {

FailingAllocation::FailingAllocation(size_t nth) noexcept {
  failed = false;
  left_until_failure = nth;
}
FailingAllocation::~FailingAllocation() { left_until_failure = 0; }

bool AllocationFailed() noexcept { return failed; }

}  // namespace mayfly::testing

// The names are the linker's (--wrap).
extern "C" {

void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* memory, size_t size);
int __real_posix_memalign(void** memory, size_t alignment, size_t size);

void* __wrap_malloc(size_t size) { return FailsNow() ? nullptr : __real_malloc(size); }
void* __wrap_calloc(size_t count, size_t size) { return FailsNow() ? nullptr : __real_calloc(count, size); }
void* __wrap_realloc(void* memory, size_t size) {
  return FailsNow() ? nullptr : __real_realloc(memory, size);
}
int __wrap_posix_memalign(void** memory, size_t alignment, size_t size) {
  return FailsNow() ? ENOMEM : __real_posix_memalign(memory, alignment, size);
}

#ifndef MAYFLY_SANITIZE
void* __real_mallocx(size_t size, int flags);
void* __wrap_mallocx(size_t size, int flags) { return FailsNow() ? nullptr : __real_mallocx(size, flags); }
#endif
}

void* operator new(size_t size, const std::nothrow_t&) noexcept { return std::malloc(size != 0 ? size : 1); }
void* operator new(size_t size) {
  void* memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](size_t size) { return operator new(size); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return operator new(size, std::nothrow); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
