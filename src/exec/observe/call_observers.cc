#include "exec/observe/call_observers.h"

#include <algorithm>

#include "server/clients/session.h"
#include "server/server.h"

namespace mayfly {

void CallObservers::Add(CallObserver& observer) {
  observers_.reserve(observers_.size() + 1);
  observers_.push_back(&observer);
  server_.modes |= BitOf(Mode::kObserved);
}

void CallObservers::Remove(CallObserver& observer) noexcept {
  std::erase(observers_, &observer);
  if (observers_.empty()) server_.modes &= ~BitOf(Mode::kObserved);
}

void CallObservers::Tell(const Call& call) noexcept {
  for (size_t i = observers_.size(); i-- > 0;) {  // from the end: an observer may remove itself
    try {
      observers_[i]->OnCall(call);
    } catch (...) {  // an observer without memory misses this call; the client must not notice
    }
  }
}

}  // namespace mayfly
