// Prefetches a cache line before its use.
//
// The empty asm keeps the prefetch: gcc considers a function without other effects pure, and drops calls of pure functions.
// The asm does not name the address, which can thus be computed by the prefetch itself.
#pragma once

namespace mayfly {

inline void PrefetchToRead(const void* address) noexcept {
  __builtin_prefetch(address, /*rw=*/0);
  asm volatile("");
}

inline void PrefetchToWrite(const void* address) noexcept {
  __builtin_prefetch(address, /*rw=*/1);
  asm volatile("");
}

}  // namespace mayfly
