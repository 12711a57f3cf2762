// Moves a timer from every delay to every other, at every phase of the wheel: it must fire at the new
// deadline.
#include <cstdint>
#include <vector>

#include "support/catch.h"
#include "unit/cache/timing_wheel_fixture.h"

namespace mayfly::wheel_test {
namespace {

// Sanitized builds are about twenty times slower, so they test only every n-th phase.
#ifdef MAYFLY_SANITIZE
constexpr uint64_t kPhaseStep = 31;
#else
constexpr uint64_t kPhaseStep = 1;
#endif

// Files a timer `before` ticks ahead, lets `pause` ticks pass, moves it to `after` ticks ahead of then, and
// sleeps from wake-up to wake-up. Returns whether it was handed back exactly at its deadline.
bool FiresOnTime(Timers& t, uint64_t before, uint64_t pause, uint64_t after) {
  static_cast<void>(t.Set(1, t.wheel.elapsed() + before));
  if (pause != 0) {
    const uint64_t until = t.wheel.elapsed() + pause;
    if (t.SleepUntilDue(until) != Wheel::kNever) return false;
    static_cast<void>(t.wheel.Advance(until, {}, SIZE_MAX));
  }
  const uint64_t deadline = t.wheel.elapsed() + after;
  static_cast<void>(t.Move(1, deadline));
  return t.SleepUntilDue(deadline) == deadline && t.wheel.size() == 0;
}

// Advances the empty wheel to the next time that is `phase` modulo `turn`.
void GoToPhase(Timers& t, uint64_t turn, uint64_t phase) {
  const uint64_t now = t.wheel.elapsed();
  static_cast<void>(t.wheel.Advance(now + (phase + turn - now % turn) % turn, {}, SIZE_MAX));
}

TEST_CASE("any move within three turns of level 0 fires at the right tick, at any phase") {
  constexpr uint64_t kTurn = 64;
  uint64_t wrong = 0;
  Timers t(1);
  for (uint64_t phase = 0; phase < kTurn; phase += kPhaseStep) {
    for (uint64_t before = 1; before <= 3 * kTurn; ++before) {
      for (uint64_t after = 0; after <= 3 * kTurn; ++after) {
        GoToPhase(t, kTurn, phase);
        wrong += !FiresOnTime(t, before, 0, after);
      }
    }
  }
  CHECK(wrong == 0);
}

TEST_CASE("a move some ticks after the set fires at the right tick") {
  constexpr uint64_t kTurn = 64;
  uint64_t wrong = 0;
  Timers t(1);
  for (uint64_t phase = 0; phase < kTurn; phase += 7 * kPhaseStep) {
    for (uint64_t before = 2; before <= 3 * kTurn; before += 5) {
      for (uint64_t pause = 1; pause < before; pause += 3) {
        for (uint64_t after = 0; after <= 3 * kTurn; after += 4) {
          GoToPhase(t, kTurn, phase);
          wrong += !FiresOnTime(t, before, pause, after);
        }
      }
    }
  }
  CHECK(wrong == 0);
}

// Delays around all boundaries of `level`: the multiples of a slot and of half a slot, up to three turns.
std::vector<uint64_t> DelaysOf(int level, uint64_t step) {
  std::vector<uint64_t> delays;
  const uint64_t span = wheel::SpanOf(level);
  for (uint64_t half = 0; half <= uint64_t{6} * wheel::kSlots;
       half += half < 5 || half % 128 > 124 ? 1 : step) {
    for (const uint64_t off : {-1, 0, 1}) {
      const uint64_t delay = half * (span / 2) + off;
      if (delay != 0 && delay < 8 * span * wheel::kSlots) delays.push_back(delay);
    }
  }
  return delays;
}

TEST_CASE("any move within three turns of an upper level fires at the right tick") {
  uint64_t wrong = 0;
  uint64_t moves = 0;
  for (int level = 1; level <= 8; ++level) {
    const uint64_t span = wheel::SpanOf(level);
    const std::vector<uint64_t> delays = DelaysOf(level, 17 * kPhaseStep);
    for (const uint64_t slot : {0, 1, 31, 62, 63}) {
      for (const uint64_t phase : {uint64_t{0}, span / 2 - 1, span / 2, span / 2 + 1, span - 1}) {
        for (const uint64_t before : delays) {
          for (const uint64_t after : delays) {
            Timers t(1, slot * span + phase);
            wrong += !FiresOnTime(t, before, 0, after);
            ++moves;
          }
        }
      }
    }
  }
  CHECK(moves > 10'000);
  CHECK(wrong == 0);
}

TEST_CASE("on level 1 every delay of three turns, moved to every 61st other, fires on time") {
  constexpr uint64_t kTurn = 4096;
  uint64_t wrong = 0;
  Timers t(1);
  for (uint64_t before = 1; before <= 3 * kTurn; before += kPhaseStep) {
    for (uint64_t after = 1 + before % 61; after <= 3 * kTurn; after += 61) {
      GoToPhase(t, kTurn, (before * 37 + after * 11) % kTurn);
      wrong += !FiresOnTime(t, before, 0, after);
    }
  }
  CHECK(wrong == 0);
}

// A wheel that decides a move by comparing slot indices, as go-zero's does. If the new slot has the higher
// index, the timer stays in its list and stores the difference and the rounds. Otherwise, if it has a round
// left, the difference replaces one round. Otherwise it is filed again.
class IndexRuleWheel {
 public:
  static constexpr int kSlots = 10;

  void Tick() {
    hand_ = (hand_ + 1) % kSlots;
    ++now_;
    if (!set_ || slot_ != hand_) return;
    if (rounds_ > 0) {
      --rounds_;
    } else if (difference_ > 0) {
      slot_ = (hand_ + difference_) % kSlots;
      difference_ = 0;
    } else {
      set_ = false;
      fired_at_ = now_;
    }
  }
  void Set(int steps) {
    set_ = true;
    slot_ = (hand_ + steps) % kSlots;
    rounds_ = (steps - 1) / kSlots;
    difference_ = 0;
  }
  void Move(int steps) {
    const int slot = (hand_ + steps) % kSlots;
    const int rounds = (steps - 1) / kSlots;
    if (slot >= slot_) {
      rounds_ = rounds;
      difference_ = slot - slot_;
    } else if (rounds > 0) {
      rounds_ = rounds - 1;
      difference_ = kSlots + slot - slot_;
    } else {
      Set(steps);
    }
  }
  // The number of ticks from a move (of `before` to `after` steps, made after `phase` ticks) until it fires.
  static int FiresAfter(int phase, int before, int after) {
    IndexRuleWheel wheel;
    for (int i = 0; i < phase; ++i) wheel.Tick();
    wheel.Set(before);
    wheel.Move(after);
    while (wheel.set_) wheel.Tick();
    return wheel.fired_at_ - phase;
  }

 private:
  int hand_ = kSlots - 1;
  int now_ = 0;
  bool set_ = false;
  int slot_ = 0;
  int rounds_ = 0;
  int difference_ = 0;
  int fired_at_ = 0;
};

TEST_CASE("a rule that compares slot indices gets 120 of the 810 moves within one turn wrong") {
  CHECK(IndexRuleWheel::FiresAfter(6, 7, 4) == 14);
  CHECK(IndexRuleWheel::FiresAfter(6, 3, 16) == 6);
  int moves = 0;
  int wrong = 0;
  int ours = 0;
  for (int phase = 0; phase < IndexRuleWheel::kSlots; ++phase) {
    for (int before = 1; before < IndexRuleWheel::kSlots; ++before) {
      for (int after = 1; after < IndexRuleWheel::kSlots; ++after) {
        Timers t(1, static_cast<uint64_t>(phase));
        ++moves;
        wrong += IndexRuleWheel::FiresAfter(phase, before, after) != after;
        ours += !FiresOnTime(t, static_cast<uint64_t>(before), 0, static_cast<uint64_t>(after));
      }
    }
  }
  CHECK(moves == 810);
  CHECK(wrong == 120);
  CHECK(ours == 0);
}

}  // namespace
}  // namespace mayfly::wheel_test
