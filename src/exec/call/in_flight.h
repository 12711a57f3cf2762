// What runs at this moment, for whoever has to tell of it when the daemon crashes (exec/observe/crash_scene.h). Nothing is kept
// for that on the way of a request, so it can be asked only on the thread that runs requests.
#pragma once

#include <span>
#include <string_view>

#include "exec/call/call.h"

namespace mayfly {

// A request that has begun. Its client is null if there is none.
struct Begun {
  const Session* session = nullptr;
  const TableRow* row = nullptr;  // null: the command is unknown
  std::span<const std::string_view> arguments = {};
};

class InFlight {
 public:
  virtual ~InFlight() = default;
  // Of the calls that are made one by one (in transactions, by scripts, of clients with modes). Null: none runs.
  virtual const RunningCall* InnermostCall() const noexcept = 0;
  // Of the requests that were planned together, the one that has begun last; it may be one of those calls.
  virtual Begun LastRequest() const noexcept = 0;
};

}  // namespace mayfly
