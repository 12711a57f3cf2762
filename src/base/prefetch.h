// Asks for a cache line before it is needed.
//
// The empty asm is what keeps the request: a function that does nothing but prefetch looks pure to gcc, which
// then drops every call of it.
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
