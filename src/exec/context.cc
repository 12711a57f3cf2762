#include "exec/context.h"

namespace mayfly {

void Context::Park(const Args& args, uint64_t deadline_mono_ms) {
  if (resumed != nullptr) {
    server.parking.Park(session, args.all(), resumed->deadline_mono_ms, resumed->order);
  } else {
    server.parking.Park(session, args.all(), deadline_mono_ms);
  }
}

}  // namespace mayfly
