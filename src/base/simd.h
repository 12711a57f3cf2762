// The only use of vector intrinsics: finds a given byte among 16 bytes.
//
// SSE2 is part of every x86-64 and NEON of every arm64, hence no choice at run time. The plain form serves any other
// machine. All machines compile the plain form, and a test compares both forms.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#elif defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>
#endif

namespace mayfly {

// Bit i of the result is set iff bytes[i] == wanted.
// REQUIRES: 16 readable bytes; any alignment.
inline uint32_t MatchBytes16Plain(const uint8_t* bytes, uint8_t wanted) noexcept {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < 16; ++i) mask |= static_cast<uint32_t>(bytes[i] == wanted) << i;
  return mask;
}

#if defined(__SSE2__)
inline uint32_t MatchBytes16(const uint8_t* bytes, uint8_t wanted) noexcept {
  const __m128i loaded = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
  const __m128i equal = _mm_cmpeq_epi8(loaded, _mm_set1_epi8(static_cast<char>(wanted)));
  return static_cast<uint32_t>(_mm_movemask_epi8(equal));
}
#elif defined(__aarch64__) && defined(__ARM_NEON)
inline uint32_t MatchBytes16(const uint8_t* bytes, uint8_t wanted) noexcept {
  // NEON has no movemask: keep one weight per equal byte and add up each half.
  const uint8_t weights[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const uint8x16_t equal = vceqq_u8(vld1q_u8(bytes), vdupq_n_u8(wanted));
  const uint8x16_t weighted = vandq_u8(equal, vld1q_u8(weights));
  return static_cast<uint32_t>(vaddv_u8(vget_low_u8(weighted))) |
         static_cast<uint32_t>(vaddv_u8(vget_high_u8(weighted))) << 8;
}
#else
inline uint32_t MatchBytes16(const uint8_t* bytes, uint8_t wanted) noexcept {
  return MatchBytes16Plain(bytes, wanted);
}
#endif

}  // namespace mayfly
