#include "exec/dispatch/context.h"

namespace mayfly {

void Context::Park(const Args& args, uint64_t deadline_mono_ms) {
  if (resumed != nullptr) {
    server.parking.Park(session, args.all(), resumed->deadline_mono_ms, resumed->order);
  } else {
    server.parking.Park(session, args.all(), deadline_mono_ms);
  }
}

bool Context::Delay(const Args& args, uint64_t wait_ms) {
  if (resumed == nullptr) {
    if (wait_ms == 0) return false;
    server.parking.Delay(session, args.all(), now.mono_ms + wait_ms);
    return true;
  }
  if (now.mono_ms >= resumed->deadline_mono_ms) return false;
  server.parking.Delay(session, args.all(), resumed->deadline_mono_ms, resumed->order);
  return true;
}

}  // namespace mayfly
