// The running request, for the crash report (exec/observe/crash_scene.h). A request leaves no extra state for this purpose:
// only the thread that runs requests may call InFlight.
#pragma once

#include <span>
#include <string_view>

namespace mayfly {

class RunningCall;
struct Session;
struct TableRow;

// A request that has begun. The client may be null.
struct Begun {
  const Session* session = nullptr;
  const TableRow* row = nullptr;  // null: the command is unknown
  std::span<const std::string_view> arguments = {};
};

class InFlight {
 public:
  virtual ~InFlight() = default;
  // The innermost of the calls made one by one (in transactions, by scripts, of clients with modes). Null: none runs.
  virtual const RunningCall* InnermostCall() const noexcept = 0;
  // The last begun request of the current batch, possibly the same call.
  virtual Begun LastRequest() const noexcept = 0;
};

}  // namespace mayfly
