#include "support/stepped_cycles.h"

#include <cassert>

#include "base/time/tsc.h"

namespace mayfly {
namespace {

bool stepped = false;
uint64_t cycles = 0;

}  // namespace

// Instead of the one in base/time/cycles.cc.
uint64_t ReadCycles() noexcept { return stepped ? cycles : ReadProcessorCycles(); }

namespace testing {

SteppedCycles::SteppedCycles() {
  assert(!stepped);
  cycles = ReadProcessorCycles();
  stepped = true;
}
SteppedCycles::~SteppedCycles() { stepped = false; }
void SteppedCycles::Advance(uint64_t more) noexcept { cycles += more; }

}  // namespace testing
}  // namespace mayfly
