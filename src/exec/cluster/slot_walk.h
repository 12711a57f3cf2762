// A search for the keys of one slot (CLUSTER GETKEYSINSLOT): goes through all keys in slices while the client waits and others
// are served.
//
// A key that comes during the walk may be missing. The reader of names() looks whether each key still exists.
//
// Borrows the server, and the client's session while it lives. Loop thread only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time/clock.h"
#include "server/hubs/accounts.h"
#include "server/server.h"
#include "server/sliced_work.h"
#include "server/waiting/parking.h"

namespace mayfly {

struct Session;

class SlotWalk final : public PendingWork, private SlicedWork::Step {
 public:
  // A request looks at this many keys before its client waits.
  static constexpr size_t kAtOnce = 1024;

  // Looks for at most `most` keys. Throws std::bad_alloc.
  SlotWalk(Server& server, Session& session, uint16_t slot, uint64_t most);
  ~SlotWalk() override;

  // Looks at about `budget` entries. Returns true at the end. Throws std::bad_alloc.
  bool Some(Now now, size_t budget);
  bool done() const noexcept { return left_ == 0; }
  // True if memory has run out in a slice: keys are missing.
  bool failed() const noexcept { return failed_; }
  // Goes on in slices, and wakes the parked client at the end.
  void ContinueInSlices() noexcept { Announce(); }
  // The found keys.
  const std::vector<std::string>& names() const noexcept { return names_; }

 private:
  bool DoSome(Now now, size_t budget) noexcept override;

  Server& server_;
  Session& session_;
  const uint16_t slot_;
  uint64_t left_;  // keys to find; 0: the walk is over
  uint64_t cursor_ = 0;
  bool failed_ = false;
  std::vector<std::string> names_;
  uint64_t bytes_ = 0;  // of the names
  const Accounts::Account account_;
};

}  // namespace mayfly
