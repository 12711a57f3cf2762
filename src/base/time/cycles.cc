// Lets a test program replace the cycle counter, ReadCycles (base/time/tsc.h). Empty in a tree without tests. No other code
// may stand here: the linker takes a member of an archive as a whole.
#include "base/time/tsc.h"

namespace mayfly {

#if defined(MAYFLY_REPLACEABLE_CYCLES)
uint64_t ReadCycles() noexcept { return ReadProcessorCycles(); }
#endif

}  // namespace mayfly
