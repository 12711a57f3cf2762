// The observers of every call: MONITOR has one (exec/observe/monitors.h).
//
// While there is an observer, all requests run one by one (Mode::kObserved). At other times
// observers cost nothing. Borrows observers. Loop thread only.
#pragma once

#include <vector>

namespace mayfly {

struct Call;
struct Server;

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // `call` has run, or begun to wait; it was not refused. An outer call comes after its inner calls. Must make no call; may
  // remove this observer, but no other. Exceptions are ignored.
  virtual void OnCall(const Call& call) = 0;
};

class CallObservers {
 public:
  // Borrows `server`.
  explicit CallObservers(Server& server) noexcept : server_(server) {}
  CallObservers(const CallObservers&) = delete;
  CallObservers& operator=(const CallObservers&) = delete;

  // Throws std::bad_alloc.
  void Add(CallObserver& observer);
  void Remove(CallObserver& observer) noexcept;

  void Tell(const Call& call) noexcept;

 private:
  Server& server_;
  std::vector<CallObserver*> observers_;
};

}  // namespace mayfly
