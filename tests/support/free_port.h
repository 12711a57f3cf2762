// A port of the loopback for a server that a test starts.
//
// It lies below the range from which Linux gives ports to clients (32768 and above): a port of that range may be a
// client's at any moment, also while a server that had it starts again.
#pragma once

#include <cstdint>

namespace mayfly {

// A port that nobody listens on, and that this process was not given before. Throws std::runtime_error if there is none.
uint16_t FreePort();

}  // namespace mayfly
