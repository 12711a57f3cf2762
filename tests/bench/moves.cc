// Moves timers and counts those that then fire at a wrong tick, with Mayfly's wheel and by go-zero's rule,
// which compares slot indices instead of distances. Prints a JSON object; takes no argument.
//
// It tries every move within one turn of a ring of 10 slots: the ring is at any slot, a timer is set 1 to 9
// ticks ahead, and at once moved to 1 to 9 ticks ahead. These are 810 moves.
#include <array>
#include <cstdint>
#include <cstdio>

#include "cache/time/timing_wheel.h"
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

// The tick at which a timer fires by go-zero's rule. If the new slot's index is not smaller than the old
// one's, the timer waits for the old slot and then for the difference. If it is smaller, the timer is filed
// anew, unless its new delay is longer than a turn.
uint64_t FiredBySlotIndices(uint64_t start, uint64_t first, uint64_t second) {
  const uint64_t old_slot = (start + first) % kSlots;
  const uint64_t new_slot = (start + second) % kSlots;
  // No delay here is longer than a turn, so the timer is filed anew, in the right slot.
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
