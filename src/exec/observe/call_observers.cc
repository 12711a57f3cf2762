#include "exec/observe/call_observers.h"

#include <algorithm>

#include "cache/keyspace/databases.h"

namespace mayfly {

CallObservers::~CallObservers() {
  if (!observers_.empty()) server_.databases.changes().Unlisten(*this);
}

void CallObservers::Add(CallObserver& observer) {
  observers_.reserve(observers_.size() + 1);
  server_.databases.changes().Listen(*this, ~uint32_t{0});
  observers_.push_back(&observer);
  server_.modes |= BitOf(Mode::kObserved);
}

void CallObservers::Remove(CallObserver& observer) noexcept {
  std::erase(observers_, &observer);
  if (!observers_.empty()) return;
  server_.databases.changes().Unlisten(*this);
  server_.modes &= ~BitOf(Mode::kObserved);
}

void CallObservers::Tell(const Call& call, const CallReport& report) noexcept {
  for (size_t i = observers_.size(); i-- > 0;) {  // from the end, since one may remove itself
    try {
      observers_[i]->OnCall(call, report);
    } catch (...) {  // an observer that finds no memory misses this call; the client must not notice
    }
  }
}

// DEL of an absent key is reported, too, but changes nothing.
void CallObservers::OnChange(const Change& change) {
  if (change.reason != ChangeReason::kDeleted || change.entry != nullptr) ++changes_;
}

}  // namespace mayfly
