// Lets a test program replace the cycle counter, ReadCycles (base/time/tsc.h). Empty in a tree without tests. Nothing else
// may stand here: an archive's member is taken as a whole.
#include "base/time/tsc.h"

namespace mayfly {

#if defined(MAYFLY_REPLACEABLE_CYCLES)
uint64_t ReadCycles() noexcept { return ReadProcessorCycles(); }
#endif

}  // namespace mayfly
