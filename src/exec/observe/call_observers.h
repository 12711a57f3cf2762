// The observers of every call: for MONITOR (exec/observe/monitors.h) or a replica.
//
// While there is an observer, all requests are run one by one and their changes are counted (Mode::kObserved).
// At other times it costs nothing. Borrows observers. Loop thread only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cache/keyspace/change.h"
#include "exec/call/call.h"
#include "server/server.h"

namespace mayfly {

// What happened in a call, filled in while it runs.
struct CallReport {
  uint64_t changes = 0;  // that passed the change point meanwhile, those of evictions and expiries included
  bool waits = false;  // it has not ended: its client waits, and when it is woken, the call is reported again
  // What has the same effect wherever and whenever it runs, if that is not the request itself: the sum in place
  // of a float's increment. Empty: the request itself.
  std::vector<std::string> instead;
};

class CallObserver {
 public:
  virtual ~CallObserver() = default;
  // `call` has run; it was not refused. An outer call comes after its inner ones. Must make no call; may remove
  // this observer, but no other. What it throws is lost.
  virtual void OnCall(const Call& call, const CallReport& report) = 0;
};

class CallObservers final : public ChangeListener {
 public:
  // Borrows `server`.
  explicit CallObservers(Server& server) noexcept : server_(server) {}
  ~CallObservers() override;

  // Throws std::bad_alloc.
  void Add(CallObserver& observer);
  void Remove(CallObserver& observer) noexcept;

  uint64_t changes() const noexcept { return changes_; }
  void Tell(const Call& call, const CallReport& report) noexcept;

  void OnChange(const Change& change) override;

 private:
  Server& server_;
  std::vector<CallObserver*> observers_;
  uint64_t changes_ = 0;
};

}  // namespace mayfly
