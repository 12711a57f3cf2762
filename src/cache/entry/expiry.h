// The expiry of a key, or of a member of its value: a time and its clock.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>

#include "base/time/clock.h"

namespace mayfly {

// Deadlines are in ms: monotonic (kRelative: from a TTL) or Unix time (kWall: EXAT,
// PXAT).
struct Expiry {
  enum class Kind : uint8_t { kNever, kRelative, kWall };
  // The rules that may still change this expiry (cache/time/ttl_rules.h).
  enum class Stage : uint8_t {
    kAsked,     // all: a command asks for this expiry
    kJittered,  // all but jitter: the rules drew the expiry, or a key of another name has it
    kKept,      // none: the key has the expiry already, or has it from the rules
  };
  Kind kind = Kind::kNever;
  Stage stage = Stage::kAsked;
  uint64_t deadline_ms = 0;

  // Not an aggregate: so an Expiry has 16 bytes and is passed in registers, whatever the order of its parts.
  constexpr Expiry() noexcept = default;
  constexpr Expiry(Kind k, uint64_t ms, Stage s = Stage::kAsked) noexcept
      : kind(k), stage(s), deadline_ms(ms) {}
  // A key's deadline on its way to a key of another name, with perhaps other rules.
  Expiry Moved() const noexcept { return {kind, deadline_ms, std::min(stage, Stage::kJittered)}; }
  static Expiry Never() noexcept { return {}; }
  static Expiry In(uint64_t ttl_ms, Now now) noexcept { return {Kind::kRelative, now.mono_ms + ttl_ms}; }
  // REQUIRES: unix_ms >= 0.
  static Expiry At(int64_t unix_ms) noexcept {
    assert(unix_ms >= 0);
    return {Kind::kWall, static_cast<uint64_t>(unix_ms)};
  }
  // The deadline on the clock `clock`, by the present difference of both clocks; 1 if it lies before the monotonic clock's begin.
  // REQUIRES: neither is kNever.
  uint64_t On(Kind clock, Now now) const noexcept {
    assert(kind != Kind::kNever && clock != Kind::kNever);
    if (clock == kind) return deadline_ms;
    const uint64_t wall_minus_mono_ms = static_cast<uint64_t>(now.wall_ms) - now.mono_ms;
    if (clock == Kind::kWall) return deadline_ms + wall_minus_mono_ms;
    const auto mono_ms = static_cast<int64_t>(deadline_ms - wall_minus_mono_ms);
    return mono_ms < 1 ? 1 : static_cast<uint64_t>(mono_ms);
  }
  // The time on a clock. REQUIRES: `clock` is not kNever.
  static uint64_t NowOn(Kind clock, Now now) noexcept {
    assert(clock != Kind::kNever);
    if (clock == Kind::kRelative) return now.mono_ms;
    return now.wall_ms < 0 ? 0 : static_cast<uint64_t>(now.wall_ms);
  }
  bool Reached(Now now) const noexcept {
    if (kind == Kind::kRelative) return deadline_ms <= now.mono_ms;
    return kind == Kind::kWall && now.wall_ms >= 0 && deadline_ms <= static_cast<uint64_t>(now.wall_ms);
  }
};

static_assert(sizeof(Expiry) == 16);

}  // namespace mayfly
