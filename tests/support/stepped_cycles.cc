#include "support/stepped_cycles.h"

#include <cassert>

#include "base/time/tsc.h"

namespace mayfly {
namespace {

bool stepped = false;
uint64_t cycles = 0;
uint64_t each_look = 0;

}  // namespace

// Instead of the one in base/time/cycles.cc.
uint64_t ReadCycles() noexcept { return stepped ? cycles += each_look : ReadProcessorCycles(); }

namespace testing {

SteppedCycles::SteppedCycles() {
  assert(!stepped);
  cycles = ReadProcessorCycles();
  stepped = true;
}
SteppedCycles::~SteppedCycles() {
  stepped = false;
  each_look = 0;
}
void SteppedCycles::Advance(uint64_t more) noexcept { cycles += more; }
void SteppedCycles::AdvanceEachLook(uint64_t more) noexcept { each_look = more; }

}  // namespace testing
}  // namespace mayfly
