// Moves timers and counts those that fire at a wrong tick: Mayfly's wheel, and go-zero's rule, which decides
// by slot indices and not by distances. Prints a JSON object; takes no argument.
//
// A ring of 10 slots that stands at any of them, a timer set 1 to 9 ticks ahead and moved at once to 1 to 9
// ticks ahead: 810 moves within one turn.
#include <array>
#include <cstdint>
#include <cstdio>

#include "cache/timing_wheel.h"
#include "wheel_entries.h"

namespace mayfly::bench {
namespace {

constexpr uint64_t kSlots = 10;

// The tick at which Mayfly's wheel hands the timer back.
uint64_t FiredByWheel(uint64_t start, uint64_t first, uint64_t second) {
  const Entries entries(1, false);
  const EntryHooks hooks = entries.hooks();
  const uint32_t timer = Entries::HandleOf(0);
  TimingWheel<EntryHooks> wheel(hooks, start);
  hooks.SetDeadline(timer, start + first);
  static_cast<void>(wheel.Insert(timer));
  hooks.SetDeadline(timer, start + second);
  static_cast<void>(wheel.Move(timer));
  std::array<uint32_t, 1> due;
  uint64_t now = start;
  while (wheel.Advance(now, due, kSlots).due == 0) ++now;
  return now - start;
}

// The tick at which a timer fires under the rule: one whose new slot has a greater index than its old one
// waits in the old slot and goes on from there; one whose new slot has a smaller index does the same, a turn
// and the difference further on, if its new delay is longer than a turn, and is filed anew otherwise.
uint64_t FiredBySlotIndices(uint64_t start, uint64_t first, uint64_t second) {
  const uint64_t old_slot = (start + first) % kSlots;
  const uint64_t new_slot = (start + second) % kSlots;
  // Within one turn the count of rounds is 0, so a smaller index always files anew, at the right place.
  if (new_slot < old_slot) return second;
  return first + (new_slot - old_slot);
}

}  // namespace
}  // namespace mayfly::bench

int main() {
  using namespace mayfly::bench;
  int moves = 0, wheel = 0, slot_indices = 0;
  for (uint64_t start = 0; start < kSlots; ++start) {
    for (uint64_t first = 1; first < kSlots; ++first) {
      for (uint64_t second = 1; second < kSlots; ++second) {
        ++moves;
        wheel += FiredByWheel(start, first, second) != second ? 1 : 0;
        slot_indices += FiredBySlotIndices(start, first, second) != second ? 1 : 0;
      }
    }
  }
  std::printf("{\"moves\": %d, \"mayfly\": %d, \"slot_indices\": %d}\n", moves, wheel, slot_indices);
  return 0;
}
