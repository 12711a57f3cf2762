// The running request, for the crash report (exec/observe/crash_scene.h). The way of a request keeps no extra state for this
// purpose, so only the thread that runs requests may call InFlight.
#pragma once

#include <span>
#include <string_view>

#include "exec/call/call.h"

namespace mayfly {

// A request that has begun. The client is null if there is none.
struct Begun {
  const Session* session = nullptr;
  const TableRow* row = nullptr;  // null: the command is unknown
  std::span<const std::string_view> arguments = {};
};

class InFlight {
 public:
  virtual ~InFlight() = default;
  // The innermost of the calls made one by one (in transactions, by scripts, of clients with modes). Null: no such
  // call runs.
  virtual const RunningCall* InnermostCall() const noexcept = 0;
  // The last begun request of the current batch; InnermostCall may return the same call.
  virtual Begun LastRequest() const noexcept = 0;
};

}  // namespace mayfly
