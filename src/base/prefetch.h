// Prefetches a cache line before its use.
//
// The empty asm keeps the prefetch: gcc considers a function without other effects pure, and drops calls of pure functions.
#pragma once

namespace mayfly {

inline void PrefetchToRead(const void* address) noexcept {
  __builtin_prefetch(address, /*rw=*/0);
  asm volatile("" : : "r"(address));
}

inline void PrefetchToWrite(const void* address) noexcept {
  __builtin_prefetch(address, /*rw=*/1);
  asm volatile("" : : "r"(address));
}

}  // namespace mayfly
